"""The employees of `enterprise`: who reports to whom, where they work, and who may serve a customer on a given day."""

from __future__ import annotations

from dataclasses import dataclass, field

from experiments.demo_databases.definition import Row
from experiments.demo_databases.enterprise.calendar import END, day_number, iso_day
from experiments.demo_databases.enterprise.seed_data import Brand
from experiments.demo_databases.people import somebody
from experiments.demo_databases.rng import Rng

_FOREVER = 100_000


@dataclass(frozen=True, slots=True)
class Post:
    """An employee by id, with first and last day of work."""

    employee_id: int
    first: int
    last: int


@dataclass(slots=True)
class Staff:
    """Who sells in each store and who answers tickets. The first of each list works there for the whole period."""

    sellers: dict[int, list[Post]] = field(default_factory=dict)
    """By store."""
    agents: list[Post] = field(default_factory=list)


def on_duty(rng: Rng, posts: list[Post], day: int) -> int:
    """The id of somebody who is employed on that day."""
    while True:
        post = rng.pick(posts)
        if post.first <= day <= post.last:
            return post.employee_id


def hire(rng: Rng, staff: Staff, tenant_id: int, brand: Brand, stores: list[int], rows: list[Row]) -> None:
    """Fill the brand's posts from the head downwards, so that managers stand before those who report to them."""

    def post(
        title: str,
        department: str,
        manager: int | None,
        store: int | None,
        salary: int,
        first: int,
        last: int = _FOREVER,
    ) -> Post:
        person = somebody(rng, brand.country if rng.chance(0.7) else None)
        number = len(rows) + 1
        paid = (salary + rng.between(-4, 6) * salary // 100) // 100 * 100
        left = iso_day(last) if last <= END else None
        rows.append(
            (
                number,
                tenant_id,
                manager,
                store,
                person.first_name,
                person.last_name,
                title,
                department,
                iso_day(first),
                left,
                float(paid),
            )
        )
        return Post(number, first, last)

    founded = min(day_number(shop.opened) for shop in brand.shops) - 400
    head = post("Chief Executive Officer", "Management", None, None, 168_000, founded).employee_id
    retail = post("Head of Retail", "Management", head, None, 98_000, founded + 60).employee_id
    support = post("Head of Support", "Management", head, None, 84_000, founded + 130).employee_id
    logistics = post("Head of Logistics", "Management", head, None, 88_000, founded + 200).employee_id
    for key, shop in zip(stores, brand.shops, strict=True):
        if shop.kind == "online":
            continue
        opened, closes = day_number(shop.opened), day_number(shop.closed) if shop.closed else _FOREVER
        manager = post("Store Manager", "Retail", retail, key, 52_000, opened - 90, closes)
        staff.sellers[key] = [manager]
        for seat in range(3 + shop.weight // 5):
            first = opened - 20 if seat < 2 else rng.between(opened, max(opened, END - 300))
            last = closes
            if rng.chance(0.35) and first + 250 < min(closes, END):
                last = rng.between(first + 200, min(closes, END) - 10)
            title = "Senior Sales Associate" if seat < 2 else "Sales Associate"
            staff.sellers[key].append(
                post(title, "Retail", manager.employee_id, key, 31_500 + (seat < 2) * 5_000, first, last)
            )
            if last < min(closes, END):  # a successor takes the post
                successor = post("Sales Associate", "Retail", manager.employee_id, key, 31_000, last + 8, closes)
                staff.sellers[key].append(successor)
    lead = post("Support Team Lead", "Support", support, None, 54_000, founded + 180)
    staff.agents.append(lead)
    for seat in range(5):
        first = rng.between(founded + 200, END - 200) if seat else founded + 200
        staff.agents.append(post("Support Agent", "Support", lead.employee_id, None, 35_000, first))
    foreman = post("Warehouse Supervisor", "Logistics", logistics, None, 47_000, founded + 220).employee_id
    for _ in range(4):
        first = rng.between(founded + 230, END - 100)
        post("Warehouse Operative", "Logistics", foreman, None, 29_000, first)
    post("Sales Associate Trainee", "Retail", retail, None, 24_000, END - rng.between(8, 20))
