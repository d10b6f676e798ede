"""A confirmed question is answered from memory the next time, with its values exchanged."""

from __future__ import annotations

import pytest

from agent.knowledge.memory.examples import Example
from agent.knowledge.values import ValueIndex
from agent.models.protocol import SqlRequest
from agent.parser import OfflineModel
from agent.parser.recall import recalled
from agent.state import QueryTask
from eval.databases import Database
from eval.schema import Schema
from tests.pairs import rows
from tests.pairs import values as values_of

KNOWN = (
    Example("How loyal are members from Leeds?", "SELECT COUNT(*) FROM member WHERE city = 'Leeds' AND age > 9"),
    Example("best readers of 2023", "SELECT id FROM loan WHERE loaned_on >= '2023-01-01' AND loaned_on < '2024-01-01'"),
    Example("cheap books under 10", "SELECT title FROM book WHERE price < 10 LIMIT 10"),
    Example("busy days last month", "SELECT loaned_on FROM loan WHERE loaned_on >= '2024-05-01'"),
    Example("books worth it", "SELECT title FROM book WHERE price < 15"),
    Example("gone", "SELECT title FROM no_such_table"),
)  # fmt: skip


@pytest.mark.parametrize(("question", "sql"), rows("parser/recalled.jsonl"))
def test_answers_in_the_same_words(schema: Schema, values: ValueIndex, question: str, sql: str) -> None:
    known = recalled(question, KNOWN, schema, values)
    assert known is not None
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
    assert (
        reply.reasoning == "as in the confirmed question “How loyal are members from Leeds?”, with “York” for “Leeds”"
    )
    again = SqlRequest(question, task, "sqlite", "", schema, verified=verified, feedback="wrong", attempt=2)
    assert (await OfflineModel(library).write_sql(again)).sql != reply.sql
