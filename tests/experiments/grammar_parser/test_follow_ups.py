"""Follow-ups as edits of the plan before: what each kind of words changes, and which questions stand alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from agent.knowledge.values import ValueIndex, value_index
from agent.runtime.catalogue import resolve_database
from eval.databases import open_database
from eval.language.tokens import tokenize
from eval.schema import Schema
from experiments.grammar_parser.dialogue import FollowUp, follow_up, restate
from experiments.grammar_parser.dialogue.follow_up import maker
from experiments.grammar_parser.dialogue.fragment import Maker
from experiments.grammar_parser.dialogue.links import links
from experiments.grammar_parser.plan.algebra import Aggregate, Column, Compare, Constant, OneOf, Order, Select

FIRST, LAST = Column("customers", "first_name"), Column("customers", "last_name")
COUNTRY, PRICE = Column("customers", "country"), Column("products", "price")
FRENCH = Select((FIRST, LAST), ("customers",), (OneOf(COUNTRY, ("France",)),))
BY_COUNTRY = Select((COUNTRY, Aggregate("count", table="customers")), ("customers",), group=(COUNTRY,))
CHEAPEST = Select((Column("products", "name"),), ("products",), order=(Order(PRICE),), limit=1)
DEAR = Select((Column("products", "name"),), ("products",), (Compare(PRICE, ">", Constant(50)),))
AVERAGE = Select((Aggregate("avg", PRICE),), ("products",))


@dataclass(frozen=True)
class Shop:
    schema: Schema
    values: ValueIndex
    make: Maker


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    with open_database(resolve_database("shop").url) as database:
        schema = database.schema()
        values = value_index(database, schema)
        yield Shop(schema, values, maker(schema, values))


@pytest.mark.parametrize(
    ("before", "question", "whole"),
    [
        (FRENCH, "what about Italy?", "List the customers whose country is Italy"),
        (FRENCH, "and Spain", "List the customers whose country is Spain"),
        (FRENCH, "how many are there?", "How many customers are there whose country is France?"),
        (FRENCH, "sort by last name",
         "List the customers whose country is France sorted by last name in ascending order"),
        (FRENCH, "with their emails", "List the first name, last name and email of customers whose country is France"),
        (FRENCH, "What are their emails?", "List the email of customers whose country is France"),
        (FRENCH, "only those without orders", "List the customers whose country is France and without orders"),
        (BY_COUNTRY, "by city", "Number of customers by city"),
        (BY_COUNTRY, "the top 3",
         "List the top 3 country of customers and the number of customers by number of customers"),
        (CHEAPEST, "and the most expensive?", "Which product has the highest price?"),
        (CHEAPEST, "the second one", "Which product has the second lowest price?"),
        (DEAR, "more than 80?", "List the products with price more than 80"),
        (DEAR, "how many?", "How many products are there with price more than 50?"),
        (AVERAGE, "and the highest?", "What is the maximum price of products?"),
        (AVERAGE, "per category", "Average price of products by category"),
    ],
)  # fmt: skip
def test_edits_the_plan_before(shop: Shop, before: Select, question: str, whole: str) -> None:
    found = follow_up(question, before, shop.make)
    assert isinstance(found, FollowUp)
    assert found.question == whole


@pytest.mark.parametrize(
    "question",
    [
        "how many suppliers are in Germany",
        "average rating per product",
        "total revenue in 2025",
        "and how many products are out of stock?",
        "top 5 products by price",
        "which country has the fewest customers",
    ],
)
def test_a_question_of_its_own_stays_as_it_is(shop: Shop, question: str) -> None:
    assert follow_up(question, FRENCH, shop.make) is None


def test_nothing_is_edited_without_an_earlier_plan(shop: Shop) -> None:
    assert follow_up("and Italy?", None, shop.make) is None


@pytest.mark.parametrize("question", ["ok thanks", "what percentage is that?", "and " * 200, ""])
def test_words_that_say_nothing_change_nothing(shop: Shop, question: str) -> None:
    assert follow_up(question, FRENCH, shop.make) is None


def test_any_words_end_in_a_plan_or_nothing(shop: Shop) -> None:
    chance = random.Random(7)
    words = "and what about only top 3 sort by price per month without orders in 2024 how many of them first ("
    for _ in range(200):
        question = " ".join(chance.choices(words.split(), k=chance.randint(1, 10)))
        found = follow_up(question, chance.choice([FRENCH, BY_COUNTRY, CHEAPEST, DEAR, AVERAGE]), shop.make)
        assert found is None or found.plan.show


@dataclass(frozen=True)
class Said:
    question: str
    sql: str = ""


def test_restates_after_an_earlier_question(shop: Shop) -> None:
    earlier = [Said("How many products are there?"), Said("customers from France")]
    whole = restate("what about Italy?", earlier, shop.schema, shop.values)
    assert whole == "List the customers whose country is Italy"
    assert restate("what about Italy?", [], shop.schema, shop.values) is None


@pytest.mark.parametrize(
    ("question", "words", "kinds", "refers"),
    [
        ("and what about Italy?", ["italy"], {"swap"}, False),
        ("ok, only those in Rome please", ["those", "in", "rome"], {"join", "narrow"}, True),
        ("For each of those, what is the average?", ["what", "is", "the", "average"], {"each"}, True),
        ("Of these, which are open?", ["which", "are", "open"], set(), True),
        ("customers that bought tea", ["customers", "that", "bought", "tea"], set(), False),
    ],
)
def test_takes_off_the_words_that_link(question: str, words: list[str], kinds: set[str], refers: bool) -> None:
    linked = links(tokenize(question))
    assert (linked.words, linked.kinds, linked.refers) == (words, kinds, refers)
