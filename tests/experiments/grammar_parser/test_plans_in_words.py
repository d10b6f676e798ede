"""Plans in words: the reading as the user is told it, and the question that a plan answers, read as that plan again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from agent.knowledge.values import ValueIndex, value_index
from agent.knowledge.vocabulary import Vocabulary, vocabulary
from agent.parser.joins import join_graph
from agent.runtime.catalogue import resolve_database
from eval.databases import Database, open_database
from eval.schema import Schema
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Arithmetic,
    Column,
    Compare,
    Constant,
    DatePart,
    Like,
    Missing,
    OneOf,
    Order,
    Related,
    Scalar,
    Select,
    Within,
)
from experiments.grammar_parser.reading import candidates
from experiments.grammar_parser.reply.explanation import explain
from experiments.grammar_parser.reply.question import asked
from experiments.grammar_parser.sql.builder import Builder
from experiments.grammar_parser.trust import looker

NAME, PRICE = Column("products", "name"), Column("products", "price")
FIRST, LAST, COUNTRY = (Column("customers", c) for c in ("first_name", "last_name", "country"))
DATE, TOTAL, STATUS = (Column("orders", c) for c in ("order_date", "total_amount", "status"))
ORDERS = Aggregate("count", table="orders")
IN_2024 = Within(DATE, dt.date(2024, 1, 1), dt.date(2025, 1, 1))
YEARS = [Within(DATE, dt.date(year, 1, 1), dt.date(year + 1, 1, 1)) for year in (2023, 2024)]
EARLIER, LATER = (Aggregate("sum", TOTAL, where=(year,)) for year in YEARS)
ABOVE_AVERAGE = Compare(PRICE, ">", Scalar(Select((Aggregate("avg", PRICE),), ("products",))))
GROWTH = Arithmetic("/", Arithmetic("*", Constant(100.0), Arithmetic("-", LATER, EARLIER)), EARLIER)

PLANS = [
    (Select((ORDERS,), ("orders",), (IN_2024,)),
     "order, only order date from 2024-01-01 to 2024-12-31, number of orders",
     "How many orders are there with order date in 2024?"),
    (Select((NAME,), ("products",), order=(Order(PRICE),), limit=1),
     "product, product name, by product price, lowest first, the first one",
     "Which product has the lowest price?"),
    (Select((FIRST, LAST), ("customers",), (OneOf(COUNTRY, ("France", "Spain")),)),
     "customer, only customer country is France or Spain, customer first name, customer last name",
     "List the customers whose country is France or Spain"),
    (Select((STATUS, ORDERS), ("orders",), group=(STATUS,)),
     "order, order status, number of orders per order status",
     "Number of orders by status"),
    (Select((DatePart(DATE, "month"), Aggregate("sum", TOTAL)), ("orders",), group=(DatePart(DATE, "month"),)),
     "order, month of order date, sum of the order total amount per month of order date",
     "Sum of the total amount of orders by month"),
    (Select((FIRST, LAST), ("customers",), (Related("customers", "orders", negated=True),)),
     "customer, only without order, customer first name, customer last name",
     "List the customers without orders"),
    (Select((NAME, PRICE), ("products",), (ABOVE_AVERAGE,)),
     "product, only product price more than the average product price, product name, product price",
     "List the name and price of products with price more than the average price"),
    (Select((NAME,), ("products",), (Like(NAME, "%tea%"),)),
     "product, only product name like %tea%, product name",
     "List the products whose name contains 'tea'"),
    (Select((GROWTH,), ("orders",)),
     "order, growth in percent of the sum of the order total amount from 2023 to 2024",
     "How did the sum of the total amount of orders change from 2023 to 2024 in percent?"),
]  # fmt: skip


@dataclass(frozen=True)
class Shop:
    database: Database
    schema: Schema
    values: ValueIndex
    words: Vocabulary


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    with open_database(resolve_database("shop").url) as database:
        schema = database.schema()
        values = value_index(database, schema)
        yield Shop(database, schema, values, vocabulary(schema, values.date_forms))


@pytest.mark.parametrize(("plan", "told", "question"), PLANS, ids=[question for _, _, question in PLANS])
def test_says_a_plan_and_its_question(shop: Shop, plan: Select, told: str, question: str) -> None:
    assert explain(plan, shop.words) == told
    assert asked(plan, shop.words) == question


@pytest.mark.parametrize("plan", [plan for plan, _, _ in PLANS], ids=[question for _, _, question in PLANS])
def test_the_question_is_read_as_the_same_rows(shop: Shop, plan: Select) -> None:
    look = looker(shop.database, lambda p: Builder(shop.words, join_graph(shop.words)).build(p))
    read, _ = candidates(asked(plan, shop.words), shop.schema, shop.values)
    mine, theirs = look(plan), look(read[0].plan)
    assert mine is not None
    assert theirs is not None
    assert mine.digest == theirs.digest


def test_notes_follow_the_reading(shop: Shop) -> None:
    plan = Select((FIRST,), ("customers",), (Missing(Column("customers", "phone")),))
    told = "customer, only customer phone is empty, customer first name; phone is optional"
    assert explain(plan, shop.words, ["phone is optional"]) == told
