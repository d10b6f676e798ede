"""A small library database, its schema and value index, for reading questions against."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.knowledge.values import ValueIndex, value_index
from agent.parser import Reading, read
from eval.databases import Database, open_database
from eval.schema import Dialect, Schema

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "parser"
TODAY = dt.date(2024, 6, 15)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("library") / "library.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript((FIXTURES / "library.sql").read_text(encoding="utf-8"))
    connection.commit()
    connection.close()
    with open_database(str(path)) as database:
        yield database


@pytest.fixture(scope="session")
def schema(library: Database) -> Schema:
    return library.schema()


@pytest.fixture(scope="session")
def values(library: Database, tmp_path_factory: pytest.TempPathFactory) -> ValueIndex:
    return value_index(library, library.schema(), cache_dir=tmp_path_factory.mktemp("cache"))


@pytest.fixture
def ask(schema: Schema, values: ValueIndex) -> Callable[..., Reading]:
    """Read a question against the library, on a fixed day."""

    def _ask(question: str, dialect: Dialect = "sqlite", threshold: float | None = None) -> Reading:
        return read(question, schema, values, dialect, today=TODAY, threshold=threshold)

    return _ask
