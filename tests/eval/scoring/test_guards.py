"""The guards say in words what a question's form asks of its query, and leave the query as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring.guards import advice
from tests.pairs import rows


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


@pytest.mark.parametrize(("guard", "question", "sql"), rows("scoring/each_guard_speaks.jsonl"))
def test_each_guard_speaks(fleet: Database, guard: str, question: str, sql: str) -> None:
    advised = advice(examine(Query(question, sql), fleet))

    assert guard in {one.guard for one in advised}
    assert all(one.text.endswith(".") for one in advised)


def test_the_guards_are_content_with_what_is_asked_for(fleet: Database) -> None:
    assert advice(examine(Query("How many ships are there?", "SELECT COUNT(*) FROM ships"), fleet)) == ()
    assert advice(examine(Query("anything", "not sql at all"), fleet)) == ()
