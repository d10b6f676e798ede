"""What is looked up in the data: contents against a column's type, and values that a question names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.databases import Database, open_database
from eval.examination import Query, examine
from tests.pairs import rows
from tests.writing import sqlite_file

MADE = """
CREATE TABLE product (name TEXT, price TEXT, code TEXT, sold TEXT, stock INTEGER, clean INTEGER,
  cost TEXT, kg TEXT);
INSERT INTO product VALUES ('pen', '9.50', '0012', '31/01/2024', 5, 1, '$2.00', '8'),
  ('desk', '120.00', '0120', '02/03/2024', 'n/a', 2, '$110.00', 'n/a'),
  ('box', '1250.00', '1200', '15/12/2023', 250, 3, '$20.00', '60');
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with open_database(sqlite_file(tmp_path_factory.mktemp("contents") / "a.sqlite", MADE)) as opened:
        yield opened


@pytest.mark.parametrize(("sql", "told"), rows("examination/what_is_told.jsonl"))
def test_what_is_told(database: Database, sql: str, told: str) -> None:
    contents = examine(Query("?", sql), database).contents
    assert bool(contents) == bool(told)
    assert told in "; ".join(contents)


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
