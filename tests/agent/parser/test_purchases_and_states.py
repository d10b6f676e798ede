"""Who bought what, states beside their dates, and names that columns do not have, as chatty newcomers put them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.runtime.probability import STATED_DOUBT
from tests.asked import Asked, Rows, databases_to_ask

TEAROOM = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, joined_on DATE NOT NULL);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), ordered_on DATE NOT NULL,
    status TEXT NOT NULL, total_amount REAL NOT NULL);
CREATE TABLE order_items (
    order_id INTEGER NOT NULL REFERENCES orders(id), product_id INTEGER NOT NULL REFERENCES products(id),
    quantity INTEGER NOT NULL, PRIMARY KEY (order_id, product_id));
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id),
    product_id INTEGER NOT NULL REFERENCES products(id), rating INTEGER NOT NULL);
INSERT INTO customers VALUES
    (1, 'Ann', 'ann@x.org', '2022-03-01'), (2, 'Bob', 'bob@x.org', '2023-05-05'),
    (3, 'Ann', 'ann3@x.org', '2023-07-09'), (4, 'Cem', 'cem@x.org', '2024-01-09');
INSERT INTO products VALUES (1, 'Tea', 2.0), (2, 'Coffee', 3.0), (3, 'Scone', 4.0);
INSERT INTO orders VALUES
    (1, 1, '2023-03-01', 'paid', 10), (2, 1, '2023-04-10', 'paid', 20), (3, 2, '2024-03-05', 'cancelled', 40),
    (4, 3, '2024-04-01', 'paid', 5), (5, 2, '2024-05-01', 'cancelled', 2);
INSERT INTO order_items VALUES (1, 1, 1), (2, 1, 2), (2, 2, 1), (3, 1, 4), (4, 1, 1), (5, 3, 1);
INSERT INTO reviews VALUES (1, 4, 1, 5), (2, 2, 2, 1), (3, 3, 3, 4);
"""
SCHOOL = """
CREATE TABLE students (id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, signup_date DATE NOT NULL);
CREATE TABLE courses (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL, published_at DATE, level TEXT NOT NULL,
    price REAL NOT NULL);
CREATE TABLE enrollments (
    id INTEGER PRIMARY KEY, student_id INTEGER NOT NULL REFERENCES students(id),
    course_id INTEGER NOT NULL REFERENCES courses(id), status TEXT NOT NULL, completed_at DATE);
CREATE TABLE payments (
    id INTEGER PRIMARY KEY, student_id INTEGER NOT NULL REFERENCES students(id), amount REAL NOT NULL,
    paid_on DATE NOT NULL);
INSERT INTO payments VALUES (1, 1, 10, '2022-03-01'), (2, 2, 10, '2023-05-06'), (3, 3, 30, '2023-06-06');
INSERT INTO students VALUES (1, 'Dee', '2022-03-01'), (2, 'Eli', '2023-05-05'), (3, 'Fay', '2023-06-05');
INSERT INTO courses VALUES
    (1, 'Knots', 'published', '2022-01-01', 'beginner', 10), (2, 'Sails', 'draft', NULL, 'advanced', 20),
    (3, 'Charts', 'archived', '2021-01-01', 'advanced', 30);
INSERT INTO enrollments VALUES
    (1, 1, 1, 'completed', '2022-05-01'), (2, 2, 1, 'active', NULL), (3, 3, 3, 'completed', '2023-08-01');
"""
DEPOT = """
CREATE TABLE trucks (id INTEGER PRIMARY KEY, plate TEXT NOT NULL, model_year INTEGER NOT NULL);
CREATE TABLE clients (id INTEGER PRIMARY KEY, name TEXT NOT NULL, registered_on DATE NOT NULL);
CREATE TABLE drivers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, hired_on DATE NOT NULL, born DATE);
CREATE TABLE shipments (
    id INTEGER PRIMARY KEY, truck_id INTEGER NOT NULL REFERENCES trucks(id),
    client_id INTEGER NOT NULL REFERENCES clients(id), driver_id INTEGER NOT NULL REFERENCES drivers(id),
    priority TEXT NOT NULL, shipped_on DATE NOT NULL, delivered_on DATE);
INSERT INTO trucks VALUES (1, 'AB-1', 2015), (2, 'CD-2', 2019), (3, 'EF-3', 2020);
INSERT INTO clients VALUES (1, 'Alder', '2022-02-01'), (2, 'Birch', '2023-03-01'), (3, 'Cedar', '2023-04-01');
INSERT INTO drivers VALUES (1, 'Gus', '2019-01-01', '1990-01-01'), (2, 'Hal', '2015-06-01', '1980-01-01');
INSERT INTO shipments VALUES
    (1, 1, 1, 1, 'high', '2024-01-03', '2024-01-05'), (2, 1, 2, 1, 'low', '2024-02-03', '2024-02-09'),
    (3, 2, 2, 2, 'low', '2023-02-03', '2023-02-04'), (4, 2, 1, 2, 'high', '2023-05-03', NULL);
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with databases_to_ask(
        tmp_path_factory.mktemp("asked"), {"tearoom": TEAROOM, "school": SCHOOL, "depot": DEPOT}
    ) as databases:
        yield databases


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("customers who bought coffee", [("Ann",)]),
        ("which customers ordered tea?", [("Ann",), ("Ann",), ("Bob",)]),
        ("who ordered tea but not coffee", [("Ann",), ("Bob",)]),
        ("customers who bought both tea and coffee", [("Ann",)]),
        ("how many customers bought tea", [(3,)]),
        ("customers without orders in 2023", [("Ann",), ("Bob",), ("Cem",)]),
        ("customers who ordered in both 2023 and 2024", []),
        ("how many customers bought both tea and coffee", [(1,)]),
        ("how many orders in both 2023 and 2024", [(5,)]),
        ("what is the best selling product in 2023", [("Tea",)]),
        ("top 1 best selling products", [("Tea",)]),
    ],
)
def test_what_was_bought_is_in_the_orders_and_not_in_the_reviews(asked: Asked, question: str, expected: Rows) -> None:
    """Each customer once, and the two called Ann twice."""
    assert sorted(asked.rows("tearoom", question)) == expected


@pytest.mark.parametrize("question", ["revenue by product"])
def test_the_total_of_an_order_is_not_that_of_each_product_in_it(asked: Asked, question: str) -> None:
    reading = asked.reading("tearoom", question)
    assert reading.confidence < STATED_DOUBT
    assert "the whole amount of each order is counted for everything" in reading.interpretation


@pytest.mark.parametrize("question", ["latest 2 orders with customer names", "the newest 2 orders and their customers"])
def test_the_latest_orders_go_by_the_orders_date(asked: Asked, question: str) -> None:
    assert "ordered_on" in asked.reading("tearoom", question).sql.split("ORDER BY")[1]


def test_a_rating_is_not_a_price(asked: Asked) -> None:
    """`rate` is another word for a price; the `rating` of a review is not."""
    reading = asked.reading("tearoom", "average product rating")
    assert "price" not in reading.sql
    assert asked.rows("tearoom", "average product rating") == [(3.33,)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("customers and how many orders they placed in 2023", [("Ann", 2)]),
        ("best rated product", [("Tea",)]),
        ("excuse me, which customers joined before 2023?", [("Ann",)]),
        ("sorry, how many products are there", [(3,)]),
        ("how do the orders in 2023 compare with those in 2024?", [("2023", 2), ("2024", 3)]),
    ],
)
def test_each_customer_with_a_figure(asked: Asked, question: str, expected: Rows) -> None:
    assert sorted(asked.rows("tearoom", question)) == expected


@pytest.mark.parametrize(
    "question", ["list all employees", "which employee sold the most", "how many teachers are there"]
)
def test_counterparts_are_not_the_same_people(asked: Asked, question: str) -> None:
    """Employees are no customers, teachers no students, however alike the words are used."""
    for name in ("tearoom", "school"):
        assert asked.reading(name, question).confidence < STATED_DOUBT
        assert "customers" not in asked.reading("tearoom", "list all employees").sql


@pytest.mark.parametrize(
    "question", ["the purse for Tea", "average discount", "orders that cost at least double the average"]
)
def test_far_meanings_and_multiples_are_not_told_with_confidence(asked: Asked, question: str) -> None:
    assert asked.reading("tearoom", question).confidence < STATED_DOUBT


def test_a_column_of_several_tables_is_listed_in_doubt(asked: Asked) -> None:
    reading = asked.reading("school", "list statuses")
    assert reading.confidence < STATED_DOUBT
    assert "would be another choice" in reading.interpretation


@pytest.mark.parametrize("question", ["why did sales drop in june", "predict sales for next month",
                                      "what will revenue be next month"])  # fmt: skip
def test_reasons_and_forecasts_are_declined(asked: Asked, question: str) -> None:
    reading = asked.reading("tearoom", question)
    assert reading.abstained
    assert "the data only says what has happened" in reading.interpretation


def test_a_table_that_is_only_alike_is_told_in_doubt(asked: Asked) -> None:
    assert asked.reading("school", "total payments in 2023").confidence >= STATED_DOUBT
    assert asked.reading("school", "total refunds in 2023").confidence < STATED_DOUBT


def test_each_customer_once_is_told_with_confidence(asked: Asked) -> None:
    reading = asked.reading("tearoom", "customers who bought tea")
    assert "GROUP BY" in reading.sql
    assert reading.confidence >= STATED_DOUBT


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("school", "how many published courses are there", [(1,)]),
        ("school", "how many completed enrollments", [(2,)]),
        ("school", "which courses are published", [("Knots",)]),
        ("school", "courses published in 2021", [("Charts",)]),
        ("tearoom", "how much money is stuck in cancelled orders", [(42.0,)]),
    ],
)
def test_a_state_is_not_the_date_of_the_same_name(asked: Asked, name: str, question: str, expected: Rows) -> None:
    assert asked.rows(name, question) == expected


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("depot", "how many clients signed up each year", [("2022", 1), ("2023", 2)]),
        ("depot", "trucks without shipments in 2024", [("CD-2",), ("EF-3",)]),
        ("depot", "how many trucks per model year", [(2015, 1), (2019, 1), (2020, 1)]),
        ("school", "how many students signed up in 2023", [(2,)]),
        ("school", "who signed up in 2023", [("Eli",), ("Fay",)]),
        ("tearoom", "who joined in 2023", [("Ann",), ("Bob",)]),
        ("depot", "for each client, how many days does delivery take on average", [("Alder", 2.0), ("Birch", 3.5)]),
    ],
)
def test_years_and_times_belong_to_the_rows_that_are_asked_for(
    asked: Asked, name: str, question: str, expected: Rows
) -> None:
    width = len(expected[0])
    assert sorted(row[:width] for row in asked.rows(name, question)) == expected


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("depot", "license plate of the newest truck", [("EF-3",)]),
        ("depot", "shipments by priority level", [("high", 2), ("low", 2)]),
        ("tearoom", "email address of Bob", [("bob@x.org",)]),
        ("tearoom", "products that cost more then 3", [("Scone",)]),
        ("tearoom", "list the products together with their prices", [("Coffee", 3.0), ("Scone", 4.0), ("Tea", 2.0)]),
        ("tearoom", "how many customers do we have on file lol", [(4,)]),
        ("tearoom", "number of orders month by month in 2023", [("2023-03", 1), ("2023-04", 1)]),
    ],
)
def test_other_names_and_chatty_words(asked: Asked, name: str, question: str, expected: Rows) -> None:
    assert sorted(asked.rows(name, question)) == expected
