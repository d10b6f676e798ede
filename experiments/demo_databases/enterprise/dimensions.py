"""The dimension rows of `enterprise`, and the look-ups by which facts find the right version of everything.

In: the seed's rng. Out: `World`: for each brand its customers with their versions by day, its stores with their staff,
the products on sale in each month, the promotion of each day; and the rows of every dimension table.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from experiments.demo_databases.definition import Row
from experiments.demo_databases.enterprise.calendar import END, MONTH, START, date_rows, day_number, iso_day
from experiments.demo_databases.enterprise.seed_data import BRANDS, DISCONTINUED, LAUNCHED, UNSOLD, Brand
from experiments.demo_databases.enterprise.staff import Staff, hire
from experiments.demo_databases.people import email_address, somebody
from experiments.demo_databases.rng import Loaded, Rng

_SEGMENTS, _SEGMENT_WEIGHTS = ("consumer", "small business", "corporate"), Loaded((84, 11, 5))
_TIERS = ("bronze", "silver", "gold", "platinum")
_FOREVER = 100_000
"""A day after all days."""


@dataclass(slots=True)
class Product:
    key: int
    category: str
    prices: dict[int, int]
    """Price by year, in quarters of a euro."""
    cost: int
    """In quarters of a euro."""
    launched: int
    last: int


@dataclass(slots=True)
class Store:
    key: int
    country: str | None
    opened: int
    last: int
    weight: int


@dataclass(slots=True)
class Promotion:
    key: int
    category: str | None
    percent: int
    start: int
    end: int


@dataclass(slots=True)
class Customer:
    since: int
    versions: list[tuple[int, int]]
    """Last day and key of each version, oldest first."""
    corporate: bool
    appetite: float
    """The customer's readiness to order, 0..1."""

    def key_on(self, day: int) -> int:
        for last, key in self.versions:
            if day <= last:
                return key
        raise ValueError("the last version has no end")


@dataclass(slots=True)
class Tenant:
    """One brand with everything that its facts use."""

    id: int
    brand: Brand
    products: list[Product] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    """The online store comes first."""
    staff: Staff = field(default_factory=Staff)
    promotions: list[Promotion] = field(default_factory=list)
    promotion_on: dict[int, Promotion] = field(default_factory=dict)
    customers: list[Customer] = field(default_factory=list)
    """By the day on which they joined."""
    on_sale: dict[int, tuple[list[Product], Loaded]] = field(default_factory=dict)
    """By month: what is sold, and how well."""


@dataclass(slots=True)
class World:
    tenants: list[Tenant]
    rows: dict[str, list[Row]]


def build_world(rng: Rng) -> World:
    """All dimensions."""
    names = ("dim_product", "bill_of_materials", "dim_store", "dim_employee", "dim_promotion", "dim_customer")
    rows: dict[str, list[Row]] = {name: [] for name in names}
    rows["dim_date"] = date_rows()
    rows["dim_tenant"] = [
        (n, b.code, b.name, b.industry, b.city, b.country, b.plan, b.onboarded) for n, b in enumerate(BRANDS, 1)
    ]
    tenants = [Tenant(number, brand) for number, brand in enumerate(BRANDS, 1)]
    for tenant in tenants:
        _products(rng, tenant, rows["dim_product"], rows["bill_of_materials"])
        _stores(tenant, rows["dim_store"])
        hire(rng, tenant.staff, tenant.id, tenant.brand, [s.key for s in tenant.stores], rows["dim_employee"])
        _promotions(tenant, rows["dim_promotion"])
        _customers(rng, tenant, rows["dim_customer"])
    return World(tenants, rows)


def _products(rng: Rng, tenant: Tenant, rows: list[Row], materials: list[Row]) -> None:
    brand = tenant.brand
    keys: dict[str, int] = {}
    costs = dict(brand.parts)
    for name, parts in brand.materials:
        costs[name] = sum(costs[part] * quantity for part, quantity in parts)
    popularity: list[int] = []
    sold = {product: (category, price * 4) for category, goods in brand.goods for product, price in goods}
    made = [name for name, _ in brand.materials if name not in sold]
    for name in (*sold, *made, *(part for part, _ in brand.parts)):
        key = keys[name] = len(rows) + 1
        kind = "finished" if name in sold else "assembly" if name in made else "component"
        category, price = sold.get(name, ("Parts", 0))
        cost = costs.get(name) or price * rng.between(38, 56) // 100
        launched = LAUNCHED.get(name, brand.onboarded)
        last = DISCONTINUED.get(name)
        sku = f"{brand.code}-{key:04d}"
        rows.append((key, tenant.id, sku, name, category, kind, price / 4 if price else None, cost / 4, launched, last))
        if price:
            prices = {2023: price - price * 8 // 100, 2024: price - price * 4 // 100, 2025: price}
            final = day_number(last) if last else _FOREVER
            tenant.products.append(Product(key, category, prices, cost, day_number(launched), final))
            # cheap products sell more often
            popularity.append(0 if name in UNSOLD else rng.between(3, 12) * (3 if price < 240 else 1))
    for name, parts in brand.materials:
        materials += [(keys[name], keys[part], tenant.id, quantity) for part, quantity in parts]
    for month in range(MONTH[START], MONTH[END] + 1):
        first = START + next(n for n, m in enumerate(MONTH[START:]) if m == month)
        there = [n for n, p in enumerate(tenant.products) if p.launched <= first <= p.last]
        weights = Loaded([popularity[n] for n in there])
        tenant.on_sale[month] = ([tenant.products[n] for n in there], weights)


def _stores(tenant: Tenant, rows: list[Row]) -> None:
    for shop in tenant.brand.shops:
        key = len(rows) + 1
        rows.append(
            (
                key,
                tenant.id,
                shop.name,
                shop.kind,
                shop.city,
                shop.country,
                shop.region,
                shop.area,
                shop.opened,
                shop.closed,
            )
        )
        last = day_number(shop.closed) if shop.closed else _FOREVER
        tenant.stores.append(Store(key, shop.country, day_number(shop.opened), last, shop.weight))


def _promotions(tenant: Tenant, rows: list[Row]) -> None:
    for year in (2023, 2024, 2025):
        for name, category, percent, month, day, days in tenant.brand.promotions:
            # a few days later every year, so that dates have to be looked up
            start = day_number(f"{year}-{month:02d}-{day:02d}") + year - 2023
            promotion = Promotion(len(rows) + 1, category, percent, start, min(start + days - 1, END))
            _announce(tenant, f"{name} {year}", promotion, rows)
            for number in range(promotion.start, promotion.end + 1):
                tenant.promotion_on[number] = promotion
            tenant.promotions.append(promotion)
    name, category, percent, month, day, days = tenant.brand.promotions[0]
    start = day_number(f"2026-{month:02d}-{day:02d}")  # planned, not yet used
    planned = Promotion(len(rows) + 1, category, percent, start, start + days - 1)
    _announce(tenant, f"{name} 2026", planned, rows)


def _announce(tenant: Tenant, name: str, promotion: Promotion, rows: list[Row]) -> None:
    dates = iso_day(promotion.start), iso_day(promotion.end)
    rows.append((promotion.key, tenant.id, name, promotion.category, promotion.percent, *dates))


def _customers(rng: Rng, tenant: Tenant, rows: list[Row]) -> None:
    first = day_number(tenant.brand.onboarded)
    homes = [shop.country for shop in tenant.brand.shops if shop.country]
    joined = sorted(first + int(rng.random() * rng.random() * (END - 5 - first)) for _ in range(tenant.brand.customers))
    for number, since in enumerate(joined, 1):
        country = rng.pick(homes) if rng.chance(0.6) else None
        person = somebody(rng, country)
        segment = _SEGMENTS[_SEGMENT_WEIGHTS.draw(rng)]
        tier = 0 if rng.chance(0.8) else 1
        city, code = person.city, f"{tenant.brand.code}-{number:05d}"
        email = email_address(person.first_name, person.last_name, number, "example.com") if rng.chance(0.94) else None
        changes = sorted({rng.between(since + 20, END) for _ in range(_changes(rng))}) if since + 60 < END else []
        customer = Customer(since, [], segment == "corporate", 0.0 if rng.chance(0.12) else _appetite(rng))
        for start, end in zip([since, *changes], [*(c - 1 for c in changes), _FOREVER], strict=True):
            key = len(rows) + 1
            customer.versions.append((end, key))
            current = end == _FOREVER
            rows.append(
                (
                    key,
                    code,
                    tenant.id,
                    person.first_name,
                    person.last_name,
                    email,
                    segment,
                    _TIERS[tier],
                    city,
                    person.country,
                    iso_day(start),
                    None if current else iso_day(end),
                    int(current),
                )
            )
            moved = somebody(rng, person.country).city
            if moved != city and rng.chance(0.4):
                city = moved
            elif tier < 3:
                tier += 1
            else:
                tier -= 1
        tenant.customers.append(customer)


def _changes(rng: Rng) -> int:
    """How often a customer's details change."""
    drawn = rng.random()
    return 0 if drawn < 0.72 else 1 if drawn < 0.93 else 2


def _appetite(rng: Rng) -> float:
    return rng.pick((0.1, 0.15, 0.2, 0.3, 0.5, 1.0))
