"""A small shop with its schema, and files of examples and terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from tests.writing import sqlite_file

TABLES = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, segment TEXT, city TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), status TEXT, total REAL,
                     ordered_on TEXT);
INSERT INTO customers VALUES (1, 'Ana', 'A', 'Porto'), (2, 'Bo', 'B', 'Lyon'), (3, 'Dai', 'A', 'Lyon');
INSERT INTO orders VALUES (1, 1, 'paid', 20.5, '2024-01-05'), (2, 2, 'cancelled', 9, '2024-02-05');
"""


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
