"""Doubts about readings: each question with the names of its doubts; features with names; what is left out is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from agent.knowledge.values import ValueIndex, value_index
from agent.runtime.catalogue import resolve_database
from agent.runtime.probability import STATED_DOUBT
from eval.databases import Database, open_database
from eval.schema import Schema
from experiments.grammar_parser.plan.algebra import Aggregate, Column, OneOf, Order, Select
from experiments.grammar_parser.reading import candidates
from experiments.grammar_parser.sql.builder import Builder
from experiments.grammar_parser.trust import DOUBTS, View, features, judged, looker, unread

TOTAL, DATE = Column("orders", "total_amount"), Column("orders", "order_date")
FIRST, COUNTRY = Column("customers", "first_name"), Column("customers", "country")


@dataclass(frozen=True)
class Shop:
    database: Database
    schema: Schema
    values: ValueIndex

    def view(self, question: str, plan: Select | None = None) -> View:
        """The first reading of a question, or another plan in its place, with a look at its rows."""
        read, context = candidates(question, self.schema, self.values)
        completed = read[0].completed if plan is None else replace(read[0].completed, plan=plan)
        look = looker(self.database, lambda p: Builder(context.vocabulary, context.graph).build(p))
        return View(completed, context, tuple(c.plan for c in read[1:4]), look)


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    with open_database(resolve_database("shop").url) as database:
        schema = database.schema()
        yield Shop(database, schema, value_index(database, schema))


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("average price of used products", "used"),
        ("how many purple orders in 2024", "purple"),
        ("customers of the volcano", "volcano"),
    ],
)
def test_a_word_that_nothing_consumed_is_named(shop: Shop, question: str, word: str) -> None:
    view = shop.view(question)
    assert word in unread(view).values()
    judgement = judged(view)
    assert judgement.cap < STATED_DOUBT
    assert any(word in finding.sentence for _, finding in judgement.raised)


@pytest.mark.parametrize(
    ("question", "plan", "name"),
    [
        ("average order date", Select((Aggregate("avg", DATE),), ("orders",)), "date_averaged"),
        ("the 5 largest orders", Select((Aggregate("sum", TOTAL),), ("orders",), order=(Order(TOTAL, True),), limit=5),
         "total_of_a_rank"),
        ("customers with 3 orders", Select((FIRST,), ("customers",)), "figure_dropped"),
        ("average price", Select((Column("products", "price"),), ("products",)), "aggregate_open"),
        ("country of customers in France", Select((COUNTRY,), ("customers",), (OneOf(COUNTRY, ("France",)),)),
         "only_named_value_shown"),
        ("amount of orders by category", Select((Column("categories", "name"), Aggregate("sum", TOTAL)),
         ("orders", "order_items", "products", "categories"), group=(Column("categories", "name"),)), "sum_repeated"),
    ],
)  # fmt: skip
def test_a_plan_that_does_not_say_the_question_is_doubted(shop: Shop, question: str, plan: Select, name: str) -> None:
    judgement = judged(shop.view(question, plan))
    assert name in judgement.names
    assert judgement.cap < STATED_DOUBT


@pytest.mark.parametrize(
    "question", ["customers from France", "how many orders per month in 2024", "average price of products"]
)
def test_a_plain_question_has_no_doubt(shop: Shop, question: str) -> None:
    assert judged(replace(shop.view(question), rivals=())).names == ()


def test_a_vague_word_is_answered_and_offers_two_other_measures(shop: Shop) -> None:
    dearest = (Order(Column("products", "price"), True),)
    plan = Select((Column("products", "name"),), ("products",), order=dearest, limit=3)
    judgement = judged(shop.view("the 3 best products", plan))
    assert judgement.names == ("measure_guessed",)
    assert [c.label for c in judgement.choices] == ["total line total", "number of order items"]


def test_a_rival_with_the_same_rows_is_no_doubt(shop: Shop) -> None:
    view = shop.view("customers from France")
    same = replace(view.plan, where=(*view.plan.where, *view.plan.where))
    assert judged(replace(view, rivals=(same,))).names == ()


def test_features_have_names_and_numbers(shop: Shop) -> None:
    view = shop.view("total amount of orders from France")
    seen = features(view, [4.0, 3.8, 1.0], judged(view))
    assert all(isinstance(value, float) for value in seen.values())
    assert (seen["joins"], seen["close rivals"], seen["missed words"], seen["aggregates"]) == (1.0, 1.0, 0.0, 1.0)
    assert seen["result one row"] == 1.0


def test_names_of_doubts_are_words_joined_by_underscores() -> None:
    assert all(doubt.name.replace("_", "").isalpha() and 0 < doubt.cap < STATED_DOUBT for doubt in DOUBTS)
