"""`python -m agent.batch link`: the linked part of each question's structure, one JSON line each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from eval.tasks import demo_path
from tests import commands


def linked(folder: Path, lines: list[str], *options: str) -> list[dict[str, Any]]:
    words = ("-m", "agent.batch", "link", "--databases", folder, "--quiet", *options)
    done = commands.run(*words, input="\n".join(lines) + "\n", check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_line_gets_its_tables_columns_values_and_tokens_or_an_error(tmp_path: Path) -> None:
    for name in ("shop", "enterprise"):
        shutil.copy(demo_path(name), tmp_path / f"{name}.sqlite")
    asked = [
        '{"id": 1, "db": "shop", "question": "How many shipped orders are there?"}',
        '{"id": 2, "db": "enterprise", "question": "Which stores have the largest floor area?"}',
        "no json",
        '{"id": 3, "db": "gone", "question": "x"}',
        '{"id": 4, "db": "shop"}',
    ]
    small, large, *bad = linked(tmp_path, asked)

    assert list(small) == ["id", "tables", "columns", "values", "tokens", "tokens_full"]
    assert small["tokens"] == small["tokens_full"]
    assert len(small["tables"]) == 8
    assert {"text": "shipped", "table": "orders", "column": "status", "value": "shipped"} in small["values"]
    assert "dim_store.floor_area_sqm" in large["columns"]
    assert large["tokens"] <= 0.4 * large["tokens_full"]
    assert ["error" in line for line in bad] == [True, True, True]
    assert [line["id"] for line in bad if "id" in line][-2:] == [3, 4]
    (short,) = linked(tmp_path, asked[:1], "--budget", "80")
    assert short["tokens"] <= 80
