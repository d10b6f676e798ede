"""`python -m agent.batch link`: the linked part of each question's structure, one JSON line each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from eval.tasks import demo_path
from tests import commands


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    folder = tmp_path / "databases"
    folder.mkdir()
    for name in ("shop", "enterprise"):
        shutil.copy(demo_path(name), folder / f"{name}.sqlite")
    return folder


def linked(databases: Path, lines: list[str], *options: str) -> list[dict[str, Any]]:
    words = ("-m", "agent.batch", "link", "--databases", databases, "--quiet", *options)
    done = commands.run(*words, input="\n".join(lines) + "\n", check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_line_gets_its_tables_columns_values_and_tokens(databases: Path) -> None:
    asked = [
        {"id": "a", "db": "shop", "question": "How many shipped orders are there?"},
        {"id": "b", "db": "enterprise", "question": "Which stores have the largest floor area?"},
    ]
    small, large = linked(databases, [json.dumps(line) for line in asked])

    assert list(small) == ["id", "tables", "columns", "values", "tokens", "tokens_full"]
    assert small["tokens"] == small["tokens_full"]
    assert len(small["tables"]) == 8
    assert {"text": "shipped", "table": "orders", "column": "status", "value": "shipped"} in small["values"]
    assert "dim_store.floor_area_sqm" in large["columns"]
    assert large["tokens"] <= 0.4 * large["tokens_full"]


def test_a_budget_and_bad_lines(databases: Path) -> None:
    lines = [
        '{"id": 1, "db": "shop", "question": "customers by city"}',
        "no json",
        '{"id": 3, "db": "gone", "question": "x"}',
        '{"id": 4, "db": "shop"}',
    ]
    linked_part = linked(databases, lines, "--budget", "80")

    assert linked_part[0]["tokens"] <= 80
    assert "customers.city" in linked_part[0]["columns"]
    assert [("error" in line) for line in linked_part] == [False, True, True, True]
    assert [line["id"] for line in linked_part if "id" in line][-2:] == [3, 4]
