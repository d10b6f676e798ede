"""A firm of one table with verified questions in four forms, and an endpoint that scripts what two models answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.jsonl import write_lines
from tests.lab.conftest import NAMES
from tests.writing import sqlite_file

KINDS = {"pay": "What is the pay of {}?", "city": "Where is {}?", "age": "How old is {}?", "desk": "Which desk has {}?"}


def verified() -> list[dict[str, Any]]:
    made = []
    for name in NAMES:
        for column, text in KINDS.items():
            gold = f"SELECT {column} FROM people WHERE name = '{name}'"
            made.append({"id": f"{name}-{column}", "question": text.format(name), "gold_sql": gold})
    return made


@pytest.fixture(scope="session")
def firm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `firm.sqlite` and `verified.jsonl`."""
    folder = tmp_path_factory.mktemp("adapters")
    rows = ", ".join(str((name, 1_000 + n, f"Town {n}", 20 + n, f"D{n}")) for n, name in enumerate(NAMES))
    script = "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, pay REAL, city TEXT, age, desk);"
    sqlite_file(folder / "firm.sqlite", script + f"INSERT INTO people (name, pay, city, age, desk) VALUES {rows}")
    write_lines(folder / "verified.jsonl", verified())
    return folder
