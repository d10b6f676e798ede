"""Questions to a file as people type them: who did most, how much of a column, what rows and things are."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.knowledge.values import value_index
from agent.parser import read
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from agent.sources.files import open_files
from eval.sql import check, parse

_CALLS = """call_id,handled_at,engineer,customer,status,minutes
1,2024-03-01,Ola,Brix,resolved,10
2,2024-03-02,Ola,Brix,open,15
3,2024-04-02,Pia,Dorn,resolved,50
4,2024-04-05,Ola,Dorn,resolved,20
5,2024-04-09,Pia,Brix,open,5
6,2024-04-10,Ola,Brix,open,5
"""
_RUNS = """Runner,Team,Races,Points,Distance,Load
Ada,North,3,12,10 km,61 kg
Bo,North,4,9,12 km,82 kg
Cy,South,5,15,8 km,75 kg
Di,South,2,3,21 km,90 kg
"""
_ACCOUNT = """Date,Transaction type,Details,Paid out,Paid in,Postage
2024-01-03,CARD,Rent,500.00,,2.00
2024-01-09,BANK,Wages,,900.00,
2024-02-03,CARD,Rent,500.00,,2.00
2024-02-09,CARD,Food,25.50,,1.50
2024-02-10,CARD,Food,24.50,,
2024-02-11,BANK,Wages,,80.00,
"""
_FORM = """Submitted,Which course did you take?,Would you recommend it to others?,How useful was the material for you?
2024-03-01,Knots,Yes,4
2024-03-02,Knots,No,2
2024-03-02,Sails,Yes,5
2024-03-04,Sails,Not sure,3
2024-03-05,Sails,Yes,4
"""
_TESTS = """Sample ID,Method,Result,Flag,Taken
S1,Lead,4.5,H,2024-05-01
S1,Zinc,1.5,,2024-05-02
S2,Lead,5.5,H,2024-05-03
S2,Zinc,2.5,,2024-05-04
S2,Zinc,3.5,,2024-06-04
"""
_KENNEL = """Dog;Breed;Owner;Arrived;Nights;Total;Paid?
Bella;Labrador;Kim, Sue;03.01.2025;3;75,00;yes
Max;Poodle;Ito, Ken;04.01.2025;1;25,00;y
Luna;Labrador;Kim, Sue;10.01.2025;5;112,50;no
Rex;Beagle;Diaz, Ana;11.01.2025;1;25,00;Yes
Max;Poodle;Ito, Ken;02.02.2025;7;140,00;N
Coco;Beagle;Smith, Jo;03.02.2025;2;50,00;yes
Bella;Labrador;Kim, Sue;14.02.2025;2;50,00;no
"""
_LOANS = """book,reader,branch,borrowed_on,returned_on
Dune,Eva,East,2024-01-02,2024-01-09
Dune,Finn,East,2024-01-12,
Emma,Eva,West,2024-02-02,2024-02-09
Dune,Eva,West,2024-02-12,
Emma,Finn,West,2024-02-20,2024-03-01
"""
_STOCK = """Plant,Height (cm),Price,In stock,Views
Fern,40,£3.50,TRUE,12
Rose,310,£7.25,FALSE,80
Lime,150,£9.00,TRUE,33
"""
_REPS = """Rep,Quarter,Deals,Takings
Abe,Q1,3,100
Bea,Q1,5,200
Abe,Q2,4,300
Bea,Q2,1,50
"""
_FINES = """Plate,Client,Measured at,Fine,Total,Closing date
A1,Ann,2024-01-04,£35,£40,2024-03-01
B2,Bob,2024-01-09,£70,£80,2024-03-20
C3,Bob,2024-02-02,£35,£45,2024-04-05
"""
_WEEK = """Room,Mon,Tue,Wed
Hall,18,19,21
Loft,22,20,25
"""
_FILES = {
    "room readings": _WEEK, "cars": "car,cylinder,weight\na,4,900\nb,4,1100\nc,6,2000\n",
    "parking fines": _FINES,
    "plants": _STOCK, "sales reps": _REPS,
    "support calls": _CALLS, "club": _RUNS, "account 2024": _ACCOUNT, "Course feedback (Responses)": _FORM,
    "kit": "Item,Condition,How Paid,Amount\nLaptop,In use,Card,10\nLaptop,In storage,Cash,20\nPhone,In use,Card,30\n",
    "lab results": _TESTS, "loans": _LOANS, "kennel": _KENNEL,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all questions, so that each file is read once."""
    made = tmp_path_factory.mktemp("files")
    for name, text in _FILES.items():
        (made / f"{name}.csv").write_text(text, encoding="utf-8")
    return made


def answered(folder: Path, file: str, question: str) -> tuple[list[tuple[object, ...]], float, str]:
    return answered_from(folder / f"{file}.csv", folder / "cache", question)


def answered_from(path: Path, cache: Path, question: str) -> tuple[list[tuple[object, ...]], float, str]:
    with open_files(path, str(cache), lambda _: None) as database:
        schema = database.schema()
        reading = read(question, schema, value_index(database, schema), look=looker(database), threshold=0.0)
        statement = check(parse(reading.sql, schema.dialect)).statement
        assert statement is not None, reading
        return list(database.execute(statement).rows), reading.confidence, reading.sql


@pytest.mark.parametrize(
    ("file", "question", "wanted"),
    [
        ("club", "who got the fewest points", "Di"),
        ("account 2024", "how much was paid in in February", 80.0),
        ("account 2024", "how much was paid out in total", 1050.0),
        ("lab results", "how many samples are there", 2),
        ("kit", "how many laptops are in use", 1),
        ("kit", "how much in total", 60),
        ("plants", "most viewed plant", "Rose"),
        ("sales reps", "how much takings did we make", 650),
        ("room readings", "average Mon", 20.0),
        ("room readings", "average tuesday", 19.5),
        ("kennel", "total", 477.5),
        ("kennel", "total for Sue Kim", 237.5),
        ("kennel", "total revenue of Ken Ito", 165.0),
    ],
)
def test_plain_questions_to_a_file_are_answered(folder: Path, file: str, question: str, wanted: object) -> None:
    rows, confidence, sql = answered(folder, file, question)

    if isinstance(wanted, set):
        assert wanted == {row[0] for row in rows}, sql
    else:
        assert [row[0] for row in rows] == [wanted], sql
    assert confidence >= STATED_DOUBT


@pytest.mark.parametrize(
    ("file", "question"),
    [
        # kinds, or rows
        ("support calls", "average minutes per visit"),  # nothing is called a visit
        ("support calls", "total minutes per support"),  # a word of the file's name, and no column
        ("support calls", "who spent the most minutes"),  # an engineer, or a customer
    ],
)
def test_what_may_be_meant_in_two_ways_is_told(folder: Path, file: str, question: str) -> None:
    _, confidence, sql = answered(folder, file, question)

    assert confidence < STATED_DOUBT, sql


def test_a_cylinder_is_no_car(folder: Path) -> None:
    """What the rows are called stays, where a number in front says which rows are meant."""
    rows, _, sql = answered(folder, "cars", "average weight of 4 cylinder cars")
    assert rows == [(1000.0,)], sql
