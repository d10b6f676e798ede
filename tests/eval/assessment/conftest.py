"""A small database with its tasks as JSON lines, so that an assessment takes a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.jsonl import write_lines
from tests.pairs import FIXTURES, rows
from tests.writing import sqlite_file

QUESTIONS = rows("assessment/questions.jsonl")
STORE = (FIXTURES / "assessment/store.sql").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `tasks.jsonl` and `databases/store.sqlite`."""
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "databases").mkdir()
    sqlite_file(folder / "databases" / "store.sqlite", STORE)
    lines = [
        {"id": i, "db": "store", "question": q, "gold_sql": sql, "difficulty": level} for i, q, sql, level in QUESTIONS
    ]
    write_lines(folder / "tasks.jsonl", lines)
    return folder


@pytest.fixture(scope="session")
def golds() -> dict[str, str]:
    return {task_id: sql for task_id, _, sql, _ in QUESTIONS}
