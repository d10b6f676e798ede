"""Every question of `fixtures/parser/library_questions.sql` is read as the SQL below it, and that SQL runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.parser import Reading
from eval.databases import Database
from eval.schema import Schema
from eval.sql import check, parsed_from_tree, resolve

_FILE = Path(__file__).resolve().parents[2] / "fixtures" / "parser" / "library_questions.sql"


def _pairs() -> list[tuple[str, str]]:
    blocks = _FILE.read_text(encoding="utf-8").strip().split("\n\n")
    pairs = []
    for block in blocks:
        question, _, expected = block.partition("\n")
        pairs.append((question.removeprefix("-- "), expected))
    return pairs


@pytest.mark.parametrize(("question", "expected"), _pairs(), ids=[q[:60] for q, _ in _pairs()])
def test_reads_as_written(
    question: str, expected: str, ask: Callable[..., Reading], library: Database, schema: Schema
) -> None:
    if expected.startswith("abstains: "):
        reading = ask(question)
        assert reading.abstained
        assert reading.sql == ""
        assert reading.interpretation == expected.removeprefix("abstains: ")
        return
    reading = ask(question, threshold=0.0)
    assert reading.sql == expected
    assert reading.tree is not None
    parsed = parsed_from_tree(reading.tree, "sqlite")
    assert resolve(parsed, schema).phantoms == ()
    verdict = check(parsed)
    assert verdict.statement is not None
    assert library.execute(verdict.statement).ok


def test_answers_most_of_them_with_confidence(ask: Callable[..., Reading]) -> None:
    expected = [question for question, sql in _pairs() if not sql.startswith("abstains: ")]
    answered = [question for question in expected if not ask(question).abstained]
    assert len(answered) / len(expected) >= 0.75
