"""Questions of tables found on the web (`fixtures/parser/found_questions.sql`) are read as the SQL below them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agent.knowledge.values import value_index
from agent.parser import Reading, read
from agent.parser.execution_probe import looker
from eval.databases import open_database
from tests.agent.parser import found_tables

_FILE = Path(__file__).resolve().parents[2] / "fixtures" / "parser" / "found_questions.sql"


def _pairs() -> list[tuple[str, str, str]]:
    pairs = []
    for block in _FILE.read_text(encoding="utf-8").strip().split("\n\n"):
        question, _, expected = block.partition("\n")
        database, _, text = question.removeprefix("-- ").partition(": ")
        pairs.append((database, text, expected))
    return pairs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("found")
    found_tables.make(path)
    return path


def _read(folder: Path, database: str, question: str, threshold: float = 0.0) -> Reading:
    with open_database(str(folder / f"{database}.sqlite")) as opened:
        schema = opened.schema()
        return read(question, schema, value_index(opened, schema), look=looker(opened), threshold=threshold)


@pytest.mark.parametrize(("database", "question", "expected"), _pairs(), ids=[f"{d}: {q}"[:60] for d, q, _ in _pairs()])
def test_reads_as_written(folder: Path, database: str, question: str, expected: str) -> None:
    assert " ".join(_read(folder, database, question).sql.split()) == expected


@pytest.mark.parametrize(
    ("database", "question"),
    [
        ("movies", "which movie won the most oscars"),
        ("airbnb", "which host cancels most often"),
        ("wine", "wines that go well with fish"),
        ("spotify", "best selling used songs"),
        ("taxis", "average current fare"),
    ],
)
def test_what_is_not_stored_is_not_told_for_sure(folder: Path, database: str, question: str) -> None:
    assert _read(folder, database, question).confidence < 0.68


@pytest.mark.parametrize(
    ("database", "question", "named"),
    [("wine", "best wines", "points"), ("movies", "worst movies", "imdb_rating"), ("housing", "small houses", "sqft")],
)
def test_a_vague_word_names_the_figure_that_it_is_taken_for(
    folder: Path, database: str, question: str, named: str
) -> None:
    reading = _read(folder, database, question)
    assert reading.confidence < 0.68
    assert "LIMIT 10" in reading.sql
    assert f"{named}" in reading.interpretation


def test_rows_of_a_file_by_a_yes_or_no_column(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "items.sqlite") as connection:
        connection.execute("CREATE TABLE stock (item TEXT, quantity INTEGER, active TEXT)")
        connection.executemany(
            "INSERT INTO stock VALUES (?, ?, ?)", [("pen", 4, "yes"), ("cup", 9, "no"), ("bag", 2, "yes")]
        )
    connection.close()

    assert _read(tmp_path, "items", "rows where active is yes").sql.endswith("WHERE active = 'yes'")
    assert _read(tmp_path, "items", "how many rows").sql == "SELECT COUNT(*) AS stocks FROM stock"
    assert _read(tmp_path, "items", "show all rows").sql == "SELECT * FROM stock"
    assert _read(tmp_path, "items", "total value of stock").confidence < 0.68
