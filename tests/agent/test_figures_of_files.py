"""Figures asked of files as offices export them: no number that the file does not hold."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.config import settings
from agent.runner import run
from agent.sources.files import open_files, open_list

UMSATZ = (
    "Umsatzbericht 2023;;;\nFiliale;Region;Umsatz;Datum\nMitte;Nord;1.234,50;03.01.2023\n"
    "Hafen;Nord;2.000,00;14.02.2023\nAltstadt;Süd;500,25;20.03.2023\nGesamt;;3.734,75;\n* vorläufig;;;\n"
)
UTLEIE = (
    "Rental No;Customer;Price (kr);Returned\n0001;Ida;1 250,50;Ja\n0002;Ola;80,00;Nei\n0003;Kari;(40,00);Ja\n"
    "0004;Per;310,00;ja\n0005;Ida;n/a;Nei\n"
)
LEDGER = 'Account,Amount,Posted\nTravel,"1,200.00-",03-Jan-22\nHotels,300.00,14-Jan-22\nSoftware,950.00-,02-Feb-23\n'


@pytest.mark.parametrize(
    ("name", "content", "question", "figure"),
    [
        ("umsatz", UMSATZ, "total Umsatz", 3734.75),  # the figure is called as its table is: not a count of rows
        ("umsatz", UMSATZ, "how many Umsatz are there?", 3),
        ("ledger", LEDGER, "total amount", -1850),
        ("rentals", UTLEIE, "how many rentals were returned", 3),  # a yes in another language is a yes
        ("rentals", UTLEIE, "total price", 1600.5),
    ],
)
async def test_the_figure_is_of_the_file(tmp_path: Path, name: str, content: str, question: str, figure: float) -> None:
    path = tmp_path / f"{name}.csv"
    path.write_text(content, encoding="utf-8")
    database = await asyncio.to_thread(open_files, path, str(tmp_path / "cache"), lambda _: None)
    try:
        answer = await run(question, database=database, model="offline", settings=settings())
    finally:
        await asyncio.to_thread(database.close)
    assert [list(row) for row in answer.rows or ()] == [[figure]]


async def test_a_question_across_two_files_joins_them(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("order_id,customer_id,amount\n1,1,5\n2,2,7\n3,1,8\n4,3,10\n5,2,20\n")
    (tmp_path / "customers.csv").write_text("id,city\n1,Rome\n2,Oslo\n3,Rome\n4,Bonn\n")
    files = [tmp_path / "orders.csv", tmp_path / "customers.csv"]
    database = await asyncio.to_thread(open_list, files, str(tmp_path / "cache"), lambda _: None)
    try:
        answer = await run("total amount by city", database=database, model="offline", settings=settings())
    finally:
        await asyncio.to_thread(database.close)
    assert {tuple(row) for row in answer.rows or ()} == {("Rome", 23), ("Oslo", 27)}
