"""What a statement returns is evidence on the reading that it came from."""

from __future__ import annotations

import re
from pathlib import Path

from sqlglot import exp, parse_one

from agent.knowledge.values import ValueIndex
from agent.parser import doubts, read
from agent.parser.doubts import DOUBTS
from agent.parser.execution_probe import looker
from agent.parser.implausible import _CHECKS
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


_SOURCES = {path.name: path.read_text(encoding="utf-8") for path in Path(doubts.__file__).parent.rglob("*.py")}
_STATED = re.compile(r"(?:\.doubt\(|doubts=\(|settled=\()((?:\s*\"[a-z_]+\",?)+)")


def test_the_doubts_that_rules_state_are_registered() -> None:
    stated = {name for text in _SOURCES.values() for m in _STATED.finditer(text) for name in re.findall(r"\w+", m[1])}
    stated |= _CHECKS.keys()
    assert len(stated) > 35
    assert stated - DOUBTS.keys() == set()


def test_no_doubt_is_registered_that_nothing_states() -> None:
    others = "".join(text for name, text in _SOURCES.items() if name != "doubts.py")
    assert [name for name in DOUBTS if f'"{name}"' not in others] == []
