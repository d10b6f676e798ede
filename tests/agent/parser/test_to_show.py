"""What to show, listed behind a question; durations, states and shares as people ask for them."""

from __future__ import annotations

import pytest

from agent.knowledge.values import EMPTY, ValueIndex
from agent.knowledge.vocabulary import vocabulary
from agent.parser.schema_linking import link
from agent.parser.wording import Known, worded
from agent.runtime.probability import STATED_DOUBT
from eval.language.tokens import tokenize
from eval.schema import Column, Schema, Table
from tests.asked import TODAY, Asked, Rows, databases_to_ask


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
def test_lists_behind_a_question_say_what_to_show(trades: Asked, question: str, expected: Rows) -> None:
    assert sorted(trades.rows("studio", question), key=str) == sorted(expected, key=str)


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
def test_figures_as_people_ask_for_them(trades: Asked, question: str, expected: Rows) -> None:
    assert trades.rows("studio", question) == expected


@pytest.mark.parametrize("word", ["mobile", "depart", "phony"])
def test_a_word_that_only_resembles_a_column_is_not_passed_over(trades: Asked, word: str) -> None:
    sure = trades.reading("studio", "how many members are from bonn")
    other = trades.reading("studio", f"how many {word} members are from bonn")
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
def test_short_names_and_headers_of_orders(trades: Asked, question: str, expected: Rows) -> None:
    assert trades.rows("bakery", question) == expected


def test_how_many_sales_counts_and_adds_no_money(tmp_path_factory: pytest.TempPathFactory) -> None:
    takings = """
    CREATE TABLE shop_takings (day DATE, item TEXT, qty INTEGER, price REAL, paid_by TEXT, staff TEXT);
    INSERT INTO shop_takings VALUES ('2024-05-02', 'Milk', 2, 1.2, 'card', 'Ann'),
        ('2024-05-03', 'Bread', 1, 2, 'cash', 'Bob'), ('2024-05-03', 'Cheese', 3, 4.5, 'card', 'Ann');
    """
    with databases_to_ask(tmp_path_factory.mktemp("takings"), {"takings": takings}) as opened:
        assert opened.rows("takings", "how many sales were paid by card") == [(2,)]
        assert opened.rows("takings", "total sales paid by card") == [(15.9,)]


def test_a_group_begins_with_a_whole_word(trades: Asked) -> None:
    grouped = trades.rows("studio", "how many days pass on average until an invoice is paid per city")
    assert grouped == [("Bonn", 15)]
    dates = (Column(name="issued_on", type="DATE", nullable=False), Column(name="paid_on", type="DATE"))
    schema = Schema(dialect="sqlite", tables=(Table(name="invoices", columns=dates),))
    known = Known(vocabulary(schema), EMPTY, TODAY)
    assert worded("how many days pass until periodic invoices are paid", known).text == "number of invoices"


def test_top_and_bottom_are_no_values() -> None:
    columns = (Column(name="name", type="TEXT"),)
    schema = Schema(dialect="sqlite", tables=(Table(name="shelves", columns=columns),))
    values = ValueIndex([("shelves", "name", ("Bottom", "Top"))])
    for word in ("top", "bottom"):
        found = link(tokenize(f"show the {word} shelves"), vocabulary(schema), values)
        assert not any(item.mention and item.mention.values for item in found), word
