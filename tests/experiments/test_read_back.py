"""The line "how this was read" says all that its query does: read back from the words alone, it gives the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from eval.metrics.comparison import same_result
from eval.metrics.items import executed
from eval.sql import orders_rows, parse
from eval.tasks.demos import demo_path
from eval.tasks.library import tasks
from experiments.read_back import read_back
from tests.pairs import FIXTURES
from tests.writing import sqlite_file

QUERIES = (FIXTURES / "experiments/read_back_queries.sql").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def firm(tmp_path_factory: pytest.TempPathFactory) -> Database:
    script = (FIXTURES / "experiments/read_back.sql").read_text(encoding="utf-8")
    return open_database(sqlite_file(Path(tmp_path_factory.mktemp("firm")) / "firm.sqlite", script))


def same(sql: str, database: Database) -> bool:
    words, again = read_back(sql, database.schema())
    parsed = parse(sql, "sqlite")
    rows, found = executed(parsed, database), executed(parse(again, "sqlite"), database)
    assert rows.ok, rows.error
    assert found.ok, (words, again, found.error)
    return same_result(rows, found, ordered=orders_rows(parsed))


@pytest.mark.parametrize("sql", QUERIES)
def test_what_is_said_gives_the_same_rows(firm: Database, sql: str) -> None:
    assert same(sql, firm)


@pytest.mark.parametrize("name", ["shop", "enterprise"])
def test_what_is_said_of_the_library_gives_the_same_rows(name: str) -> None:
    with open_database(demo_path(name)) as database:
        wrong = [task.id for task in tasks() if task.database == name and not same(task.gold.sql, database)]
    assert wrong == []
