"""A small shop with its schema, and files of examples and terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from tests.pairs import FIXTURES
from tests.writing import sqlite_file

TABLES = (FIXTURES / "memory/shop.sql").read_text(encoding="utf-8")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Database]:
    with open_database(sqlite_file(tmp_path / "shop.sqlite", TABLES)) as database:
        yield database


@pytest.fixture
def kept(tmp_path: Path) -> Callable[[str, str], Path]:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
