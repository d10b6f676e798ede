"""Files asked through the whole agent: what the rows and the amounts of a file are, found in its cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from text2sql import Answer, run

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

_RENT = """Flat,Tenant,Rent pcm,Deposit held?
1A,J. Osei,£850.00,Y
1B,Petra Novak,£900.00,Yes
2A,,£875.00,N
2B,Tom Grey,"£1,020.00",yes
"""
_SURVEY = """Timestamp,Would you come again?,How satisfied are you (1-5)?
2024/05/01 9:12:00,Yes,5
2024/05/01 10:40:00,Maybe,3
2024/05/02 14:05:00,Yes,4
2024/05/02 15:30:00,No,2
"""
_STOCK = """sku,item,on hand,unit cost
A-1,Hex bolt,1200,0.08
A-2,Wing nut,90,0.05
B-7,Wood glue,14,6.20
"""
_FLIGHTS = """flight,destination,delay
BA12,Madrid,15
BA14,Rome,0
U251,Paris,5
"""
_TICKETS = """ticket id,opened,closed,agent,customer
T1,2024-01-02,2024-01-03,Sue,Acme
T2,2024-01-03,2024-01-05,Kim,Bolt
T3,2024-01-08,,Bob,Acme
T4,2024-02-01,2024-02-02,Kim,Crux
T5,2024-02-11,,Bob,Acme
T6,2024-02-15,2024-02-16,Sue,Bolt
T7,2024-02-17,,Bob,Bolt
T8,2024-02-19,2024-02-21,Kim,Bolt
"""
_PLOTS = """plot,holder,size (sq m),annual fee
1,Jo Bell,125 sq m,£40
2,Ed Gray,250 sq m,£75
4,Pat Lowe,60 sq m,£22.50
"""
_PAYROLL = """name,dept,salary
Ann Lee,Sales,52000
Raj Shah,IT,71500
Tim Orr,IT,64000
"""
_CALLS = """agent,date,calls taken,calls missed
Ron,2024-06-03,42,3
Uma,2024-06-03,38,1
Ron,2024-06-04,40,6
"""
_METER = """reading date,site,kWh
2024-01-31,Depot,"12,450"
2024-02-29,Depot,"11,020"
2024-02-29,Office,"2,950"
"""
_RACE = """Pos,Runner,Time
1,Owen Price,34:12
2,Jade Lowe,35:40
3,Rhys Cole,58:55
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all questions, so that each file is read once."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture(autouse=True)
def _own_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(folder / "cache"))


async def asked(folder: Path, name: str, text: str, question: str) -> Answer:
    file = folder / f"{name}.csv"
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
    return await run(question, database=file, model="offline")


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
        ("rent", _RENT, "total rent", 3645.0),
        ("rent", _RENT, "highest rent", 1020.0),
        ("rent", _RENT, "how many deposits are held", 3),
        ("survey", _SURVEY, "how many would come again", 2),
        ("tickets", _TICKETS, "how many open tickets", 3),
        ("plots", _PLOTS, "biggest plot", 2),
        ("meter", _METER, "kwh in february", 13970),
        ("votes", _VOTES, "how many candidates in Harbour", 2),
        ("votes", _VOTES, "votes per ward", {"Elm Park": 1547, "Harbour": 845}),
    ],
)
async def test_the_answer_is_what_the_file_means(
    folder: Path, name: str, text: str, question: str, answer: Any
) -> None:
    found = await asked(folder, name, text, question)

    assert found.status == "success", found.answer
    if isinstance(answer, dict):
        assert dict(found.rows) == answer
    else:
        [[value, *_]] = found.rows
        assert value == (answer if isinstance(answer, str) else pytest.approx(answer))


@pytest.mark.parametrize(
    ("name", "text", "question"),
    [
        ("votes", _VOTES, "who won in Harbour"),
        ("stock", _STOCK, "stock value"),
        ("stock", _STOCK, "how many wing nuts do we have"),
        ("flights", _FLIGHTS, "how many flights were delayed"),
        ("flights", _FLIGHTS, "how many flights are still out"),
        ("race", _RACE, "average time"),
        ("payroll", _PAYROLL, "total payroll"),
        ("calls", _CALLS, "how many calls"),
        ("calls", _CALLS, "calls per day"),
    ],
)
async def test_what_a_file_does_not_say_is_never_answered_without_a_doubt(
    folder: Path, name: str, text: str, question: str
) -> None:
    found = await asked(folder, name, text, question)

    assert found.status != "success", found.sql
