"""Both demo databases, built once for each test process."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from eval.tasks import demo_path


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demos")


@pytest.fixture(scope="session")
def shop(demo_folder: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(demo_path("shop", demo_folder))) as connection:
        yield connection


@pytest.fixture(scope="session")
def enterprise(demo_folder: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(demo_path("enterprise", demo_folder))) as connection:
        yield connection
