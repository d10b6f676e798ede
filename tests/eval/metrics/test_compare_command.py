"""`python -m eval.batch compare`: lines in, figures out."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from eval.batch import app
from tests.writing import sqlite_file


def test_each_line_gets_its_figures_and_a_bad_one_an_error(tmp_path: Path) -> None:
    script = "CREATE TABLE item (id INTEGER, price REAL); INSERT INTO item VALUES (1, 2.5), (2, 4);"
    sqlite_file(tmp_path / "shop.sqlite", script)
    gold = "SELECT SUM(price) FROM item"
    lines = [
        {"id": "a", "db": "shop", "gold_sql": gold, "sql": "SELECT TOTAL(price) FROM item"},
        {"id": "b", "db": "shop", "gold_sql": gold, "sql": "SELECT MAX(price) FROM item"},
        {"id": "c", "db": "nowhere", "gold_sql": gold, "sql": gold},
    ]
    words = ["compare", "--databases", str(tmp_path), "--quiet"]
    done = CliRunner().invoke(app, words, input="".join(json.dumps(line) + "\n" for line in lines))
    first, second, third = map(json.loads, done.stdout.splitlines())
    right = {"va": True, "em": False, "ex": True, "bird_ex": True, "ts": None, "gold_error": None, "error": None}
    assert first == {"id": "a", **right}
    assert second == {"id": "b", **right, "ex": False, "bird_ex": False}
    assert third["id"] == "c"
    assert third["error"]
