"""Orders of `enterprise` and the facts that follow from them: sales lines, payments, shipments and returns.

In: the dimension rows and the random numbers. Out: an `OrderBook`: the rows of five fact tables, and the data on each
order that later facts need. Amounts are whole quarters of a euro, divided at the end, so nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from experiments.demo_databases.definition import Row
from experiments.demo_databases.enterprise.calendar import (
    DAY_SECONDS,
    END,
    KEY,
    MONTH,
    NOW,
    START,
    YEAR,
    moment_text,
    month_of_year,
    weekday,
)
from experiments.demo_databases.enterprise.dimensions import Customer, Product, Promotion, Store, Tenant, World
from experiments.demo_databases.enterprise.staff import on_duty
from experiments.demo_databases.rng import Loaded, Rng

_YEARS = {2023: 10, 2024: 12, 2025: 14}
_WEEKDAYS = (9, 9, 9, 10, 12, 14, 10)
_LINES = Loaded((40, 31, 17, 8, 4))
_PIECES = Loaded((72, 18, 6, 3, 1))
_REASONS = ("wrong size", "damaged", "not as described", "changed mind", "arrived late", None)
_CARRIERS = ("Bluebird Parcel", "Nordpost", "Hermod Express", "Swift & Sons")


@dataclass(slots=True)
class Order:
    id: int
    tenant: Tenant
    customer: Customer
    store: Store
    moment: int
    channel: str
    products: list[Product]
    """Empty for a cancelled order."""
    promotion: Promotion | None
    """The promotion that one of its lines used."""


@dataclass(slots=True)
class OrderBook:
    orders: list[Order] = field(default_factory=list)
    rows: dict[str, list[Row]] = field(
        default_factory=lambda: {
            name: [] for name in ("fact_orders", "fact_sales", "fact_payments", "fact_shipments", "fact_returns")
        }
    )
    sold: dict[tuple[int, int, int], int] = field(default_factory=dict)
    """Pieces by store, product and month."""


def place_orders(rng: Rng, world: World) -> OrderBook:
    """Three years of orders of all brands, numbered in the order in which they were placed."""
    book = OrderBook()
    joined = {tenant.id: 0 for tenant in world.tenants}
    for moment, number in sorted(_moments(rng, world)):
        tenant = world.tenants[number]
        day = moment // DAY_SECONDS
        customers, eligible = tenant.customers, joined[tenant.id]
        while eligible < len(customers) and customers[eligible].since <= day:
            eligible += 1
        joined[tenant.id] = eligible
        customer = customers[int(rng.random() * eligible)]
        while rng.random() >= customer.appetite:
            customer = customers[int(rng.random() * eligible)]
        _place(rng, book, tenant, customer, moment)
    return book


def _moments(rng: Rng, world: World) -> list[tuple[int, int]]:
    """When the orders are placed, with the index of their tenant; between 08:00 and 22:00."""
    moments: list[tuple[int, int]] = []
    for number, tenant in enumerate(world.tenants):
        days = range(START, END + 1)
        weights = [
            tenant.brand.months[month_of_year(day) - 1]
            * _WEEKDAYS[weekday(day)]
            * _YEARS[YEAR[day]]
            * (17 if day in tenant.promotion_on else 10)
            for day in days
        ]
        calendar = Loaded(weights)
        for _ in range(tenant.brand.orders):
            second = 28_800 + int(rng.random() * 50_400)
            moments.append(((START + calendar.draw(rng)) * DAY_SECONDS + second, number))
    return moments


def _place(rng: Rng, book: OrderBook, tenant: Tenant, customer: Customer, moment: int) -> None:
    day = moment // DAY_SECONDS
    drawn = rng.random()
    channel = "online" if drawn < 0.46 else "in_store" if drawn < 0.92 else "phone"
    store = tenant.stores[0] if channel == "online" else _store(rng, tenant, day)
    number = len(book.orders) + 1
    key = customer.key_on(day)
    placed = KEY[day], moment_text(moment)
    if channel != "in_store" and rng.chance(0.045):
        book.rows["fact_orders"].append((number, tenant.id, key, store.key, *placed, channel, "cancelled", 0, None))
        book.orders.append(Order(number, tenant, customer, store, moment, channel, [], None))
        return
    seller = None if channel == "online" else on_duty(rng, tenant.staff.sellers[store.key], day)
    order = Order(number, tenant, customer, store, moment, channel, [], None)
    pieces, total = _lines(rng, book, order, key, seller)
    first_line = len(book.rows["fact_sales"]) - len(order.products)
    arrived = moment if channel == "in_store" else _ship(rng, book, order)
    status = "completed" if arrived <= NOW else "shipped" if arrived == NOW + 1 else "processing"
    book.rows["fact_orders"].append((number, tenant.id, key, store.key, *placed, channel, status, pieces, total / 4))
    book.orders.append(order)
    _pay(rng, book, order, total)
    if arrived <= NOW:
        _take_back(rng, book, order, first_line, arrived)


def _store(rng: Rng, tenant: Tenant, day: int) -> Store:
    while True:
        store = tenant.stores[1 + int(rng.random() * (len(tenant.stores) - 1))]
        if store.opened <= day <= store.last and rng.random() * 22 < store.weight:
            return store


def _lines(rng: Rng, book: OrderBook, order: Order, customer_key: int, seller: int | None) -> tuple[int, int]:
    """Write the order's sales lines; returns pieces and total in quarters."""
    day = order.moment // DAY_SECONDS
    month, year, tenant = MONTH[day], YEAR[day], order.tenant
    there, weights = tenant.on_sale[month]
    promotion = tenant.promotion_on.get(day)
    sales, pieces, total = book.rows["fact_sales"], 0, 0
    for _ in range(_LINES.draw(rng) + 1):
        product = there[weights.draw(rng)]
        if product in order.products:
            continue
        quantity = _PIECES.draw(rng) + 1
        if order.customer.corporate:
            quantity *= 3
        gross, discount, used = quantity * product.prices[year], 0, None
        if promotion and promotion.category in (None, product.category) and rng.random() < 0.75:
            discount, used = gross * promotion.percent // 100, promotion.key
            order.promotion = promotion
        sales.append(
            (
                len(sales) + 1,
                tenant.id,
                order.id,
                KEY[day],
                product.key,
                customer_key,
                order.store.key,
                seller,
                used,
                quantity,
                product.prices[year] / 4,
                discount / 4,
                (gross - discount) / 4,
                quantity * product.cost / 4,
            )
        )
        order.products.append(product)
        pieces += quantity
        total += gross - discount
        place = (order.store.key, product.key, month)
        book.sold[place] = book.sold.get(place, 0) + quantity
    return pieces, total


def _ship(rng: Rng, book: OrderBook, order: Order) -> int:
    """Ship the order. Returns the moment of arrival; NOW + 1 while it is on its way, NOW + 2 before it leaves."""
    shipped = order.moment + rng.between(4 * 3600, 60 * 3600)
    delivered = shipped + rng.between(18 * 3600, 170 * 3600)
    lost = rng.chance(0.006)
    if shipped > NOW:
        return NOW + 2
    there = delivered <= NOW and not lost
    rows = book.rows["fact_shipments"]
    rows.append(
        (
            len(rows) + 1,
            order.tenant.id,
            order.id,
            KEY[shipped // DAY_SECONDS],
            KEY[delivered // DAY_SECONDS] if there else None,
            moment_text(shipped),
            moment_text(delivered) if there else None,
            rng.pick(_CARRIERS),
            "delivered" if there else "lost" if lost else "in_transit",
            rng.between(14, 50) / 4,
        )
    )
    return delivered if there else NOW + 1


def _pay(rng: Rng, book: OrderBook, order: Order, total: int) -> None:
    if order.customer.corporate:
        method, paid = "invoice", order.moment + rng.between(5, 45) * DAY_SECONDS
    elif order.channel == "in_store":
        method, paid = ("cash" if rng.chance(0.3) else "card"), order.moment
    else:
        method, paid = ("wallet" if rng.chance(0.35) else "card"), order.moment
    parts = [total]
    if total > 800 and order.channel != "in_store" and rng.chance(0.08):
        parts = [total // 3, total // 3, total - 2 * (total // 3)]
    rows = book.rows["fact_payments"]
    for part in parts:
        if paid <= NOW:
            day = KEY[paid // DAY_SECONDS]
            rows.append((len(rows) + 1, order.tenant.id, order.id, day, moment_text(paid), method, part / 4))
        paid += 30 * DAY_SECONDS


def _take_back(rng: Rng, book: OrderBook, order: Order, first_line: int, arrived: int) -> None:
    likely = 0.035 if order.channel == "in_store" else 0.085
    rows = book.rows["fact_returns"]
    for line in book.rows["fact_sales"][first_line:]:
        if rng.random() >= likely:
            continue
        back = arrived // DAY_SECONDS + rng.between(1, 28)
        bought, paid = int(line[9] or 0), int(float(line[12] or 0) * 4)
        quantity = rng.between(1, bought)
        refund = paid * quantity // bought
        if back <= END:
            reason = rng.pick(_REASONS)
            rows.append((len(rows) + 1, order.tenant.id, line[0], KEY[back], quantity, refund / 4, reason))
