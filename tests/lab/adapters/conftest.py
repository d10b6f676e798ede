"""A firm of one table with verified questions in four forms, and an endpoint that scripts what two models answer."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.lab.conftest import NAMES

KINDS = {"pay": "What is the pay of {}?", "city": "Where is {}?", "age": "How old is {}?", "desk": "Which desk has {}?"}


def verified() -> list[dict[str, Any]]:
    return [
        {
            "id": f"{name}-{column}",
            "question": text.format(name),
            "gold_sql": f"SELECT {column} FROM people WHERE name = '{name}'",
        }
        for name in NAMES
        for column, text in KINDS.items()
    ]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="session")
def firm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `firm.sqlite` and `verified.jsonl`."""
    folder = tmp_path_factory.mktemp("adapters")
    with closing(sqlite3.connect(folder / "firm.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, pay REAL, city TEXT, age, desk)")
        rows = [(name, 1_000 + n, f"Town {n}", 20 + n, f"D{n}") for n, name in enumerate(NAMES)]
        connection.executemany("INSERT INTO people (name, pay, city, age, desk) VALUES (?, ?, ?, ?, ?)", rows)
    write_lines(folder / "verified.jsonl", verified())
    return folder
