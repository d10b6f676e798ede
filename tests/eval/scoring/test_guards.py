"""The guards say in words what a question's form asks of its query, and leave the query as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring.evidence_kinds import sign
from eval.scoring.guards import GUARDS, advice


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Database]:
    with sqlite3.connect(tmp_path / "fleet.sqlite") as connection:
        connection.execute("CREATE TABLE ships (id INTEGER PRIMARY KEY, name TEXT, tons REAL, flag TEXT)")
        connection.executemany(
            "INSERT INTO ships (name, tons, flag) VALUES (?, ?, ?)", [("Ida", 4, "FI"), ("Bo", 9, "SE")]
        )
    connection.close()
    with open_database(tmp_path / "fleet.sqlite") as database:
        yield database


@pytest.mark.parametrize(
    ("guard", "question", "sql"),
    [
        ("projection contract", "List the name, flag and tons of ships", "SELECT name, flag FROM ships"),
        ("projection contract", "List the name and tons of ships", "SELECT name, tons, flag, id FROM ships"),
        ("order and limit", "List the names of all ships ordered by tons", "SELECT name FROM ships"),
        ("order and limit", "What are the top 3 ships by tons?", "SELECT name FROM ships ORDER BY tons DESC"),
        ("order and limit", "Who are the top 3 ships by tons?", "SELECT name FROM ships ORDER BY tons DESC LIMIT 2"),
        ("id columns", "List the names of all ships", "SELECT id, name FROM ships"),
        ("minimal projection", "What are the names of the ships?", "SELECT * FROM ships"),
        ("intent", "How many ships are there?", "SELECT name FROM ships"),
        ("intent", "How many ships are there per flag?", "SELECT COUNT(*) FROM ships"),
        ("literals", "Which ships weigh more than 9000 tons?", "SELECT name FROM ships WHERE tons > 5"),
        ("literals", "Which ships have the flag 'FI'?", "SELECT name FROM ships"),
    ],
)
def test_each_guard_speaks(fleet: Database, guard: str, question: str, sql: str) -> None:
    advised = advice(examine(Query(question, sql), fleet))

    assert guard in {one.guard for one in advised}
    assert all(one.text.endswith(".") for one in advised)


def test_the_guards_are_content_with_what_is_asked_for(fleet: Database) -> None:
    assert advice(examine(Query("How many ships are there?", "SELECT COUNT(*) FROM ships"), fleet)) == ()
    assert advice(examine(Query("anything", "not sql at all"), fleet)) == ()


def test_guards_are_made_of_what_can_only_speak_against_a_query() -> None:
    assert all(sign(name) == -1 for names in GUARDS.values() for name in names)
