"""Faults that people report of such tools, a kind by many small files (`fixtures/kinds/files.jsonl`): numbers kept as
text, codes that look like numbers, letters of other encodings, totals among rows, JSON of any shape.

A case holds where the rows are right and sure, or where it may be doubtful and says so. No wrong row is ever sure;
what a file does not say is never answered without a doubt.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent.config import Settings, settings
from agent.inspection.examples import answered, examples_of
from agent.runner import Answer, run
from agent.runtime.catalogue import close_all
from agent.sources.files import open_files
from tests.jsonl import read_lines
from tests.pairs import rows
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


async def asked(folder: Path, question: str, files: dict[str, str]) -> Answer:
    """The offline engine's answer from CSV files of these names and contents."""
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    paths = [folder / f"{name}.csv" for name in files]
    given = paths[0] if len(paths) == 1 else paths
    database = await asyncio.to_thread(open_files, given, str(folder / "cache"), lambda _: None)
    try:
        return await run(question, database=database, model="offline", settings=settings())
    finally:
        await asyncio.to_thread(database.close)


async def test_a_question_across_two_files_joins_them(tmp_path: Path) -> None:
    orders = "order_id,customer_id,amount\n1,1,5\n2,2,7\n3,1,8\n4,3,10\n5,2,20\n"
    customers = "id,city\n1,Rome\n2,Oslo\n3,Rome\n4,Bonn\n"
    answer = await asked(tmp_path, "total amount by city", {"orders": orders, "customers": customers})
    assert {tuple(row) for row in answer.rows or ()} == {("Rome", 23), ("Oslo", 27)}


MIXED = (
    "Rental,Vehicle,Picked up,Cost,Share\n1,Van,03/04/2022,$120,4.5%\n2,Car,01/05/2022,$80,0.03\n"
    "3,Van,07/06/2022,$150,7%\n"
)


@pytest.mark.parametrize(("content", "question", "told"), rows("kinds/open_figures.jsonl"))
async def test_what_is_open_in_a_file_is_told(tmp_path: Path, content: str, question: str, told: str | None) -> None:
    answer = await asked(tmp_path, question, {"file": content})
    open_ = [doubt for doubt in answer.doubts if "in the file" in doubt or "several units" in doubt]
    assert open_ == ([told] if told else [])
    assert not told or answer.status == "doubtful"


async def test_the_unit_of_the_file_stands_with_the_figure(tmp_path: Path) -> None:
    answer = await asked(tmp_path, "total cost by vehicle", {"rentals": MIXED})
    assert answer.units == ["", "$"]


@pytest.mark.parametrize(("name", "text", "questions"), rows("kinds/small_files.jsonl"))
async def test_examples_of_a_file_were_answered(tmp_path: Path, name: str, text: str, questions: int) -> None:
    """Columns called by one letter say nothing, so fewer can be asked."""
    path = tmp_path / f"{name}.csv"
    path.write_text(text, encoding="utf-8")
    database = await asyncio.to_thread(open_files, path, str(tmp_path / "cache"), lambda _: None)
    try:
        config = settings()
        made = await asyncio.to_thread(examples_of, database, database.schema(), "full", config.judging)
        kept = await answered(made, partial(run, database=database, model="offline", settings=config))
    finally:
        database.close()
    assert len(kept) == questions, (made, kept)
