"""Figures asked of files as offices export them: no number that the file does not hold."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.config import settings
from agent.runner import Answer, run
from agent.sources.files import open_files

UMSATZ = (
    "Umsatzbericht 2023;;;\nFiliale;Region;Umsatz;Datum\nMitte;Nord;1.234,50;03.01.2023\n"
    "Hafen;Nord;2.000,00;14.02.2023\nAltstadt;Süd;500,25;20.03.2023\nGesamt;;3.734,75;\n* vorläufig;;;\n"
)
UTLEIE = (
    "Rental No;Customer;Price (kr);Returned\n0001;Ida;1 250,50;Ja\n0002;Ola;80,00;Nei\n0003;Kari;(40,00);Ja\n"
    "0004;Per;310,00;ja\n0005;Ida;n/a;Nei\n"
)
LEDGER = 'Account,Amount,Posted\nTravel,"1,200.00-",03-Jan-22\nHotels,300.00,14-Jan-22\nSoftware,950.00-,02-Feb-23\n'


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
    answer = await asked(tmp_path, question, {name: content})
    assert [list(row) for row in answer.rows or ()] == [[figure]]


async def test_a_question_across_two_files_joins_them(tmp_path: Path) -> None:
    orders = "order_id,customer_id,amount\n1,1,5\n2,2,7\n3,1,8\n4,3,10\n5,2,20\n"
    customers = "id,city\n1,Rome\n2,Oslo\n3,Rome\n4,Bonn\n"
    answer = await asked(tmp_path, "total amount by city", {"orders": orders, "customers": customers})
    assert {tuple(row) for row in answer.rows or ()} == {("Rome", 23), ("Oslo", 27)}


MIXED = (
    "Rental,Vehicle,Picked up,Cost,Share\n1,Van,03/04/2022,$120,4.5%\n2,Car,01/05/2022,$80,0.03\n"
    "3,Van,07/06/2022,$150,7%\n"
)
CURRENCIES = "Doc,Amount,Curr\n1,10.50,EUR\n2,7.25,USD\n3,20.00,EUR\n"
BATCHES = "batch,yield,line\n1,80,a\n2,low,b\n3,82,a\n4,85,b\n5,pending,a\n6,90,b\n"


@pytest.mark.parametrize(
    ("content", "question", "told"),
    [
        (MIXED, "total cost per month", "“Picked_up” in the file: day and month could also be the other way round."),
        (MIXED, "average share", "“Share” in the file: some cells have no % sign."),
        (BATCHES, "highest yield", "“yield” in the file: stays text: 2 of 6 cells are no numbers."),
        (CURRENCIES, "total amount", "“Amount” is in several units, which “Curr” names."),
        (CURRENCIES, "total amount by curr", None),
        (CURRENCIES.replace("USD", "EUR"), "total amount", None),
        (MIXED, "total cost by vehicle", None),  # no date in it
        (BATCHES, "how many batches", None),
    ],
)
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
