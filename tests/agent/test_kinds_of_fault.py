"""Faults that people report of such tools, a kind by many small files (`fixtures/kinds/files.jsonl`): numbers kept as
text, codes that look like numbers, letters of other encodings, totals among rows, JSON of any shape.

A case holds where the rows are right and sure, or where it may be doubtful and says so. No wrong row is ever sure;
what a file does not say is never answered without a doubt.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.config import Settings
from agent.runner import run
from agent.runtime.catalogue import close_all
from tests.jsonl import read_lines
from tests.writing import sqlite_file, write

CASES = read_lines(Path(__file__).parents[1] / "fixtures" / "kinds" / "files.jsonl")


def _made(folder: Path, case: dict[str, Any]) -> Path:
    path = folder / case["file"]
    if "sqlite" in case:
        return sqlite_file(path, case["sqlite"])
    if "duckdb" in case:
        write(f"duckdb:///{path}", *case["duckdb"].split("; "))
    else:
        path.write_bytes(case["text"].encode(case.get("encoding", "utf-8")))
    return path


def _alike(a: object, b: object) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-4)
    return a == b


def _same(rows: list[list[object]], wanted: list[list[object]]) -> bool:
    """Whether the rows are the same in any order."""
    pairs = zip(sorted(rows, key=str), sorted(wanted, key=str), strict=False)
    return len(rows) == len(wanted) and all(
        len(row) == len(right) and all(map(_alike, row, right)) for row, right in pairs
    )


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    close_all()


@pytest.mark.parametrize("case", CASES, ids=[f"{c['kind'].replace(' ', '-')}-{c['file']}" for c in CASES])
async def test_a_kind_of_fault_is_right_or_told(tmp_path: Path, case: dict[str, Any]) -> None:
    config = Settings.model_validate({"TEXT2SQL_CACHE_DIR": str(tmp_path / "cache")})
    path = str(_made(tmp_path, case))
    for question, wanted, *also in case["asked"]:
        answer = await run(question, database=path, model="offline", settings=config)
        told = (question, answer.status, answer.rows, answer.answer)
        if wanted is None:
            assert answer.status != "success", told
        else:
            assert answer.status in ("success", *also), told
            assert answer.status == "doubtful" or _same(answer.rows, wanted), told
