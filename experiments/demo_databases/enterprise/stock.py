"""Month-end stock of `enterprise` (what each store had, received and sold), and the raw order feed."""

from __future__ import annotations

from experiments.demo_databases.definition import Cell, Row
from experiments.demo_databases.enterprise.calendar import (
    DAY_SECONDS,
    END,
    ISO,
    KEY,
    MONTH,
    NOW,
    START,
    first_of_month,
    moment_text,
)
from experiments.demo_databases.enterprise.dimensions import World
from experiments.demo_databases.enterprise.orders import OrderBook
from experiments.demo_databases.rng import Rng

_FEED_ORDERS = 900


def inventory(rng: Rng, world: World, trade: OrderBook) -> list[Row]:
    """One row per store, product and month in which both exist; stock is topped up before it would run out."""
    rows: list[Row] = []
    months = range(MONTH[START], MONTH[END] + 1)
    month_ends = [first_of_month(month + 1) - 1 for month in months]
    for tenant in world.tenants:
        for store in tenant.stores:
            for product in tenant.products:
                closing = 0
                for month, end in zip(months, month_ends, strict=True):
                    begin = first_of_month(month)
                    if product.launched > begin or product.last < begin or store.opened > end or store.last < begin:
                        continue
                    opening, sold = closing, trade.sold.get((store.key, product.key, month), 0)
                    received = 0
                    if opening - sold < 3 and rng.random() < 0.93:
                        received = max(sold - opening, 0) + rng.between(4, 16)
                    received = max(received, sold - opening)
                    closing = opening + received - sold
                    place = (len(rows) + 1, tenant.id, store.key, product.key, KEY[end])
                    rows.append((*place, opening, received, sold, closing))
    return rows


def order_feed(rng: Rng, world: World, trade: OrderBook) -> list[Row]:
    """The feed of the last weeks, with typical feed defects; docs/demo-databases.md lists them."""
    feed: list[tuple[int, list[Cell]]] = []
    totals = {row[0]: row[9] for row in trade.rows["fact_orders"]}
    for order in trade.orders[-_FEED_ORDERS:]:
        tenant, day = order.tenant, order.moment // DAY_SECONDS
        late = rng.chance(0.06)
        loaded = order.moment + (rng.between(4, 16) * DAY_SECONDS if late else rng.between(300, 40_000))
        customer = next(number for number, one in enumerate(tenant.customers, 1) if one is order.customer)
        total = totals[order.id]
        status = "cancelled" if total is None else "ok"
        raw: list[Cell] = [
            tenant.brand.code,
            str(order.id),
            f"{tenant.brand.code}-{customer:05d}",
            ISO[day],
            f"{total:.2f}" if isinstance(total, float) else None,
            status,
        ]
        _spoil(rng, raw, day)
        if loaded <= NOW:
            feed.append((loaded, raw))
            if rng.chance(0.03):
                feed.append((min(loaded + rng.between(60, 7200), NOW), list(raw)))  # sent twice
    feed.sort(key=lambda one: (one[0], str(one[1][1])))
    rows: list[Row] = []
    seen: set[Cell] = set()
    for number, (loaded, raw) in enumerate(feed, 1):
        accepted = raw[1] is not None and raw[1] not in seen and loaded + DAY_SECONDS <= NOW
        seen.add(raw[1])
        processed = ISO[loaded // DAY_SECONDS + 1] if accepted else None
        file = f"orders_{KEY[loaded // DAY_SECONDS]}.csv"
        rows.append((number, file, moment_text(loaded), *raw, processed))
    return rows


def _spoil(rng: Rng, raw: list[Cell], day: int) -> None:
    """Give the row one defect, or none."""
    year, month, date = ISO[day].split("-")
    amount = str(raw[4] or "")
    drawn = rng.random()
    if drawn < 0.06:
        raw[3] = f"{date}/{month}/{year}"
    elif drawn < 0.09:
        raw[3] = f"{month}-{date}-{year[2:]}"
    elif drawn < 0.12:
        raw[4] = amount.replace(".", ",") or None
    elif drawn < 0.14:
        raw[4] = f"EUR {amount}" if amount else "n/a"
    elif drawn < 0.155:
        raw[4] = f"-{amount}" if amount else ""
    elif drawn < 0.18:
        raw[2] = f"{raw[0]}-9{rng.between(0, 9999):04d}"  # an unknown customer
    elif drawn < 0.20:
        raw[2] = None
    elif drawn < 0.215:
        raw[1] = None
    elif drawn < 0.25:
        raw[0] = f" {str(raw[0]).lower()} "
    elif drawn < 0.28:
        raw[5] = f"{str(raw[5]).upper()} "
