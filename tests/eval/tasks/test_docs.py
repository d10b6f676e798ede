"""docs/demo-databases.md against the definitions: every table with its rows, every relation of the picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eval.tasks import DEMOS, Demo

_PAGE = (Path(__file__).parents[3] / "docs" / "demo-databases.md").read_text(encoding="utf-8")
by_demo = pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.id)


def _section(demo: Demo) -> str:
    return _PAGE.partition(f"\n## {demo.id}\n")[2].partition("\n## ")[0]


@by_demo
def test_the_page_counts_the_rows(demo: Demo) -> None:
    documented = re.findall(r"^\| `(\w+)` \| ([\d,]+) \| (.+) \|$", _section(demo), re.MULTILINE)
    assert documented == [(table.name, f"{len(rows):,}", table.table.comment) for table, rows in demo.rows()]


def test_the_picture_shows_the_foreign_keys() -> None:
    (demo,) = (demo for demo in DEMOS if "erDiagram" in _section(demo))
    drawn = re.findall(r"^    (\w+) (\|\||\|o)--o\{ (\w+) : (\w+)$", _section(demo), re.MULTILINE)
    declared = [
        (key.ref_table, "|o" if table.table.column(key.columns[0]).nullable else "||", table.name, key.columns[0])
        for table in demo.tables
        for key in table.table.foreign_keys
    ]
    assert drawn == declared
