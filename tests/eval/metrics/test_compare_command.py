"""`python -m eval.batch compare`: lines in, figures out."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path


def test_each_line_gets_its_figures_and_a_bad_one_an_error(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "shop.sqlite")
    connection.executescript("CREATE TABLE item (id INTEGER, price REAL); INSERT INTO item VALUES (1, 2.5), (2, 4);")
    connection.close()
    gold = "SELECT SUM(price) FROM item"
    lines = [
        {"id": "a", "db": "shop", "gold_sql": gold, "sql": "SELECT TOTAL(price) FROM item"},
        {"id": "b", "db": "shop", "gold_sql": gold, "sql": "SELECT MAX(price) FROM item"},
        {"id": "c", "db": "nowhere", "gold_sql": gold, "sql": gold},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "eval.batch", "compare", "--databases", str(tmp_path), "--quiet"],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
    )
    first, second, third = map(json.loads, done.stdout.splitlines())
    right = {"va": True, "em": False, "ex": True, "bird_ex": True, "ts": None, "gold_error": None, "error": None}
    assert first == {"id": "a", **right}
    assert second == {"id": "b", **right, "ex": False, "bird_ex": False}
    assert third["id"] == "c"
    assert third["error"]
