"""Figures asked of files as offices export them: no number that the file does not hold."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.config import settings
from agent.runner import Answer, run
from agent.sources.files import open_files
from tests.pairs import rows


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
async def test_what_is_open_in_a_file_is_told_with_each_answer(
    tmp_path: Path, content: str, question: str, told: str | None
) -> None:
    answer = await asked(tmp_path, question, {"file": content})
    open_ = [doubt for doubt in answer.doubts if "in the file" in doubt or "several units" in doubt]
    assert open_ == ([told] if told else [])
    assert not told or answer.status == "doubtful"


async def test_the_unit_of_the_file_stands_with_the_figure(tmp_path: Path) -> None:
    answer = await asked(tmp_path, "total cost by vehicle", {"rentals": MIXED})
    assert answer.units == ["", "$"]
