"""Small databases, written as scripts, that the parser's tests ask by name."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import duckdb

from agent.knowledge.values import ValueIndex, value_index
from agent.parser import Reading, read
from agent.parser.execution_probe import looker
from eval.databases import Database, open_database
from tests import writing

TODAY = dt.date(2024, 6, 15)
Rows = list[tuple[object, ...]]


def rows_of(database: Database, sql: str) -> Rows:
    """What a statement returns, with fractions to two places."""
    return [tuple(round(x, 2) if isinstance(x, float) else x for x in row) for row in writing.rows_of(database, sql)]


class Asked:
    """Databases to ask, by name, on 15 June 2024."""

    def __init__(self, databases: Mapping[str, tuple[Database, ValueIndex]]) -> None:
        self._databases = databases

    def database(self, name: str) -> tuple[Database, ValueIndex]:
        return self._databases[name]

    def reading(self, name: str, question: str, threshold: float | None = 0.0, today: dt.date = TODAY) -> Reading:
        database, index = self._databases[name]
        return read(question, database.schema(), index, today=today, look=looker(database), threshold=threshold)


@contextmanager
def databases_to_ask(folder: Path, scripts: Mapping[str, str]) -> Iterator[Asked]:
    """Databases made of these scripts, by their names: of DuckDB where the name ends so, of SQLite else."""
    for name, script in scripts.items():
        if name.endswith(".duckdb"):
            with duckdb.connect(folder / name) as connection:
                connection.execute(script)
        else:
            writing.sqlite_file(folder / f"{name}.sqlite", script)
    with ExitStack() as opened:
        databases = {}
        for path in folder.iterdir():
            database = opened.enter_context(open_database(path))
            databases[path.name.removesuffix(".sqlite")] = (database, value_index(database, database.schema()))
        yield Asked(databases)
