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


def written(tmp_path: Path, rows: list[list[Any]], formats: dict[str, str] | None = None) -> list[str]:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    for cell, form in (formats or {}).items():
        sheet[cell].number_format = form
    book.save(tmp_path / "a.xlsx")
    [(path, _)] = sheets_as_csv(tmp_path / "a.xlsx", "a.xlsx", tmp_path, Bounds(1000, 50))
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("value", "form", "seen"),
    [
        (123, "00000", "00123"),
        (45, '"INV-"0000', "INV-0045"),
        (7, "\\Q0", "Q7"),
        (123456789, "000-00-0000", "123-45-6789"),
        (5551234567, "(###) ###-####", "(555) 123-4567"),
        (5.5, '0.0" kg"', "5.5 kg"),
        (5, '#,##0 "EUR"', "5 EUR"),
        (12.5, "[$€-407]#,##0.00", "€12.5"),
        (0.25, "0%", "25%"),
        (1500000, '0.0,,"M"', "1500000"),
        (1200, "#,##0_);(#,##0)", "1200"),
        (1500, "0.00E+00", "1500"),
        (3, '0"x"', "3"),
        (5, "General", "5"),
        (dt.timedelta(days=1, minutes=90), "[h]:mm", "25.5 h"),
        (dt.timedelta(minutes=90, seconds=30), "[mm]:ss", "90.5 min"),
        (dt.datetime(2024, 5, 1), "mmm yyyy", "2024-05-01"),
    ],
)
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
