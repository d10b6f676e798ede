"""What to show, listed behind a question; durations, states and shares as people ask for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.runtime.probability import STATED_DOUBT
from tests.asked import Asked, Rows, databases_to_ask

STUDIO = """
CREATE TABLE teachers (
    id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, phone TEXT, hourly_rate REAL NOT NULL);
CREATE TABLE courses (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, teacher_id INTEGER REFERENCES teachers(id), room TEXT NOT NULL,
    price REAL NOT NULL, start_date DATE NOT NULL, end_date DATE);
CREATE TABLE members (id INTEGER PRIMARY KEY, full_name TEXT NOT NULL, city TEXT NOT NULL, email TEXT);
CREATE TABLE enrolments (
    id INTEGER PRIMARY KEY, course_id INTEGER NOT NULL REFERENCES courses(id),
    member_id INTEGER NOT NULL REFERENCES members(id), enrolled_on DATE NOT NULL);
CREATE TABLE invoices (
    id INTEGER PRIMARY KEY, member_id INTEGER NOT NULL REFERENCES members(id), amount REAL NOT NULL,
    issued_on DATE NOT NULL, paid_on DATE);
INSERT INTO teachers VALUES (1, 'Ada', '11', 30), (2, 'Bo', NULL, 40);
INSERT INTO courses VALUES
    (1, 'Clay', 1, 'North', 100, '2024-01-10', '2024-03-10'), (2, 'Dance', 1, 'South', 60, '2024-02-01', NULL),
    (3, 'Paint', NULL, 'North', 80, '2024-03-01', '2025-07-01'),
    (4, 'Glass', 2, 'South', 90, '2025-02-01', '2025-09-01');
INSERT INTO members VALUES (1, 'Max', 'Bonn', 'm@example.com'), (2, 'Nia', 'Bonn', NULL), (3, 'Oli', 'Kiel', NULL);
INSERT INTO enrolments VALUES (1, 1, 1, '2024-01-02'), (2, 2, 1, '2024-01-12'), (3, 2, 2, '2024-01-22');
INSERT INTO invoices VALUES
    (1, 1, 100, '2024-01-01', '2024-01-11'), (2, 1, 50, '2024-02-01', '2024-02-21'), (3, 2, 30, '2024-02-05', NULL);
"""

BAKERY = """
CREATE TABLE emp (emp_id INTEGER PRIMARY KEY, f_name TEXT NOT NULL, sal REAL NOT NULL);
CREATE TABLE cust (
    cust_id INTEGER PRIMARY KEY, cust_nm TEXT NOT NULL, acct_mgr_id INTEGER REFERENCES emp(emp_id));
CREATE TABLE ord_hdr (
    ord_no INTEGER PRIMARY KEY, cust_id INTEGER NOT NULL REFERENCES cust(cust_id), ord_dt DATE NOT NULL);
CREATE TABLE ord_line (
    ord_no INTEGER NOT NULL REFERENCES ord_hdr(ord_no), line_no INTEGER, qty INTEGER, unit_prc REAL,
    PRIMARY KEY (ord_no, line_no));
CREATE TABLE inv (inv_no INTEGER PRIMARY KEY, ord_no INTEGER REFERENCES ord_hdr(ord_no), amt REAL NOT NULL);
INSERT INTO emp VALUES (1, 'Eva', 10), (2, 'Fay', 40);
INSERT INTO cust VALUES (1, 'Cafe', 1), (2, 'Hotel', 2), (3, 'Bar', NULL);
INSERT INTO ord_hdr VALUES (1, 1, '2024-05-02'), (2, 1, '2024-05-20'), (3, 2, '2024-04-01');
INSERT INTO ord_line VALUES (1, 1, 2, 5), (2, 1, 1, 5), (3, 1, 9, 1);
INSERT INTO inv VALUES (1, 1, 10);
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with databases_to_ask(tmp_path_factory.mktemp("studio"), {"studio": STUDIO, "bakery": BAKERY}) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("courses in the north room: title, price", [("Clay", 100), ("Paint", 80)]),
        ("which members are from bonn? name and email please", [("Max", "m@example.com"), ("Nia", None)]),
        ("courses that are pricier than the average course, with price", [("Clay", 100), ("Glass", 90)]),
        ("members in bonn (full name, city)", [("Max", "Bonn"), ("Nia", "Bonn")]),
        ("which courses cost over 85? I want title, the teacher and room", [("Clay", "Ada", "North"),
                                                                           ("Glass", "Bo", "South")]),
        ("the course with the most enrolments, and how many", [("Dance", 2)]),
        ("invoices not paid yet: invoice number, member and amount", [(3, "Nia", 30)]),
        ("members per city, with the number", [("Bonn", 2), ("Kiel", 1)]),
        ("which member paid the most money", [("Max",)]),
    ],
)  # fmt: skip
def test_lists_behind_a_question_say_what_to_show(asked: Asked, question: str, expected: Rows) -> None:
    assert sorted(asked.rows("studio", question), key=str) == sorted(expected, key=str)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many days pass on average until an invoice is paid", [(15,)]),
        ("in average how many days do members take to pay an invoice?", [(15,)]),
        ("how many courses are running today", [(2,)]),
        ("how many courses are not running", [(1,)]),
        ("what does a course cost on average", [(82.5,)]),
        ("what do all the invoice amounts add up to", [(180,)]),
        ("which invoices are not paid yet?", [(3,)]),
        ("what percent of the courses are by ada", [(50,)]),
        ("of all courses, what percent is in the north room?", [(50,)]),
    ],
)
def test_figures_as_people_ask_for_them(asked: Asked, question: str, expected: Rows) -> None:
    assert asked.rows("studio", question) == expected


@pytest.mark.parametrize("word", ["mobile", "depart", "phony"])
def test_a_word_that_only_resembles_a_column_is_not_passed_over(asked: Asked, word: str) -> None:
    sure = asked.reading("studio", "how many members are from bonn")
    other = asked.reading("studio", f"how many {word} members are from bonn")
    assert sure.confidence >= STATED_DOUBT
    assert other.sql != sure.sql or other.confidence < STATED_DOUBT


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many orders did we get last month", [(2,)]),
        ("customers who have never placed an order", [("Bar",)]),
        ("employees earning more than the average salary", [("Fay",)]),
    ],
)
def test_short_names_and_headers_of_orders(asked: Asked, question: str, expected: Rows) -> None:
    assert asked.rows("bakery", question) == expected


def test_how_many_sales_counts_and_adds_no_money(tmp_path_factory: pytest.TempPathFactory) -> None:
    takings = """
    CREATE TABLE shop_takings (day DATE, item TEXT, qty INTEGER, price REAL, paid_by TEXT, staff TEXT);
    INSERT INTO shop_takings VALUES ('2024-05-02', 'Milk', 2, 1.2, 'card', 'Ann'),
        ('2024-05-03', 'Bread', 1, 2, 'cash', 'Bob'), ('2024-05-03', 'Cheese', 3, 4.5, 'card', 'Ann');
    """
    with databases_to_ask(tmp_path_factory.mktemp("takings"), {"takings": takings}) as opened:
        assert opened.rows("takings", "how many sales were paid by card") == [(2,)]
        assert opened.rows("takings", "total sales paid by card") == [(15.9,)]
