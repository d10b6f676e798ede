"""Questions of people in an office: customers under another name, preambles, dates of the event, roles of employees."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.runtime.probability import STATED_DOUBT
from tests.asked import Asked, Rows, databases_to_ask

CRUISES = """
CREATE TABLE ports (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE guides (id INTEGER PRIMARY KEY, name TEXT NOT NULL, hired_on DATE NOT NULL);
CREATE TABLE sailings (
    id INTEGER PRIMARY KEY, port_id INTEGER NOT NULL REFERENCES ports(id), guide_id INTEGER REFERENCES guides(id),
    starts_on DATE NOT NULL, price_per_person REAL NOT NULL, status TEXT NOT NULL);
CREATE TABLE passengers (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, newsletter INTEGER NOT NULL, registered_on DATE NOT NULL);
CREATE TABLE bookings (
    id INTEGER PRIMARY KEY, sailing_id INTEGER NOT NULL REFERENCES sailings(id),
    passenger_id INTEGER NOT NULL REFERENCES passengers(id), booked_on DATE NOT NULL, total_price REAL NOT NULL,
    status TEXT NOT NULL, cancelled_on DATE);
CREATE TABLE payments (
    id INTEGER PRIMARY KEY, booking_id INTEGER NOT NULL REFERENCES bookings(id), due_date DATE NOT NULL,
    paid_on DATE, amount REAL NOT NULL, status TEXT NOT NULL);
INSERT INTO ports VALUES
    (1, 'Split', 'Croatia'), (2, 'Zadar', 'Croatia'), (3, 'Bari', 'Italy'), (4, 'Kotor', 'Montenegro');
INSERT INTO guides VALUES (1, 'Ivo', '2020-01-01'), (2, 'Mara', '2018-05-01');
INSERT INTO sailings VALUES
    (1, 1, 1, '2025-05-01', 100, 'completed'), (2, 3, 2, '2025-06-01', 80, 'cancelled'),
    (3, 1, NULL, '2026-05-01', 120, 'open'), (4, 3, 1, '2026-06-01', 90, 'open');
INSERT INTO passengers VALUES
    (1, 'Ann', 'ann@example.com', 1, '2024-01-01'), (2, 'Ben', NULL, 0, '2024-02-01'),
    (3, 'Cho', NULL, 1, '2025-03-01');
INSERT INTO bookings VALUES
    (1, 1, 1, '2025-01-10', 200, 'confirmed', NULL), (2, 2, 1, '2025-02-10', 80, 'cancelled', '2025-03-01'),
    (3, 3, 2, '2026-01-10', 240, 'pending', NULL);
INSERT INTO payments VALUES
    (1, 1, '2024-12-20', '2025-01-15', 200, 'received'), (2, 2, '2025-03-01', NULL, 80, 'refunded'),
    (3, 3, '2026-01-20', '2026-01-19', 100, 'received');
"""
GARAGE = """
CREATE TABLE employees (
    employee_id INTEGER PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, termination_date DATE);
CREATE TABLE customers (
    customer_id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, newsletter_opt_in INTEGER NOT NULL);
CREATE TABLE bikes (
    bike_id INTEGER PRIMARY KEY, model TEXT NOT NULL, model_year INTEGER NOT NULL, condition TEXT NOT NULL,
    purchase_date DATE NOT NULL, purchase_price REAL NOT NULL, list_price REAL NOT NULL);
CREATE TABLE sales (
    sale_id INTEGER PRIMARY KEY, bike_id INTEGER NOT NULL REFERENCES bikes(bike_id),
    customer_id INTEGER NOT NULL REFERENCES customers(customer_id),
    salesperson_id INTEGER NOT NULL REFERENCES employees(employee_id), sale_date DATE NOT NULL);
CREATE TABLE repairs (
    repair_id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(customer_id),
    mechanic_id INTEGER REFERENCES employees(employee_id), kind TEXT NOT NULL, repair_date DATE NOT NULL);
CREATE TABLE invoices (
    invoice_id INTEGER PRIMARY KEY, invoice_number TEXT NOT NULL, sale_id INTEGER REFERENCES sales(sale_id),
    invoice_date DATE NOT NULL, due_date DATE NOT NULL, tax_amount REAL NOT NULL, total_amount REAL NOT NULL,
    paid_date DATE, status TEXT NOT NULL);
INSERT INTO employees VALUES
    (1, 'Sue', 'salesperson', NULL), (2, 'Tom', 'salesperson', '2025-01-31'), (3, 'Uma', 'mechanic', NULL),
    (4, 'Vic', 'mechanic', NULL);
INSERT INTO customers VALUES (1, 'Abe', 'York', 1), (2, 'Bo', 'Leeds', 0), (3, 'Cy', 'York', 0);
INSERT INTO bikes VALUES
    (1, 'Roadster', 2024, 'new', '2023-11-01', 500, 900), (2, 'Climber', 2022, 'used', '2024-03-01', 200, 400),
    (3, 'City', 2024, 'used', '2024-05-01', 300, 450);
INSERT INTO sales VALUES (1, 1, 1, 1, '2024-02-01'), (2, 2, 2, 1, '2024-06-01'), (3, 3, 1, 2, '2025-01-15');
INSERT INTO repairs VALUES
    (1, 1, 3, 'inspection', '2024-04-01'), (2, 2, 3, 'inspection', '2024-05-01'), (3, 2, 4, 'tyres', '2024-05-02');
INSERT INTO invoices VALUES
    (1, 'R1', 1, '2024-02-02', '2024-03-02', 90, 990, '2024-03-12', 'paid'),
    (2, 'R2', 2, '2024-06-02', '2024-07-02', 40, 440, NULL, 'overdue'),
    (3, 'R3', 3, '2025-01-16', '2025-02-16', 45, 495, NULL, 'overdue');
"""
CIDER = """
CREATE TABLE styles (style_id INTEGER PRIMARY KEY, name TEXT NOT NULL, country_of_origin TEXT NOT NULL);
CREATE TABLE ciders (
    cider_id INTEGER PRIMARY KEY, name TEXT NOT NULL, style_id INTEGER NOT NULL REFERENCES styles(style_id),
    abv REAL NOT NULL);
CREATE TABLE batches (
    batch_id INTEGER PRIMARY KEY, batch_number TEXT NOT NULL, cider_id INTEGER NOT NULL REFERENCES ciders(cider_id),
    tank TEXT NOT NULL, status TEXT NOT NULL);
CREATE TABLE customers (
    customer_id INTEGER PRIMARY KEY, name TEXT NOT NULL, customer_type TEXT NOT NULL, created_date DATE NOT NULL);
CREATE TABLE orders (
    order_id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(customer_id),
    order_date DATE NOT NULL);
CREATE TABLE payments (
    payment_id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(order_id), amount REAL NOT NULL,
    status TEXT NOT NULL, payment_date DATE NOT NULL);
CREATE TABLE crews (crew_id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_volunteer INTEGER NOT NULL);
CREATE TABLE members (
    member_id INTEGER PRIMARY KEY, name TEXT NOT NULL, status TEXT NOT NULL, crew_id INTEGER REFERENCES crews(crew_id));
CREATE TABLE fees (
    fee_id INTEGER PRIMARY KEY, member_id INTEGER NOT NULL REFERENCES members(member_id), fee_year INTEGER NOT NULL,
    amount REAL NOT NULL, paid_on DATE);
INSERT INTO styles VALUES (1, 'Brut', 'France'), (2, 'Scrumpy', 'England');
INSERT INTO ciders VALUES (1, 'Orchard', 1, 4.5), (2, 'Windfall', 2, 7.2), (3, 'Pippin', 1, 5.0);
INSERT INTO batches VALUES (1, 'B1', 1, 'T1', 'fermenting'), (2, 'B2', 2, 'T2', 'bottled');
INSERT INTO customers VALUES
    (1, 'The Bell', 'pub', '2024-02-01'), (2, 'Corner', 'shop', '2025-02-01'), (3, 'Larder', 'shop', '2025-03-01');
INSERT INTO orders VALUES (1, 1, '2025-02-03'), (2, 1, '2025-06-09'), (3, 2, '2026-01-05');
INSERT INTO payments VALUES
    (1, 1, 50, 'cleared', '2025-02-10'), (2, 2, 70, 'bounced', '2025-06-20'), (3, 3, 20, 'bounced', '2026-02-01');
INSERT INTO crews VALUES (1, 'Pressing', 1);
INSERT INTO members VALUES (1, 'Ann', 'active', 1), (2, 'Ben', 'active', NULL), (3, 'Cho', 'former', NULL);
INSERT INTO fees VALUES (1, 1, 2025, 30, '2025-01-10'), (2, 2, 2025, 30, NULL), (3, 3, 2024, 30, '2024-02-01');
"""
CARE = """
CREATE TABLE customers (
    id INTEGER PRIMARY KEY, company_name TEXT NOT NULL, contact_first_name TEXT, contact_last_name TEXT,
    city TEXT NOT NULL);
CREATE TABLE quotes (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), amount REAL NOT NULL,
    quoted_on DATE NOT NULL, status TEXT NOT NULL);
CREATE TABLE cleaners (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, hire_date DATE NOT NULL,
    supervisor_id INTEGER REFERENCES cleaners(id));
CREATE TABLE visits (
    id INTEGER PRIMARY KEY, cleaner_id INTEGER NOT NULL REFERENCES cleaners(id),
    customer_id INTEGER NOT NULL REFERENCES customers(id), status TEXT NOT NULL, visit_date DATE NOT NULL);
CREATE TABLE plans (
    id INTEGER PRIMARY KEY, cleaner_id INTEGER NOT NULL REFERENCES cleaners(id),
    customer_id INTEGER NOT NULL REFERENCES customers(id));
INSERT INTO customers VALUES (1, 'Acme', 'Ann', 'Ash', 'York'), (2, 'Bolt', 'Bob', 'Bay', 'Leeds');
INSERT INTO quotes VALUES (1, 1, 100, '2025-03-01', 'rejected'), (2, 2, 40, '2025-03-09', 'rejected');
INSERT INTO cleaners VALUES
    (1, 'Kim', '2023-01-01', NULL), (2, 'Lou', '2023-05-01', 1), (3, 'Max', '2024-05-01', 1),
    (4, 'Max', '2024-06-01', 1);
INSERT INTO visits VALUES
    (1, 2, 1, 'completed', '2025-01-01'), (2, 2, 2, 'completed', '2025-01-02'), (3, 3, 1, 'completed', '2025-01-03'),
    (4, 1, 1, 'missed', '2025-01-04'), (5, 1, 1, 'missed', '2025-01-05'), (6, 1, 1, 'missed', '2025-01-06'),
    (7, 4, 1, 'missed', '2025-01-07');
INSERT INTO plans VALUES (1, 1, 1);
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with databases_to_ask(
        tmp_path_factory.mktemp("offices"), {"cruises": CRUISES, "garage": GARAGE, "cider": CIDER, "care": CARE}
    ) as databases:
        yield databases


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("customers without email", [("Ben",), ("Cho",)]),
        ("how many people have never booked", [(1,)]),
        ("pending bookings - which customers", [("Ben",)]),
        ("customers no email adress", [("Ben",), ("Cho",)]),
        ("how many sailings were cancelled in 2025", [(1,)]),
        ("how many bookings were cancelled in 2025", [(1,)]),
        ("What is the total of the payments received in 2025?", [(200,)]),
        ("countries without sailings", [("Montenegro",)]),
        ("sailings 2026 still no guide", [(3,)]),
        ("Which guide has been with the company the longest, do you know?", [("Mara",)]),
        ("My boss asked me to find out how many guides we have, can you help me with that?", [(2,)]),
        ("Just out of curiosity, how many passengers are there?", [(3,)]),
        ("how many passengers have signed up for the newsletter", [(2,)]),
        ("What percentage of all bookings ends up being cancelled?", [(33.33,)]),
    ],
)
def test_customers_preambles_and_own_dates(asked: Asked, question: str, expected: Rows) -> None:
    assert sorted(asked.rows("cruises", question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many bikes did we sell in 2024?", [(2,)]),
        ("how many used bikes do we have", [(2,)]),
        ("What share of the bikes we sold in 2024 were used ones?", [(50,)]),
        ("sales per salesperson in 2024", [("Sue", 2)]),
        ("which mechanic did the most inspections in 2024", [("Uma",)]),
        ("who are my top salespeople by number of sales", [("Sue",), ("Tom",)]),
        ("who bought a bike in 2025", [("Abe",)]),
        ("total tax per year", [("2024", 130), ("2025", 45)]),
        ("Please state the total amount invoiced in 2024.", [(1430,)]),
        ("bikes under 450", [(2,)]),
        ("how many of the invoices of 2024 were paid after their due date", [(1,)]),
    ],
)
def test_roles_sales_and_totals(asked: Asked, question: str, expected: Rows) -> None:
    assert sorted(asked.rows("garage", question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which cider styles come from France", [("Brut",)]),
        ("Which batches are still fermenting and which tank are they in?", [("B1", "T1")]),
        ("last order date The Bell", [("2025-06-09",)]),
        ("which customers joined in the first half of 2025 and have ordered something", [("Corner",)]),
        ("shops that never ordered", [("Larder",)]),
        ("what is the strongest cider we make", [("Windfall",)]),
        ("ciders with an abv above 6", [("Windfall",)]),
        ("Kindly report the number and the total amount of bounced payments.", [(2, 90)]),
        ("How many active members does the club have?", [(2,)]),
        ("how many fees are unpaid", [(1,)]),
        ("What proportion of the fees for 2025 is still unpaid?", [(50,)]),
    ],
)
def test_heads_kinds_and_second_questions(asked: Asked, question: str, expected: Rows) -> None:
    assert sorted(asked.rows("cider", question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("customers in York", [("Acme",)]),
        ("total value rejected quotes march 2025", [(140,)]),
        ("Who are the two cleaners with the most completed visits in 2025?", [("Lou",), ("Max",)]),
        ("How many cleaners did we hire in each year?", [(2, "2023"), (2, "2024")]),
        ("who supervises how many cleaners", [("Kim", 3)]),
    ],
)
def test_companies_and_what_people_did(asked: Asked, question: str, expected: Rows) -> None:
    assert sorted(asked.rows("care", question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("visits by status in 2025", [("completed", 3), ("missed", 4)]),
        ("visits 2025 by status", [("completed", 3), ("missed", 4)]),
        ("cleaners by number of visits", [("Kim", 3), ("Lou", 2), ("Max", 1), ("Max", 1)]),
        ("customers by total amount", [("Acme", 100), ("Bolt", 40)]),
        ("customers by number of quotes in 2025", [("Acme", 1), ("Bolt", 1)]),
    ],
)
def test_rows_by_something_are_groups(asked: Asked, question: str, expected: Rows) -> None:
    assert sorted(asked.rows("care", question)) == expected


def test_rows_by_an_amount_are_sorted(asked: Asked) -> None:
    assert asked.rows("garage", "bikes by list price") == [(1, 900), (3, 450), (2, 400)]


def test_namesakes_do_not_make_counts_doubtful(asked: Asked) -> None:
    """Two cleaners are called Max and have one visit each."""
    assert asked.reading("care", "number of visits per cleaner").confidence >= STATED_DOUBT


def test_columns_listed_with_rows_are_shown(asked: Asked) -> None:
    question = "Please list all overdue invoices with invoice number and amount, the oldest due date first."
    assert asked.rows("garage", question) == [("R2", 440), ("R3", 495)]


@pytest.mark.parametrize("question", ["payments per quarter in 2025", "how many people travelled in 2024"])
def test_what_is_open_is_told_with_a_doubt(asked: Asked, question: str) -> None:
    """Their number or their amount? The date on which people registered is none of their travels."""
    assert asked.reading("cruises", question).confidence < STATED_DOUBT


def test_two_routes_between_people_are_in_doubt(asked: Asked) -> None:
    """Visits and plans link cleaners and customers."""
    assert asked.reading("care", "which cleaners have been to customers in York").confidence < STATED_DOUBT
    assert asked.reading("care", "cleaners with visits to customers in York").confidence >= STATED_DOUBT
