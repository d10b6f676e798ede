"""JSON whose rows are no list of objects becomes one object a line; figures stay as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.sources.tabular.json_records import as_records

ROWS = [{"city": "Bonn", "n": 1}, {"city": "Kiel", "n": 2}]


@pytest.mark.parametrize(
    ("held", "rows"),
    [
        ({"status": "ok", "results": ROWS}, ROWS),
        ({"data": {"page": 1, "items": ROWS, "links": [{"next": 2}]}}, ROWS),
        ([["city", "n"], ["Bonn", 1], ["Kiel", 2]], ROWS),
        ([["Bonn", 1], ["Kiel", 2]], [{"1": "Bonn", "2": 1}, {"1": "Kiel", "2": 2}]),
        ({"columns": ["city", "n"], "data": [["Bonn", 1], ["Kiel", 2]]}, ROWS),
        ({"fields": [{"name": "city"}, {"name": "n"}], "rows": [["Bonn", 1], ["Kiel", 2]]}, ROWS),
        ({"city": ["Bonn", "Kiel"], "n": [1, 2]}, ROWS),
        ({"city": {"0": "Bonn", "1": "Kiel"}, "n": {"0": 1, "1": 2}}, ROWS),
        (
            {"x": {"city": "Bonn", "n": 1}, "y": {"city": "Kiel", "n": 2}},
            [{"key": "x", **ROWS[0]}, {"key": "y", **ROWS[1]}],
        ),
        ({"city": "Bonn", "n": 18446744073709551617}, [{"city": "Bonn", "n": "18446744073709551617"}]),
    ],
)
def test_rows_are_found(tmp_path: Path, held: Any, rows: list[dict[str, Any]]) -> None:
    (tmp_path / "a.json").write_text(json.dumps(held), encoding="utf-8")
    written = as_records(tmp_path / "a.json", tmp_path)
    assert written is not None
    assert [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()] == rows


@pytest.mark.parametrize("text", ['[{"a": 1}]', '{"a": 1}\n{"a": 2}\n', "[1, 2", "[1, 2, 3]", "", "[" * 5000])
def test_what_needs_no_rewriting_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert as_records(tmp_path / "a.json", tmp_path) is None
