"""The stall on every engine, and on SQLite alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from tests.agent.statements.stall import stall, statements
from tests.writing import write


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgres", "mysql"])
def market(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    if request.param in ("sqlite", "duckdb"):
        url = f"{request.param}:///{tmp_path_factory.mktemp('stall')}/stall.db"
    else:
        url = request.getfixturevalue(f"{request.param}_url")
    with _opened(url) as database:
        yield database


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with _opened(f"sqlite:///{tmp_path_factory.mktemp('stall')}/stall.db") as database:
        yield database


@contextmanager
def _opened(url: str) -> Iterator[Database]:
    write(url, *statements(stall()))
    database = open_database(url)
    yield database
    database.close()
