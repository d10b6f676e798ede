"""The offline engine's reading as a second opinion: on a question, in the batch command, in the gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.batch import app
from agent.parser.second_opinion import second_opinion
from eval.databases import open_database
from tests.writing import sqlite_file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sqlite_file(
        tmp_path / "shop.sqlite",
        "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT);"
        "INSERT INTO customers VALUES (1, 'Ann', 'Lyon'), (2, 'Bob', 'Bath'), (3, 'Eve', 'Lyon');",
    )
    return tmp_path


async def test_what_cannot_be_read_is_no_opinion(folder: Path) -> None:
    with open_database(folder / "shop.sqlite") as database:
        assert await second_opinion("", database, database.schema()) is None
        assert await second_opinion("DROP TABLE customers", database, database.schema()) is None


def scored(folder: Path, *lines: dict[str, object]) -> list[dict[str, object]]:
    text = "".join(json.dumps({"id": i, "db": "shop", **line}) + "\n" for i, line in enumerate(lines))
    ran = CliRunner().invoke(app, ["score", "--quiet", "--databases", str(folder)], input=text)
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_score_tells_right_from_wrong_and_carries_the_id(folder: Path) -> None:
    question = "How many customers are there?"
    right, wrong, refused, bad = scored(
        folder,
        {"question": question, "sql": "SELECT COUNT(*) FROM customers"},
        {"question": question, "sql": "SELECT name FROM customers"},
        {"question": question, "sql": "SELECT 1"},
        {"question": question},
    )
    told = {"id", "score", "correctness", "probability", "passes", "dimensions", "vetoes", "evidence"}
    assert set(right) == told
    assert (right["passes"], wrong["passes"]) == (True, False)
    assert right["score"] >= 0.70 > wrong["score"]  # type: ignore[operator]
    assert any(e["name"] == "second_reading_agrees" for e in right["evidence"])
    assert refused["vetoes"]
    assert refused["score"] < 0.70  # type: ignore[operator]
    assert bad == {"id": 3, "error": "'sql' is missing or not a text"}


def test_opinion_gives_the_reading(folder: Path) -> None:
    line = json.dumps({"id": "a", "db": "shop", "question": "How many customers are there?"})
    ran = CliRunner().invoke(app, ["opinion", "--quiet", "--databases", str(folder)], input=line + "\n")
    read = json.loads(ran.stdout)
    assert read["id"] == "a"
    assert "COUNT(*)" in read["sql"]
