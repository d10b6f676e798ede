"""Numbers of an answer that stand in no result are named: the cases of tests/fixtures/grounding/numbers.jsonl."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.grounding import ungrounded_numbers
from agent.state import QueryResult
from tests.clock import unit

LINES = (Path(__file__).parents[2] / "fixtures" / "grounding" / "numbers.jsonl").read_text(encoding="utf-8")
CASES = [json.loads(line) for line in LINES.splitlines()]


def result(rows: list[list[Any]], sql: str = "SELECT x FROM t") -> QueryResult:
    columns = [f"column_{chr(97 + i)}" for i in range(len(rows[0]))] if rows else []
    return QueryResult(
        task_id="t", attempt=1, sql=sql, data=rows, columns=columns, rows_returned=len(rows), status="success"
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_numbers_without_a_source_are_named(case: dict[str, Any]) -> None:
    given_result = result(case["rows"], case.get("sql", "SELECT x FROM t"))
    assert ungrounded_numbers(case["text"], [given_result], case.get("question", "")) == case["loose"]


@given(st.integers(-(10**15), 10**15) | st.floats(-1e9, 1e9))
def test_a_value_of_the_rows_is_always_found(value: float) -> None:
    for written in (f"{value:,}", f"{value:,.2f}", f"{value:.0f}"):
        if "e" not in written:
            assert ungrounded_numbers(f"It is {written} now", [result([[value]])]) == []


def test_long_texts_and_many_rows_take_little_time() -> None:
    rows = [[i, f"text {i}"] for i in range(50_000)]
    started = time.process_time()
    ungrounded_numbers("1,234,567 " * 9000 + "1" * 9000 + "1,111," * 3000, [result(rows)])
    assert time.process_time() - started < 40 * unit()
