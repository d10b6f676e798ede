"""Cells of a workbook become what a person sees in them, for all rows that are there."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from agent.sources.tabular.stage import Bounds
from agent.sources.workbook import sheets_as_csv
from tests.pairs import rows


def written(tmp_path: Path, lines: list[list[Any]], formats: dict[str, str] | None = None) -> list[str]:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in lines:
        sheet.append(row)
    for cell, form in (formats or {}).items():
        sheet[cell].number_format = form
    book.save(tmp_path / "a.xlsx")
    [(path, _)] = sheets_as_csv(tmp_path / "a.xlsx", "a.xlsx", tmp_path, Bounds(1000, 50))
    return path.read_text(encoding="utf-8").splitlines()


TIMES = [
    (dt.timedelta(days=1, minutes=90), "[h]:mm", "25.5 h"),
    (dt.timedelta(minutes=90, seconds=30), "[mm]:ss", "90.5 min"),
    (dt.datetime(2024, 5, 1), "mmm yyyy", "2024-05-01"),
]


@pytest.mark.parametrize(("value", "form", "seen"), [*rows("imports/cells.jsonl"), *TIMES])
def test_a_cell_is_what_is_seen(tmp_path: Path, value: Any, form: str, seen: str) -> None:
    assert written(tmp_path, [["x"], [value]], {"A2": form}) == ["x", seen]


def test_formulas_without_values_are_marked(tmp_path: Path) -> None:
    assert written(tmp_path, [["n", "total"], [2, "=A2*3"], [4, "=A3*3"]]) == ["n,total", "2,#CALC!", "4,#CALC!"]


def test_a_declared_range_is_not_believed(tmp_path: Path) -> None:
    written(tmp_path, [["city", "sales"], ["Bonn", 1], ["Kiel", 2], ["Ulm", 3]])
    with zipfile.ZipFile(tmp_path / "a.xlsx") as whole, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as short:
        for name in whole.namelist():
            data = whole.read(name)
            short.writestr(name, data.replace(b'ref="A1:B4"', b'ref="A1:A2"') if "sheet1" in name else data)
    [(path, _)] = sheets_as_csv(tmp_path / "b.xlsx", "b.xlsx", tmp_path, Bounds(1000, 50))
    assert path.read_text(encoding="utf-8").splitlines() == ["city,sales", "Bonn,1", "Kiel,2", "Ulm,3"]
