"""Scoring a file of queries: what the gate says of each, with a judge's relevance or without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.batch import app
from tests.jsonl import as_lines, read_lines
from tests.writing import sqlite_file


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    script = "CREATE TABLE animals (id INTEGER PRIMARY KEY, name TEXT, weight REAL);"
    script += "INSERT INTO animals (name, weight) VALUES ('Ada', 3.0), ('Bo', 7.5)"
    return sqlite_file(tmp_path / "zoo.sqlite", script).parent


def scored(databases: Path, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    return read_lines(CliRunner().invoke(app, ["score", "--databases", str(databases)], input=as_lines(lines)).stdout)


def test_each_line_says_whether_it_passes_and_how_likely_it_is_right(databases: Path) -> None:
    asked = {"db": "zoo", "question": "How many animals are there?"}
    right, wrong = scored(
        databases,
        {"id": 1, **asked, "sql": "SELECT COUNT(*) FROM animals"},
        {"id": 2, **asked, "sql": "SELECT name FROM animals LIMIT 1", "relevance": 1.0},
    )
    assert right["passes"] is True
    assert 0.5 <= right["probability"] <= 1
    assert wrong["passes"] is False
    assert wrong["probability"] < 0.5


def test_relevance_counts_and_is_checked(databases: Path) -> None:
    line = {"db": "zoo", "question": "How many animals are there?", "sql": "SELECT COUNT(*) FROM animals"}
    low, neutral, high, beyond, text = scored(
        databases,
        {"id": 1, **line, "relevance": 0.0},
        {"id": 2, **line},
        {"id": 3, **line, "relevance": 1},
        {"id": 4, **line, "relevance": 1.5},
        {"id": 5, **line, "relevance": "high"},
    )
    assert low["score"] < neutral["score"] < high["score"]
    assert "relevance" in beyond["error"]
    assert "relevance" in text["error"]
