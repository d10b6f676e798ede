"""What a statement returns is evidence on the reading that it came from."""

from __future__ import annotations

from sqlglot import exp, parse_one

from agent.knowledge.values import ValueIndex
from agent.parser import read
from agent.parser.execution_probe import looker
from eval.databases import Database
from eval.schema import Schema
from tests.asked import TODAY


def parse(sql: str) -> exp.Expression:
    tree = parse_one(sql)
    assert isinstance(tree, exp.Expression)
    return tree


def test_runs_only_what_the_guard_lets_through(library: Database) -> None:
    look = looker(library)
    assert look(parse("SELECT title FROM book WHERE price > 1000"))["result empty"] == 1
    assert look(parse("DELETE FROM book")) == {}
    assert look(parse("SELECT nothing FROM nowhere")) == {}
    assert look(parse("SELECT COUNT(*) FROM book"))["result zero"] == 0


def test_an_empty_result_makes_a_reading_less_sure(library: Database, schema: Schema, values: ValueIndex) -> None:
    question = "Which members are older than 90?"
    blind = read(question, schema, values, today=TODAY, threshold=0.0)
    seeing = read(question, schema, values, today=TODAY, threshold=0.0, look=looker(library))
    assert seeing.sql == blind.sql
    assert seeing.features["result empty"] == 1
    assert seeing.confidence < blind.confidence
