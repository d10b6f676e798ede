"""Follow-ups: each line of `fixtures/parser/followups.jsonl` is made whole as written there;
and a question that was confirmed is answered from memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from agent.knowledge.memory.examples import Example
from agent.knowledge.values import ValueIndex, value_index
from agent.models.protocol import SqlRequest
from agent.parser import OfflineModel
from agent.parser.dialogue import completed
from agent.parser.follow_up import restate
from agent.parser.model import recalled
from agent.runtime.catalogue import resolve_database
from agent.state import QueryTask
from eval.databases import Database, open_database
from eval.schema import Schema
from tests.jsonl import read_lines
from tests.pairs import FIXTURES, rows
from tests.pairs import values as values_of

_PAIRS = read_lines(FIXTURES / "parser/followups.jsonl")


@dataclass(frozen=True)
class Said:
    question: str
    sql: str = ""


@dataclass(frozen=True)
class Demo:
    schema: Schema
    values: ValueIndex


@pytest.fixture(scope="module")
def demos() -> Iterator[dict[str, Demo]]:
    with (
        open_database(resolve_database("shop").url) as shop,
        open_database(resolve_database("enterprise").url) as large,
    ):
        opened = {"shop": shop, "enterprise": large}
        yield {name: Demo(d.schema(), value_index(d, d.schema())) for name, d in opened.items()}


@pytest.mark.parametrize("pair", _PAIRS, ids=[f"{p['before'][:30]} | {p['question'][:30]}" for p in _PAIRS])
def test_makes_the_question_whole(pair: dict[str, str], demos: dict[str, Demo]) -> None:
    demo = demos[pair["db"]]
    assert restate(pair["question"], [Said(pair["before"])], demo.schema, demo.values) == pair["standalone"]


def test_the_last_turn_counts(demos: dict[str, Demo]) -> None:
    earlier = [Said("How many customers are there?"), Said("How many orders were placed in 2024?")]
    assert restate("and 2023?", earlier, demos["shop"].schema) == "How many orders were placed in 2023?"


def test_a_name_that_no_index_knows_takes_the_place_of_the_statement_s_constant(demos: dict[str, Demo]) -> None:
    before = Said("customers from France", "SELECT first_name FROM customers WHERE country = 'France'")
    assert restate("what about Canada?", [before], demos["shop"].schema) == "customers from Canada"


@pytest.mark.parametrize(
    "text", ["", "?", "'; --", "them " * 50, "and\x00by", "é" * 300, "and " * 70, "top 99999999999"]
)
def test_never_raises(text: str, demos: dict[str, Demo]) -> None:
    demo = demos["shop"]
    restated = restate(text, [Said("How many orders were placed in 2024?")], demo.schema, demo.values)
    assert restated is None or isinstance(restated, str)
    assert isinstance(restate("and by status?", [Said(text)], demo.schema, demo.values), str | None)


def test_what_reads_better_by_itself_stands_alone(demos: dict[str, Demo]) -> None:
    demo = demos["shop"]
    for before, question in (
        ("orders that were cancelled in march 2024", "avg delivery time by country"),
        ("cheapest products first", "which employee sold the most"),
    ):
        assert completed(question, [Said(before)], demo.schema, demo.values) is None


KNOWN = [Example(question, sql) for question, sql in rows("parser/confirmed.jsonl")]


@pytest.mark.parametrize(("question", "sql"), rows("parser/recalled.jsonl"))
def test_answers_in_the_same_words(schema: Schema, values: ValueIndex, question: str, sql: str) -> None:
    known = recalled(question, KNOWN, schema, values)
    assert known.sql == sql
    assert known.reasoning.startswith("as in the confirmed question “")


@pytest.mark.parametrize("question", values_of("parser/not_recalled.jsonl"))
def test_recalls_nothing_that_may_be_meant_otherwise(schema: Schema, values: ValueIndex, question: str) -> None:
    assert recalled(question, KNOWN, schema, values) is None


async def test_the_engine_answers_from_memory_and_says_so(library: Database, schema: Schema) -> None:
    question = "how loyal are members from York?"
    task = QueryTask(id="task_1", description=question)
    verified = tuple((e.question, e.sql) for e in KNOWN)
    reply = await OfflineModel(library).write_sql(SqlRequest(question, task, "sqlite", "", schema, verified=verified))
    assert reply.sql == "SELECT COUNT(*) FROM member WHERE city = 'York' AND age > 9"
    said = "as in the confirmed question “How loyal are members from Leeds?”, with “York” for “Leeds”"
    assert reply.reasoning == said
    again = SqlRequest(question, task, "sqlite", "", schema, verified=verified, feedback="wrong", attempt=2)
    assert (await OfflineModel(library).write_sql(again)).sql != reply.sql
