"""Questions about periods, durations and repeated events, on a shop and a hotel that name their columns differently."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.runtime.probability import STATED_DOUBT
from tests.asked import Asked, Rows, databases_to_ask

SHOP = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, signed_up_at TEXT NOT NULL);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), ordered_at TEXT NOT NULL,
    shipped_at TEXT, delivered_at TEXT, promised_on TEXT, status TEXT NOT NULL, total REAL NOT NULL);
CREATE TABLE deposits (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), deposited_at TEXT NOT NULL,
    amount REAL NOT NULL);
CREATE TABLE refunds (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders(id), refunded_at TEXT NOT NULL,
    amount REAL NOT NULL);
INSERT INTO customers VALUES (1, 'Ann', '2022-03-01'), (2, 'Bob', '2023-05-05'), (3, 'Cem', '2024-01-09');
INSERT INTO orders VALUES
    (1, 1, '2023-03-01', '2023-03-03', '2023-03-08', '2023-03-06', 'delivered', 10),
    (2, 1, '2023-04-10', '2023-04-11', '2023-04-13', '2023-04-20', 'delivered', 20),
    (3, 2, '2023-04-11', NULL, NULL, '2023-04-20', 'cancelled', 30),
    (4, 2, '2024-03-05', '2024-03-06', '2024-03-20', '2024-03-10', 'delivered', 40),
    (5, 1, '2024-04-01', '2024-04-05', NULL, '2024-04-09', 'shipped', 50),
    (6, 3, '2024-04-01', NULL, NULL, '2024-04-09', 'open', 5);
INSERT INTO deposits VALUES (1, 1, '2024-03-02', 100), (2, 2, '2024-04-02', 7), (3, 2, '2024-04-03', 8);
INSERT INTO refunds VALUES (1, 1, '2024-03-09', 4), (2, 2, '2024-05-09', 6);
"""
HOTEL = """
CREATE TABLE Guest (GuestID INTEGER PRIMARY KEY, FullName TEXT NOT NULL);
CREATE TABLE Booking (
    BookingID INTEGER PRIMARY KEY, GuestID INTEGER NOT NULL REFERENCES Guest(GuestID), BookingDate DATE NOT NULL,
    ArrivalDate DATE NOT NULL, DepartureDate DATE NOT NULL);
CREATE TABLE Invoice (
    InvoiceID INTEGER PRIMARY KEY, BookingID INTEGER NOT NULL REFERENCES Booking(BookingID), IssueDate DATE NOT NULL,
    DueDate DATE NOT NULL, PaidDate DATE, Amount REAL NOT NULL);
CREATE TABLE Employee (
    EmployeeID INTEGER PRIMARY KEY, FullName TEXT NOT NULL, Department TEXT NOT NULL, Salary REAL NOT NULL);
INSERT INTO Guest VALUES (1, 'Dee'), (2, 'Eli'), (3, 'Fay');
INSERT INTO Booking VALUES
    (1, 1, '2023-03-01', '2023-03-11', '2023-03-13'), (2, 1, '2024-03-02', '2024-03-10', '2024-03-16'),
    (3, 2, '2024-04-01', '2024-04-03', '2024-04-07'), (4, 2, '2024-04-02', '2024-06-01', '2024-06-05');
INSERT INTO Invoice VALUES
    (1, 1, '2023-03-13', '2023-03-27', '2023-03-15', 60), (2, 2, '2024-03-16', '2024-03-30', '2024-04-05', 90),
    (3, 3, '2024-04-07', '2024-04-21', NULL, 70);
INSERT INTO Employee VALUES
    (1, 'Gus', 'Kitchen', 30), (2, 'Hal', 'Kitchen', 50), (3, 'Ida', 'Desk', 60), (4, 'Jo', 'Desk', 40);
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with databases_to_ask(tmp_path_factory.mktemp("asked"), {"shop": SHOP, "hotel": HOTEL}) as databases:
        yield databases


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("shop", "orders this year vs last year", [("2023", 3), ("2024", 3)]),
        ("shop", "revenue 2023 vs 2024", [("2023", 60), ("2024", 95)]),
        ("shop", "2023 vs 2024 orders", [("2023", 3), ("2024", 3)]),
        ("shop", "did we get more orders in 2024 than in 2023", [("2023", 3), ("2024", 3)]),
        ("shop", "orders in march vs april 2024", [("2024-03", 1), ("2024-04", 2)]),
        ("shop", "orders in april 2024 compared to the same month last year", [("2023-04", 2), ("2024-04", 2)]),
        ("shop", "orders in 2023 and 2024 by month",
         [("2023-03", 1), ("2023-04", 2), ("2024-03", 1), ("2024-04", 2)]),
        ("shop", "how many more orders did we have in 2024 than in 2023", [(0,)]),
        ("hotel", "compare march and april bookings", [("2024-03", 1), ("2024-04", 2)]),
        ("hotel", "how did q1 2023 compare to q1 2024", [("2023-Q1", 1), ("2024-Q1", 1)]),
        ("hotel", "bookings last year vs this year", [("2023", 1), ("2024", 3)]),
        ("shop", "list orders in march and april 2023", [(1,), (2,), (3,)]),
        ("shop", "customers who signed up in 2022 and 2023", [("Ann",), ("Bob",)]),
        ("shop", "orders shipped 2023 vs 2024", [("2023", 2), ("2024", 2)]),
    ],
)  # fmt: skip
def test_two_periods_are_shown_side_by_side(asked: Asked, name: str, question: str, expected: Rows) -> None:
    assert asked.rows(name, question) == expected


@pytest.mark.parametrize(
    ("name", "question", "assumed"),
    [
        ("hotel", "how does march compare to april", "bookings are counted"),
        ("shop", "orders in 2023 and 2024", "each of the two periods is shown alone"),
    ],
)
def test_a_comparison_that_assumes_something_says_so_and_is_not_sure(
    asked: Asked, name: str, question: str, assumed: str
) -> None:
    reading = asked.reading(name, question)
    assert assumed in reading.interpretation
    assert reading.confidence < STATED_DOUBT


def test_a_range_of_years_is_not_a_comparison(asked: Asked) -> None:
    assert asked.rows("shop", "how many orders from 2023 to 2024") == [(6,)]


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("shop", "how long does it take to ship an order", [(2.0,)]),
        ("shop", "how long until an order is delivered", [(8.33,)]),
        ("shop", "how long does it take for an order to be delivered", [(8.33,)]),
        ("shop", "wait time between order and shipping", [(2.0,)]),
        ("shop", "average days to ship", [(2.0,)]),
        ("shop", "time to deliver an order by year", [("2023", 5.0), ("2024", 15.0)]),
        ("hotel", "how long until an invoice is paid", [(11.0,)]),
        ("hotel", "how long does it take guests to pay an invoice", [(11.0,)]),
        ("hotel", "average days from invoice to payment", [(11.0,)]),
        ("hotel", "lead time between booking and arrival", [(20.0,)]),
        ("shop", "how long until an order is shipped, in hours", [(48.0,)]),
    ],
)
def test_durations_in_the_words_of_a_business(asked: Asked, name: str, question: str, expected: Rows) -> None:
    assert asked.rows(name, question) == expected


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("shop", "orders in the first half of 2024", [(4,), (5,), (6,)]),
        ("shop", "orders in H2 2023", []),
        ("shop", "revenue in the second half of 2023", [(None,)]),
        ("shop", "orders in the first 3 months of 2023", [(1,)]),
        ("shop", "orders in the last 9 months of 2023", [(2,), (3,)]),
        ("shop", "orders in the first week of march 2024", [(4,)]),
        ("shop", "orders in the week of 2024-03-04", [(4,)]),
        ("shop", "how many orders in the first week of april", [(2,)]),
        ("shop", "how many orders since the beginning of 2024", [(3,)]),
        ("shop", "how many orders before the end of march 2024", [(4,)]),
        ("shop", "how many orders after the end of 2023", [(3,)]),
        ("shop", "how many orders last friday", [(0,)]),
        ("shop", "orders on mondays", [(2,), (5,), (6,)]),
        ("shop", "how many orders were placed on a Tuesday in 2023", [(1,)]),
        ("shop", "how many orders at the weekend", [(0,)]),
        ("shop", "how many orders on weekdays", [(6,)]),
        ("hotel", "how many bookings on weekends", [(1,)]),
        ("shop", "customer with the highest single order", [("Ann",)]),
        ("hotel", "what year do we get the most bookings", [("2024", 3)]),
        ("shop", "revenue by year for 2023 and 2024", [("2023", 60.0), ("2024", 95.0)]),
        ("shop", "what percentage of customers have more than 1 order", [(66.67,)]),
        ("shop", "what percentage of customers ordered more than once in 2023", [(33.33,)]),
    ],
)  # fmt: skip
def test_parts_of_periods_weekdays_and_single_orders(asked: Asked, name: str, question: str, expected: Rows) -> None:
    assert sorted(asked.rows(name, question), key=str) == expected


@pytest.mark.parametrize("question", ["orders in the first half", "orders in the second half of the match"])
def test_a_half_without_a_year_is_no_period(asked: Asked, question: str) -> None:
    assert asked.reading("shop", question).confidence < STATED_DOUBT


def test_dates_without_a_clock_have_no_hours(asked: Asked) -> None:
    assert asked.reading("hotel", "which hour do most bookings come in").confidence < STATED_DOUBT


def test_a_weekday_is_told_by_its_name(asked: Asked) -> None:
    assert "is Monday" in asked.reading("shop", "orders on mondays").interpretation


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("shop", "total orders and total customers", [(6, 3)]),
    ],
)  # fmt: skip
def test_two_figures_are_shown_side_by_side(asked: Asked, name: str, question: str, expected: Rows) -> None:
    assert asked.rows(name, question) == expected


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("shop", "how many customers ordered more than once", [(2,)]),
        ("shop", "customers who haven't ordered in the last 2 months", [("Bob",), ("Ann",), ("Cem",)]),
    ],
)
def test_repeated_first_and_missing_events_of_people(asked: Asked, name: str, question: str, expected: Rows) -> None:
    assert sorted(asked.rows(name, question), key=str) == sorted(expected, key=str)


@pytest.mark.parametrize(
    ("name", "question", "assumed"),
    [
        ("shop", "top 2 customers by deposits", "rows are counted"),
    ],
)
def test_a_guess_about_events_is_told_and_not_sure(asked: Asked, name: str, question: str, assumed: str) -> None:
    reading = asked.reading(name, question)
    assert assumed in reading.interpretation
    assert reading.confidence < STATED_DOUBT


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("shop", "the day with the most orders", [("2024-04-01", 2)]),
        ("hotel", "which year had the most arrivals", [("2024", 3)]),
        ("shop", "number of orders shipped per year", [("2023", 2), ("2024", 2)]),
        ("shop", "average orders per customer in 2023", [(1.5,)]),
    ],
)
def test_extremes_and_averages_over_time(asked: Asked, name: str, question: str, expected: Rows) -> None:
    assert asked.rows(name, question) == expected
