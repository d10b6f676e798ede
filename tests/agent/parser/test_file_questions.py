"""Questions to a file as people type them: who did most, how much of a column, what rows and things are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent.knowledge.values import value_index
from agent.parser import read
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from agent.sources.files import open_files
from eval.sql import check, parse

FILES = Path(__file__).resolve().parents[2] / "fixtures" / "parser" / "files"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all questions, so that each file is read once."""
    made = tmp_path_factory.mktemp("files")
    shutil.copytree(FILES, made, dirs_exist_ok=True)
    return made


def answered(folder: Path, file: str, question: str) -> tuple[list[tuple[object, ...]], float, str]:
    with open_files(folder / f"{file}.csv", str(folder / "cache"), lambda _: None) as database:
        schema = database.schema()
        reading = read(question, schema, value_index(database, schema), look=looker(database), threshold=0.0)
        statement = check(parse(reading.sql, schema.dialect)).statement
        assert statement is not None, reading
        return list(database.execute(statement).rows), reading.confidence, reading.sql


@pytest.mark.parametrize(
    ("file", "question", "rows"),
    [
        ("players", "goals by player", {("Ann", 12), ("Bea", 7), ("Cia", 7), ("Dot", 0), ("Eva", 15)}),
        (
            "players",
            "goals plus assists by player",
            {("Ann", 12, 3), ("Bea", 7, 9), ("Cia", 7, 1), ("Dot", 0, 0), ("Eva", 15, 4)},
        ),
        ("herbs", "price by herb", {("Fern", 12.5), ("Cactus", 5), ("Palm", 60), ("Aloe", 8), ("Ivy", 9.5)}),
        ("herbs", "price by room", {("Hall", 36.25), ("Office", 7.25), ("Kitchen", 8)}),
    ],
)
def test_a_figure_by_a_thing_stands_beside_its_name(
    folder: Path, file: str, question: str, rows: set[tuple[object, ...]]
) -> None:
    told, _, sql = answered(folder, file, question)

    assert {tuple(row) for row in told} == rows, sql


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
        ("players", "which team has the most goals", "Blues"),
        ("herbs", "herbs taller than 50 cm", ("Palm", "Ivy")),
        ("herbs", "herbs taller than 1 m", "Palm"),
        ("herbs", "list herbs by height", ("Cactus", "Aloe", "Fern", "Ivy", "Palm")),
        ("poll", "how many respondents are over 60", 2),
        ("poll", "how many rows", 3),
        ("m", "total amount in March", 9),
        ("m", "total in feb", 7),
        ("jobs", "which agent closed the most jobs", "Ida"),
        ("jobs", "how many urgent jobs did ida close", 1),
        ("jobs", "how many jobs were closed by ola", 1),
        ("jobs", "last job", 5),
        ("jobs", "share of urgent jobs", 60.0),
        ("jobs", "last 2 jobs of ola", (5, 4)),
        ("jobs", "first job of ola", 4),
    ],
)
def test_plain_questions_to_a_file_are_answered(folder: Path, file: str, question: str, wanted: object) -> None:
    rows, confidence, sql = answered(folder, file, question)

    assert [row[0] for row in rows] == list(wanted if isinstance(wanted, tuple) else (wanted,)), sql
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
