"""Customer activity around the orders of `enterprise`: web visits, marketing touches, support tickets, engagement.

In: the world, its trade and the rng. Out: the rows of four fact tables. Each purchase on the web is one online order.
Each visit follows the sequence view, cart, checkout, purchase, and may end at any step.
"""

from __future__ import annotations

from experiments.demo_databases.definition import Row
from experiments.demo_databases.enterprise.calendar import (
    DAY_SECONDS,
    END,
    KEY,
    MONTH,
    NOW,
    START,
    first_of_month,
    moment_text,
)
from experiments.demo_databases.enterprise.dimensions import Customer, Tenant, World
from experiments.demo_databases.enterprise.orders import Order, OrderBook
from experiments.demo_databases.enterprise.staff import on_duty
from experiments.demo_databases.rng import Loaded, Rng

_DEVICES = ("mobile", "mobile", "mobile", "desktop", "desktop", "tablet")
_BROWSING_VISITS = 12_000
_NEWSLETTERS = 6_000
_TICKETS = 3_600
_COSTS = {"email": 1, "sms": 1, "social_ad": 3, "search_ad": 5, "direct_mail": 6}
"""Cost of a touch by channel, in quarters of a euro."""
_CHANNELS = ("email", "email", "email", "sms", "search_ad", "social_ad", "social_ad", "direct_mail")
_TOPICS, _TOPIC_WEIGHTS = ("delivery", "product", "payment", "return", "account"), Loaded((34, 26, 12, 18, 10))
_PRIORITIES, _PRIORITY_WEIGHTS = ("low", "normal", "high", "urgent"), Loaded((22, 52, 20, 6))
_SCORES = Loaded((7, 9, 18, 34, 32))

_COUNTERS = 6
_VISITS, _VIEWS, _PURCHASES, _TOUCHES, _CLICKS, _TICKETS_OPENED = range(_COUNTERS)


class Engagement:
    """Counts by customer version and month; web visits, touches and tickets add to it as they are made."""

    def __init__(self) -> None:
        self._counts: dict[tuple[int, int, int], list[int]] = {}

    def add(self, tenant: Tenant, customer_key: int, moment: int, counter: int) -> None:
        place = (MONTH[moment // DAY_SECONDS], tenant.id, customer_key)
        counts = self._counts.get(place)
        if counts is None:
            counts = self._counts[place] = [0] * _COUNTERS
        counts[counter] += 1

    def rows(self) -> list[Row]:
        return [
            (
                number,
                tenant,
                customer,
                KEY[first_of_month(month)],
                *counts,
                counts[_VISITS] + 2 * counts[_CLICKS] + 5 * counts[_PURCHASES],
            )
            for number, ((month, tenant, customer), counts) in enumerate(sorted(self._counts.items()), 1)
        ]


def customer_engagement(rng: Rng, world: World, trade: OrderBook) -> dict[str, list[Row]]:
    """Rows by table."""
    engagement = Engagement()
    return {
        "fact_support_tickets": _tickets(rng, world, trade, engagement),
        "fact_marketing_touches": _touches(rng, world, trade, engagement),
        "fact_web_events": _web_events(rng, world, trade, engagement),
        "fact_customer_engagement": engagement.rows(),
    }


def _someone(rng: Rng, tenant: Tenant, day: int) -> Customer | None:
    """A customer who has joined by that day; None when the draw falls on one who has not."""
    customer = rng.pick(tenant.customers)
    return customer if customer.since <= day else None


def _web_events(rng: Rng, world: World, trade: OrderBook, engagement: Engagement) -> list[Row]:
    # a visit: its end, tenant, customer version, order, products looked at, how many go into the cart, checkout
    visits: list[tuple[int, Tenant, int | None, Order | None, list[int], int, bool]] = []
    for order in trade.orders:
        if order.channel != "online":
            continue
        there, weights = order.tenant.on_sale[MONTH[order.moment // DAY_SECONDS]]
        bought = [product.key for product in order.products] or [there[weights.draw(rng)].key]
        looked = [there[weights.draw(rng)].key for _ in range(rng.between(0, 2))]
        customer = order.customer.key_on(order.moment // DAY_SECONDS)
        visits.append((order.moment, order.tenant, customer, order, looked + bought, len(bought), True))
    for _ in range(_BROWSING_VISITS):
        tenant = rng.pick(world.tenants)
        day = rng.between(START, END)
        visitor = _someone(rng, tenant, day) if rng.chance(0.7) else None
        there, weights = tenant.on_sale[MONTH[day]]
        looked = [there[weights.draw(rng)].key for _ in range(rng.between(1, 4))]
        carted = rng.between(1, len(looked)) if rng.chance(0.45) else 0
        moment = day * DAY_SECONDS + rng.between(8 * 3600, 23 * 3600)
        key = visitor.key_on(day) if visitor else None
        visits.append((moment, tenant, key, None, looked, carted, carted > 0 and rng.chance(0.35)))
    events: list[tuple[int, int, tuple[int, int | None, int | None, int | None, str, str]]] = []
    for session, (end, tenant, customer_key, order_, looked, carted, checkout) in enumerate(visits, 1):
        device = rng.pick(_DEVICES)
        steps: list[tuple[str, int | None, int | None]] = [("view", product, None) for product in looked]
        steps += [("cart", product, None) for product in looked[len(looked) - carted :]] if carted else []
        if checkout:
            steps.append(("checkout", None, None))
        if order_:
            steps.append(("purchase", None, order_.id))
        moment = end
        for kind, product_key, order_id in reversed(steps):
            events.append((moment, session, (tenant.id, customer_key, product_key, order_id, kind, device)))
            moment -= 8 + int(rng.random() * 150)
        if customer_key is not None:
            engagement.add(tenant, customer_key, end, _VISITS)
            for _ in looked:
                engagement.add(tenant, customer_key, end, _VIEWS)
            if order_:
                engagement.add(tenant, customer_key, end, _PURCHASES)
    events.sort(key=lambda event: (event[0], event[1]))
    return [
        (
            number,
            tenant_id,
            session,
            customer_key,
            product_key,
            order_id,
            KEY[moment // DAY_SECONDS],
            moment_text(moment),
            kind,
            device,
        )
        for number, (moment, session, (tenant_id, customer_key, product_key, order_id, kind, device)) in enumerate(
            events, 1
        )
    ]


def _touches(rng: Rng, world: World, trade: OrderBook, engagement: Engagement) -> list[Row]:
    touches: list[tuple[int, Tenant, int, int | None, int | None, str, int]] = []

    def touch(
        moment: int, tenant: Tenant, customer: Customer, promotion: int | None, order: int | None, clicked: bool
    ) -> None:
        key = customer.key_on(moment // DAY_SECONDS)
        touches.append((moment, tenant, key, promotion, order, rng.pick(_CHANNELS), int(clicked)))
        engagement.add(tenant, key, moment, _TOUCHES)
        if clicked:
            engagement.add(tenant, key, moment, _CLICKS)

    for order in trade.orders:  # those that led to an order
        moment = order.moment - rng.between(600, 6 * DAY_SECONDS)
        if rng.chance(0.16) and moment // DAY_SECONDS >= max(order.customer.since, START):
            promotion = order.promotion.key if order.promotion else None
            touch(moment, order.tenant, order.customer, promotion, order.id, True)
    for tenant in world.tenants:  # those that announced a promotion, from a week before it
        for announced in tenant.promotions:
            for _ in range(rng.between(90, 170)):
                day = max(rng.between(announced.start - 7, announced.end), START)
                customer = _someone(rng, tenant, day)
                if customer:
                    moment = day * DAY_SECONDS + rng.between(7 * 3600, 20 * 3600)
                    touch(moment, tenant, customer, announced.key, None, rng.chance(0.11))
    for _ in range(_NEWSLETTERS):
        tenant, day = rng.pick(world.tenants), rng.between(START, END)
        customer = _someone(rng, tenant, day)
        if customer:
            touch(day * DAY_SECONDS + rng.between(25_200, 75_000), tenant, customer, None, None, rng.chance(0.06))
    touches.sort(key=lambda one: (one[0], one[2]))
    return [
        (
            number,
            tenant.id,
            customer_key,
            promotion,
            order_id,
            KEY[moment // DAY_SECONDS],
            moment_text(moment),
            channel,
            clicked,
            _COSTS[channel] / 4,
        )
        for number, (moment, tenant, customer_key, promotion, order_id, channel, clicked) in enumerate(touches, 1)
    ]


def _tickets(rng: Rng, world: World, trade: OrderBook, engagement: Engagement) -> list[Row]:
    opened: list[tuple[int, Tenant, int, int | None]] = []
    for _ in range(_TICKETS):
        if rng.chance(0.68):
            order = rng.pick(trade.orders)
            moment = order.moment + rng.between(1800, 18 * DAY_SECONDS)
            if moment <= NOW:
                opened.append((moment, order.tenant, order.customer.key_on(moment // DAY_SECONDS), order.id))
            continue
        tenant, day = rng.pick(world.tenants), rng.between(START, END)
        customer = _someone(rng, tenant, day)
        if customer:
            moment = day * DAY_SECONDS + rng.between(6 * 3600, 22 * 3600)
            opened.append((moment, tenant, customer.key_on(day), None))
    opened.sort(key=lambda one: (one[0], one[2]))
    rows: list[Row] = []
    for number, (moment, tenant, customer_key, order_id) in enumerate(opened, 1):
        engagement.add(tenant, customer_key, moment, _TICKETS_OPENED)
        priority = _PRIORITY_WEIGHTS.draw(rng)
        answered = moment + rng.between(600, (40 - 12 * priority) * 3600)
        resolved = answered + rng.between(900, 6 * DAY_SECONDS)
        agent = on_duty(rng, tenant.staff.agents, moment // DAY_SECONDS) if answered <= NOW else None
        stuck = rng.chance(0.012)  # answered, never resolved
        status = "open" if answered > NOW else "pending" if resolved > NOW or stuck else "resolved"
        scored = status == "resolved" and rng.chance(0.55)
        rows.append(
            (
                number,
                tenant.id,
                customer_key,
                order_id,
                agent,
                KEY[moment // DAY_SECONDS],
                moment_text(moment),
                moment_text(answered) if answered <= NOW else None,
                moment_text(resolved) if status == "resolved" else None,
                _TOPICS[_TOPIC_WEIGHTS.draw(rng)],
                _PRIORITIES[priority],
                status,
                _SCORES.draw(rng) + 1 if scored else None,
            )
        )
    return rows
