"""Files asked through the whole agent: what the rows and the amounts of a file are, found in its cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from text2sql import run

_CASH_BOOK = """Date,Description,Category,Amount
2024-01-02,Opening grant,Income,2500.00
2024-01-05,Hall hire,Venue,-120.00
2024-01-11,Tea and biscuits,Catering,-34.50
2024-01-20,Membership fees,Income,480.00
2024-02-02,Hall hire,Venue,-120.00
2024-02-09,Printing,Publicity,(66.20)
2024-02-25,Raffle,Income,143.75
"""
_VOTES = """Ward,Candidate,Party,Votes
Elm Park,Susan Hale,Green,812
,Tom Baxter,Labour,640
,Ali Reza,Independent,95
Harbour,Jane Lister,Green,456
,Colin Frost,Labour,389
All wards,,,2392
"""
_ORDERS = """order,customer,amount
1,Ann,20
2,Ann,-5
3,Bob,35
4,Bob,12
5,Cay,8
"""


@pytest.mark.parametrize(
    ("name", "text", "question", "answer"),
    [
        ("cash", _CASH_BOOK, "how much was spent", 340.7),
        ("cash", _CASH_BOOK, "how much was spent on venue", 240.0),
        ("cash", _CASH_BOOK, "how much did we spend in february", 186.2),
        ("cash", _CASH_BOOK, "how much went out in january", 154.5),
        ("cash", _CASH_BOOK, "how much did we earn", 3123.75),
        ("cash", _CASH_BOOK, "total amount", 2783.05),
        ("cash", _CASH_BOOK, "total income", 3123.75),
        ("orders", _ORDERS, "total amount", 70.0),
        ("votes", _VOTES, "how many candidates in Harbour", 2),
        ("votes", _VOTES, "votes per ward", {"Elm Park": 1547, "Harbour": 845}),
    ],
)
async def test_the_answer_is_what_the_file_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, question: str, answer: Any
) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / f"{name}.csv"
    file.write_text(text)

    found = await run(question, database=file, model="offline")

    assert found.status == "success", found.answer
    if isinstance(answer, dict):
        assert dict(found.rows) == answer
    else:
        [[value]] = found.rows
        assert float(value) == pytest.approx(answer)


async def test_who_won_is_no_list_of_all_who_stood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path / "cache"))
    file = tmp_path / "votes.csv"
    file.write_text(_VOTES)

    found = await run("who won in Harbour", database=file, model="offline")

    assert found.status != "success"
