"""The rows of `shop`, drawn from a fixed seed: three years of orders, with seasons, growth and some deliberate
irregularities.

Included on purpose: customers who never order, two products never sold, an empty category, a supplier whose address is
unknown, missing phones and birth dates, cancelled and returned orders, orders not yet fully paid, people with the same
name, and pairs of products with the same price.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from experiments.demo_databases.definition import Cell, Row, TableDef
from experiments.demo_databases.people import email_address, somebody
from experiments.demo_databases.rng import Loaded, Rng
from experiments.demo_databases.shop.goods import ADDED_LATER, CATEGORIES, COMMENTS, DISCONTINUED, PRODUCTS, SUPPLIERS
from experiments.demo_databases.shop.tables import TABLES

_SEED = 20230101
_OPENED, _TODAY = date(2023, 1, 1), date(2025, 12, 31)
_CUSTOMERS, _ORDERS = 480, 3600
_MONTHS = (80, 78, 88, 86, 90, 84, 72, 70, 92, 104, 150, 190)
"""Weight of each month; the year's peak is Christmas."""
_WEEKDAYS = (11, 10, 10, 10, 9, 7, 9)
_YEARS = {2023: 10, 2024: 13, 2025: 16}
_RATINGS = Loaded((4, 6, 13, 32, 45))
_LINES = Loaded((34, 30, 20, 11, 5))
_PIECES = Loaded((66, 22, 8, 4))
_METHODS = ("card", "paypal", "bank_transfer", "gift_card")
_METHOD_WEIGHTS = Loaded((52, 29, 15, 4))


def rows() -> Iterator[tuple[TableDef, list[Row]]]:
    """Each table with its rows, ordered so that the target of every foreign key comes first."""
    rng = Rng(_SEED)
    products = _products(rng)
    customers = _customers(rng)
    orders, items = _orders(rng, customers, products)
    filled: dict[str, list[Row]] = {
        "categories": [(number, *category) for number, category in enumerate(CATEGORIES, 1)],
        "suppliers": [(number, *supplier) for number, supplier in enumerate(SUPPLIERS, 1)],
        "products": products,
        "customers": customers,
        "orders": orders,
        "order_items": items,
        "payments": _payments(rng, orders),
        "reviews": _reviews(rng, orders, items),
    }
    for table in TABLES:
        yield table, filled[table.name]


def _products(rng: Rng) -> list[Row]:
    made: list[Row] = []
    for number, (name, category, supplier, quarters, grams, _, _) in enumerate(PRODUCTS, 1):
        cost = max(quarters * rng.between(45, 68) // 100, 1)
        discontinued = name in DISCONTINUED
        stock = 0 if discontinued or rng.chance(0.05) else rng.between(4, 160)
        added = ADDED_LATER.get(name, _OPENED.isoformat())
        made.append((number, name, category, supplier, quarters / 4, cost / 4, stock, grams, added, int(discontinued)))
    return made


def _customers(rng: Rng) -> list[Row]:
    first_day, span = date(2022, 9, 1), (date(2025, 12, 20) - date(2022, 9, 1)).days
    # squared draws: more accounts in the first year, when the shop was new
    days = sorted(int(rng.random() * rng.random() * span) for _ in range(_CUSTOMERS))
    made: list[Row] = []
    for number, offset in enumerate(days, 1):
        person = somebody(rng)
        domain = rng.pick(("example.com", "example.net", "example.org"))
        born = (date(1948, 1, 1) + timedelta(days=rng.between(0, 21500))).isoformat()
        made.append(
            (
                number,
                person.first_name,
                person.last_name,
                email_address(person.first_name, person.last_name, number, domain),
                person.phone if rng.chance(0.8) else None,
                person.city,
                person.country,
                born if rng.chance(0.85) else None,
                (first_day + timedelta(days=offset)).isoformat(),
                int(rng.chance(0.42)),
            )
        )
    return made


def _days(rng: Rng) -> list[date]:
    calendar = [_OPENED + timedelta(days=n) for n in range((_TODAY - _OPENED).days + 1)]
    weights = Loaded([_MONTHS[d.month - 1] * _WEEKDAYS[d.weekday()] * _YEARS[d.year] for d in calendar])
    return sorted(calendar[weights.draw(rng)] for _ in range(_ORDERS))


def _orders(rng: Rng, customers: list[Row], products: list[Row]) -> tuple[list[Row], list[Row]]:
    registered = [str(customer[8]) for customer in customers]
    # how readily a customer orders, in percent; 0 means never
    appetite = [0 if rng.chance(0.09) else rng.pick((8, 12, 20, 30, 45, 100)) for _ in customers]
    summer = Loaded([goods[5] for goods in PRODUCTS])
    winter = Loaded([goods[5] * (3 if goods[6] else 1) for goods in PRODUCTS])
    orders: list[Row] = []
    items: list[Row] = []
    eligible = 0
    for number, ordered in enumerate(_days(rng), 1):
        today = ordered.isoformat()
        while eligible < len(customers) and registered[eligible] <= today:
            eligible += 1
        buyer = rng.between(0, eligible - 1)
        while not rng.chance(appetite[buyer] / 100):
            buyer = rng.between(0, eligible - 1)
        lines: dict[int, int] = {}
        popularity = winter if ordered.month in (1, 10, 11, 12) else summer
        for _ in range(_LINES.draw(rng) + 1):
            product = popularity.draw(rng)
            if _on_sale(products[product], today):
                lines[product] = _PIECES.draw(rng) + 1
        if not lines:
            lines[rng.between(0, 2)] = 1
        total = 0.0
        for product, pieces in lines.items():
            price = _price_on(PRODUCTS[product][3], ordered, product)
            total += pieces * price
            items.append((len(items) + 1, number, product + 1, pieces, price, pieces * price))
        status, shipped, delivered = _fate(rng, ordered, str(customers[buyer][6]))
        orders.append((number, buyer + 1, today, status, shipped, delivered, total))
    return orders, items


def _on_sale(product: Row, today: str) -> bool:
    return str(product[8]) <= today and not (product[9] and today > "2024-12-31")


def _price_on(quarters: int, ordered: date, product: int) -> float:
    """Every third product became dearer in 2025, by about a twelfth."""
    if ordered.year < 2025 and product % 3 == 0:
        quarters -= quarters // 12
    return quarters / 4


def _fate(rng: Rng, ordered: date, country: str) -> tuple[str, str | None, str | None]:
    """Status, day shipped and day delivered, as known at the end of 2025."""
    wait, distance, fate = rng.between(0, 3), 2 if country == "Germany" else 5, rng.random()
    if fate < 0.035:
        return "cancelled", None, None
    shipped = ordered + timedelta(days=wait)
    delivered = shipped + timedelta(days=rng.between(1, distance + 2))
    if shipped > _TODAY:
        return "processing", None, None
    if delivered > _TODAY:
        return "shipped", shipped.isoformat(), None
    return ("returned" if fate > 0.98 else "delivered"), shipped.isoformat(), delivered.isoformat()


def _payments(rng: Rng, orders: list[Row]) -> list[Row]:
    made: list[Row] = []
    for order in orders:
        number, status, total = order[0], order[3], float(order[6] or 0)
        if status == "cancelled" or (status == "processing" and rng.chance(0.5)):
            continue
        method = _METHODS[_METHOD_WEIGHTS.draw(rng)]
        paid = date.fromisoformat(str(order[2])) + timedelta(days=rng.between(1, 4) if method == "bank_transfer" else 0)
        parts = [total]
        if total >= 40 and rng.chance(0.06):
            first = int(total) // 2
            parts = [float(first), total - first] if rng.chance(0.9) else [float(first)]
        for part in parts:
            if paid <= _TODAY:
                made.append((len(made) + 1, number, paid.isoformat(), method, part))
            paid += timedelta(days=rng.between(7, 21))
    return made


def _reviews(rng: Rng, orders: list[Row], items: list[Row]) -> list[Row]:
    reviews: list[tuple[str, Cell, Cell, int, str | None]] = []
    seen: set[tuple[Cell, Cell]] = set()
    by_number = {order[0]: order for order in orders}
    for item in items:
        order = by_number[item[1]]
        pair = (item[2], order[1])
        if order[5] is None or pair in seen or not rng.chance(0.17):
            continue
        rating = _RATINGS.draw(rng) + 1
        if order[3] == "returned":
            rating = min(rating, 2)
        comment = rng.pick(COMMENTS[rating]) if rng.chance(0.6) else None
        written = date.fromisoformat(str(order[5])) + timedelta(days=rng.between(1, 40))
        if written <= _TODAY:
            seen.add(pair)
            reviews.append((written.isoformat(), *pair, rating, comment))
    reviews.sort(key=lambda review: review[0])
    return [
        (number, product, customer, written, rating, comment)
        for number, (written, product, customer, rating, comment) in enumerate(reviews, 1)
    ]
