"""Which values a question names and the query lacks: read once a table, again when the data changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval.databases.factory import open_database
from eval.examination import Query, examine
from tests.writing import sqlite_file

QUERY = Query("How many animals are from Peru?", "SELECT COUNT(*) FROM animals")


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    script = "CREATE TABLE animals (id INTEGER PRIMARY KEY, origin TEXT);"
    return sqlite_file(tmp_path / "zoo.sqlite", script + "INSERT INTO animals (origin) VALUES ('Peru'), ('Chad')")


def test_the_texts_of_a_table_are_read_once(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_database(zoo) as database:
        sent: list[str] = []
        execute = database.execute

        def counted(statement: Any, **options: Any) -> Any:
            sent.append(statement.sql)
            return execute(statement, **options)

        monkeypatch.setattr(database, "execute", counted)
        found = [examine(QUERY, database).named for _ in range(3)]

    assert [[v.value for v in named] for named in found] == [["Peru"]] * 3
    assert len(sent) == 3 + 1


def test_changed_data_are_read_again(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.examination.stored_values.SECONDS", 0.0)
    with open_database(zoo) as database:
        assert examine(QUERY, database).named
        sqlite_file(zoo, "UPDATE animals SET origin = 'Mali' WHERE origin = 'Peru'")
        assert examine(QUERY, database).named == ()
