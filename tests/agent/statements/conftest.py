"""The stall on every engine, and on SQLite alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from tests.agent.statements.stall import stall, statements
from tests.writing import url_on, write


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgres", "mysql"])
def market(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with _opened(url_on(request.param, request, tmp_path_factory.mktemp("stall"))) as database:
        yield database


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with _opened(f"sqlite:///{tmp_path_factory.mktemp('stall')}/stall.db") as database:
        yield database


@contextmanager
def _opened(url: str) -> Iterator[Database]:
    write(url, *statements(stall()))
    with open_database(url) as database:
        yield database
