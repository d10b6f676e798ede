"""A small database with its tasks as JSON lines, so that an assessment takes a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.jsonl import write_lines
from tests.writing import sqlite_file

QUESTIONS = [
    ("all", "How many customers are there?", "SELECT COUNT(*) FROM customers", "easy"),
    ("berlin", "Who lives in Berlin?", "SELECT name FROM customers WHERE city = 'Berlin'", "easy"),
    ("oldest", "The oldest first", "SELECT name FROM customers ORDER BY age DESC", "medium"),
    (
        "spent",
        "What did each customer spend?",
        "SELECT c.name, SUM(o.amount) FROM customers AS c JOIN orders AS o ON o.customer_id = c.id GROUP BY c.id",
        "hard",
    ),
]
STORE = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, age INTEGER);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), amount REAL);
INSERT INTO customers VALUES (1, 'Ada', 'Berlin', 36), (2, 'Bob', 'Paris', 50), (3, 'Cem', 'Berlin', 20);
INSERT INTO orders VALUES (1, 1, 10.5), (2, 1, 4.5), (3, 2, 7.25), (4, 3, 1);
"""


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
