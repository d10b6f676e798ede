"""Small databases to read questions against: a library with its schema and value index, and those of all trades."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.knowledge.values import ValueIndex, value_index
from agent.parser import Reading, execution_probe, read
from eval.databases import Database, open_database
from eval.schema import Dialect, Schema
from tests.asked import TODAY, Asked, databases_to_ask
from tests.writing import sqlite_file

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "parser"


@pytest.fixture(autouse=True)
def _patient_look_ups(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a reading sees of the rows does not hang on how busy the machine is."""
    monkeypatch.setattr(execution_probe, "_LIMITS", replace(execution_probe._LIMITS, seconds=30.0))
    monkeypatch.setattr(execution_probe, "_BUDGET_MS", 30_000.0)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    script = (FIXTURES / "library.sql").read_text(encoding="utf-8")
    path = sqlite_file(tmp_path_factory.mktemp("library") / "library.sqlite", script)
    with open_database(str(path)) as database:
        yield database


@pytest.fixture(scope="session")
def schema(library: Database) -> Schema:
    return library.schema()


@pytest.fixture(scope="session")
def values(library: Database, tmp_path_factory: pytest.TempPathFactory) -> ValueIndex:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return value_index(library, library.schema())


@pytest.fixture
def ask(schema: Schema, values: ValueIndex) -> Callable[..., Reading]:
    """Read a question against the library, on a fixed day."""

    def _ask(question: str, dialect: Dialect = "sqlite", threshold: float | None = None) -> Reading:
        return read(question, schema, values, dialect, today=TODAY, threshold=threshold)

    return _ask


@pytest.fixture(scope="session")
def everyday(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """The databases of `fixtures/parser/everyday`, by their files' names; `visits` in both engines."""
    scripts = {path.stem: path.read_text(encoding="utf-8") for path in sorted((FIXTURES / "everyday").glob("*.sql"))}
    scripts["visits.duckdb"] = scripts["visits"]
    with databases_to_ask(tmp_path_factory.mktemp("everyday"), scripts) as opened:
        yield opened
