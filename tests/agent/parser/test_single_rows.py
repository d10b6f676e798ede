"""One row of a table, by its number or name, and people who have a first and a last name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.runtime.probability import STATED_DOUBT
from tests.asked import Asked, Rows, databases_to_ask

STORE = """
CREATE TABLE suppliers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE customers (
    id INTEGER PRIMARY KEY, first_name TEXT NOT NULL, last_name TEXT NOT NULL, city TEXT NOT NULL);
CREATE TABLE products (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, supplier_id INTEGER NOT NULL REFERENCES suppliers(id), price REAL);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), ordered_on DATE NOT NULL,
    total REAL NOT NULL, paid_on DATE, receipt_no TEXT, payment_method TEXT);
CREATE TABLE order_items (
    order_id INTEGER NOT NULL REFERENCES orders(id), product_id INTEGER NOT NULL REFERENCES products(id),
    quantity INTEGER NOT NULL, PRIMARY KEY (order_id, product_id));
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id),
    product_id INTEGER NOT NULL REFERENCES products(id), comment TEXT, reviewed_on DATE NOT NULL);
INSERT INTO suppliers VALUES (1, 'Alder'), (2, 'Birch');
INSERT INTO customers VALUES (1, 'Ann', 'Zoll', 'Bern'), (2, 'Bo', 'Ander', 'Bern'), (3, 'Zita', 'Cole', 'Basel');
INSERT INTO products VALUES (1, 'Apple', 1, 2.0), (2, 'Zinnia', 2, 3.0), (3, 'Ann', 2, 4.0);
INSERT INTO orders VALUES
    (17, 1, '2024-01-05', 12.5, '2024-01-09', 'R1', 'card'), (18, 2, '2024-02-05', 20, NULL, 'R2', 'voucher'),
    (19, 1, '2024-03-05', 4, '2024-03-05', 'R3', 'card');
INSERT INTO order_items VALUES (17, 1, 1), (17, 2, 3), (18, 2, 1), (19, 1, 2);
INSERT INTO reviews VALUES
    (1, 1, 1, 'Arrived broken', '2024-02-01'), (2, 2, 2, 'Lovely', '2024-03-01'), (3, 2, 1, NULL, '2024-04-01');
"""


FIRM = """
CREATE TABLE departments (id INTEGER PRIMARY KEY, name TEXT NOT NULL, floor INTEGER);
CREATE TABLE employees (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, job_title TEXT NOT NULL,
    department_id INTEGER REFERENCES departments(id),
    manager_id INTEGER REFERENCES employees(id), salary REAL, is_active INTEGER);
CREATE TABLE projects (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL, lead_id INTEGER REFERENCES employees(id));
CREATE TABLE absences (
    id INTEGER PRIMARY KEY, employee_id INTEGER NOT NULL REFERENCES employees(id), kind TEXT NOT NULL,
    from_date DATE NOT NULL, to_date DATE NOT NULL);
INSERT INTO departments VALUES (1, 'Neurology', 3), (2, 'Surgery', 1);
INSERT INTO employees VALUES
    (1, 'Ada', 'Manager', 1, NULL, 90, 1), (2, 'Bea', 'Nurse', 1, 1, 95, 1), (3, 'Cem', 'Nurse', 2, 1, 50, 0),
    (4, 'Dov', 'Manager', 2, 1, 80, 1);
INSERT INTO projects VALUES (1, 'Move', 'active', 1), (2, 'Paint', 'done', 3), (3, 'Wire', 'active', 3);
INSERT INTO absences VALUES (1, 2, 'sick', '2024-01-02', '2024-01-05'), (2, 3, 'holiday', '2024-02-01', '2024-02-09');
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with databases_to_ask(tmp_path_factory.mktemp("store"), {"store": STORE, "firm": FIRM}) as databases:
        yield databases


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who placed order 18", [("Bo", "Ander")]),
        ("which customer placed order 17?", [("Ann", "Zoll")]),
        ("unpaid orders", [(18,)]),
        ("orders that were paid by voucher", [(18,)]),
        ("how many orders were paid with card", [(2,)]),
        ("orders of Mr. Zoll", [(17,), (19,)]),
        ("reviews that mention broken", [(1,)]),
    ],
)
def test_one_row_by_its_number(asked: Asked, question: str, expected: Rows) -> None:
    assert sorted(asked.rows("store", question)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("customers named Zita", [("Zita", "Cole")]),
        ("orders of customers named Bo", [(18,)]),
        ("customers whose name starts with A", [("Ann", "Zoll")]),
        ("customer names that start with Z", [("Zita", "Cole")]),
        ("customers whose name ends with er", [("Bo", "Ander")]),
        ("customers whose name contains 'an'", [("Ann", "Zoll"), ("Bo", "Ander")]),
        ("customers whose last name starts with A", [("Bo", "Ander")]),
        ("products whose name starts with A", [("Ann",), ("Apple",)]),
    ],
)
def test_the_name_of_people_is_their_own(asked: Asked, question: str, expected: Rows) -> None:
    """A bare `name` matched the column `name` of another table, however far away, and was told with confidence."""
    assert sorted(asked.rows("store", question)) == expected


def test_what_rows_contain_may_be_other_rows(asked: Asked) -> None:
    assert "LIKE" not in asked.reading("store", "customers that contain orders").sql


def test_the_average_of_receipt_numbers_is_not_told(asked: Asked) -> None:
    assert asked.reading("store", "average receipt by payment method").confidence < STATED_DOUBT


def test_a_person_s_name_is_told_with_confidence(asked: Asked) -> None:
    assert asked.reading("store", "customers whose name starts with A").confidence >= STATED_DOUBT


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("employees without a manager", [("Ada",)]),
        ("employees earning more than their manager", [("Bea",)]),
        ("list all managers", [("Ada",), ("Dov",)]),
        ("active projects", [("Move",), ("Wire",)]),
        ("active employees", [("Ada",), ("Bea",), ("Dov",)]),
        ("which floor is neurology on", [(3,)]),
        ("who is the highest paid employee in surgery", [("Dov",)]),
    ],
)
def test_roles_and_states_are_told_from_references_and_flags(asked: Asked, question: str, expected: Rows) -> None:
    """`Manager` is a job title, too, and `active` a flag of other rows."""
    assert sorted(asked.rows("firm", question)) == expected


@pytest.mark.parametrize("question", ["how many sick days were there", "employees with a manager"])
def test_days_of_a_kind_and_one_s_manager_are_in_doubt(asked: Asked, question: str) -> None:
    assert asked.reading("firm", question).confidence < STATED_DOUBT
