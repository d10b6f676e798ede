"""Whole results as files: read back with other programs' readers, every value as it was."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agent.results import BadRequest, ExtraMissing, Filter, Sort, export
from agent.results.store import KeptResult, SpoolWriter
from tests.pairs import values

COLUMNS: dict[str, list[Any]] = {
    "n": [1, 2, None],
    "text": ['say "hi", ok', "", None],
    "n ": [2**70, -1, None],
    "money": [Decimal("12.50"), Decimal("-0.001"), None],
    "real": [0.1, math.nan, -math.inf],
    "day": [date(2024, 2, 29), date(1850, 1, 1), None],
    "moment": [datetime(2024, 1, 1, 12, 30), datetime(1999, 12, 31, 23, 59, 59, 5), None],
    "zoned": [datetime(2024, 1, 1, tzinfo=UTC), None, None],
    "at": [clock(1, 2, 3), None, None],
    "for": [timedelta(days=1, hours=2), None, None],
    "yes": [True, False, None],
    "raw": [b"\x00\xff", b"", None],
    "list": [[1, "ä"], {"k": None}, None],
    "mixed": ["=1+1", 7, 2.5],
    "none": [None, None, None],
}


def kept(folder: Path, columns: dict[str, list[Any]], truncated: bool = False) -> KeptResult:
    return written(folder, tuple(columns), list(zip(*columns.values(), strict=True)), truncated=truncated)


def written(folder: Path, names: tuple[str, ...], *batches: list[tuple[Any, ...]], truncated: bool = False) -> Any:
    path = folder / "some.result"
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        writer = SpoolWriter(file, names)
        for batch in batches:
            writer.add(batch)
        writer.finish(truncated=truncated)
    return KeptResult.read(path)


@pytest.fixture
def result(tmp_path: Path) -> KeptResult:
    return kept(tmp_path, COLUMNS)


def whole(result: KeptResult, file_format: Any, **options: Any) -> bytes:
    return b"".join(export(result, file_format, **options))


def test_csv_keeps_null_apart_from_empty_text(result: KeptResult) -> None:
    text = whole(result, "csv").decode()
    lines = text.split("\r\n")

    assert lines[0] == 'n,text,"n ",money,real,day,moment,zoned,at,for,yes,raw,list,mixed,none'
    assert lines[1].startswith('1,"say ""hi"", ok",1180591620717411303424,12.50,0.1,2024-02-29,2024-01-01T12:30:00,')
    assert lines[2].startswith('2,"",-1,-0.001,NaN,1850-01-01,')
    assert lines[3] == ",,,,-Infinity,,,,,,,,,2.5,"
    assert lines[4:] == [""]
    assert next(csv.reader(io.StringIO(lines[1])))[9:] == [
        "1 day 02:00:00", "true", "\\x00ff", '[1, "ä"]', "=1+1", "",
    ]  # fmt: skip


def test_csv_for_a_spreadsheet_has_a_mark_and_no_formulas(tmp_path: Path) -> None:
    formulas = values("results/formulas.jsonl")
    texts = [*formulas, "plain", "a=1", " a"]
    result = kept(tmp_path, {"=head": texts, "n": [-1.0] * len(texts)})
    written = whole(result, "csv", bom=True, guard_formulas=True)
    rows = list(csv.reader(io.StringIO(written.decode("utf-8-sig"), newline="")))

    assert written.startswith(b"\xef\xbb\xbf")
    assert [row[0] for row in rows] == ["'=head", *(f"'{text}" for text in formulas), "plain", "a=1", " a"]
    assert {row[1] for row in rows[1:]} == {"-1.0"}
    assert [row[0] for row in csv.reader(io.StringIO(whole(result, "csv").decode(), newline=""))][1:] == texts


def test_json_lines_are_strict_and_name_each_column(tmp_path: Path) -> None:
    result = kept(tmp_path, COLUMNS)
    lines = [json.loads(line, parse_constant=pytest.fail) for line in whole(result, "jsonl").splitlines()]

    assert [line["n"] for line in lines] == [1, 2, None]
    assert lines[0]["raw"] == {"$blob": "AP8=", "size": 2}
    assert lines[1]["real"] == "NaN"
    assert lines[0]["n "] == 2**70


def test_columns_that_share_a_name_are_numbered(tmp_path: Path) -> None:
    result = written(tmp_path, ("a", "a", "a_2", "a"), [(1, 2, 3, 4)])

    assert json.loads(whole(result, "jsonl")) == {"a": 1, "a_3": 2, "a_2": 3, "a_4": 4}
    assert whole(result, "csv") == b"a,a,a_2,a\r\n1,2,3,4\r\n"


def test_parquet_keeps_types(result: KeptResult) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(io.BytesIO(whole(result, "parquet")))

    assert [str(field.type) for field in table.schema] == [
        "int64", "string", "decimal128(22, 0)", "decimal128(5, 3)", "double", "date32[day]", "timestamp[us]",
        "timestamp[us, tz=UTC]", "time64[us]", "duration[us]", "bool", "binary", "string", "string", "string",
    ]  # fmt: skip
    back = table.to_pydict()
    for name in ("n", "text", "money", "day", "moment", "zoned", "at", "for", "yes", "raw", "none"):
        assert back[name] == COLUMNS[name], name
    assert math.isnan(back["real"][1])
    assert back["n "] == [Decimal(2**70), Decimal(-1), None]
    assert back["mixed"] == ["=1+1", "7", "2.5"]


def test_parquet_of_an_empty_result_has_its_columns(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    result = written(tmp_path, ("a", "b"))

    assert pq.read_table(io.BytesIO(whole(result, "parquet"))).column_names == ["a", "b"]
    assert (whole(result, "csv"), whole(result, "jsonl")) == (b"a,b\r\n", b"")
    assert result.page().rows == []


def test_xlsx_opens_elsewhere_and_texts_stay_texts(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    columns = {**COLUMNS, "long": ["x" * 40_000, "http://example.org", "=cmd|' /C calc'!A0"]}
    result = kept(tmp_path, columns, truncated=True)
    book = openpyxl.load_workbook(io.BytesIO(whole(result, "xlsx")))
    first, second, third = list(book["result"].iter_rows(min_row=2))

    assert [cell.value for cell in next(book["result"].iter_rows(max_row=1))] == list(columns)
    assert (first[0].value, first[1].value, first[2].value, first[3].value) == (1, 'say "hi", ok', str(2**70), 12.5)
    assert (second[4].value, third[4].value, second[5].value) == ("NaN", "-Infinity", "1850-01-01")
    assert first[5].value == datetime(2024, 2, 29)
    assert (first[13].value, first[13].data_type) == ("=1+1", "s")
    assert (third[15].value, third[15].data_type) == ("=cmd|' /C calc'!A0", "s")
    assert len(first[15].value) == 32_767
    assert [row[0].value for row in book["notes"].iter_rows()] == [
        "1 texts were cut at 32,767 characters.",
        "The result was truncated at a limit: the query has more rows or longer values.",
    ]


def test_xlsx_says_when_a_sheet_is_too_small(result: KeptResult) -> None:
    huge = result.model_copy(update={"row_count": 1_048_576})
    with pytest.raises(BadRequest, match=r"holds 1,048,576 rows with its header .* this result has 1,048,576 rows"):
        export(huge, "xlsx")


def test_an_export_is_what_the_page_shows(result: KeptResult) -> None:
    sort, filters = [Sort(column=0, descending=True)], [Filter(column=0, op="not null")]
    lines = whole(result, "jsonl", sort=sort, filters=filters).splitlines()

    assert [json.loads(line)["n"] for line in lines] == [2, 1]
    with pytest.raises(BadRequest):
        whole(result, "csv", sort=[Sort(column=99)])


@pytest.mark.parametrize(("file_format", "module"), [("parquet", "pyarrow.parquet"), ("xlsx", "xlsxwriter")])
def test_a_missing_package_is_named(
    result: KeptResult, file_format: Any, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ExtraMissing, match=r"pip install 'askwell\[export\]'"):
        export(result, file_format)


@pytest.mark.parametrize("file_format", ["csv", "jsonl", "xlsx", "parquet"])
def test_leaving_early_cleans_up(tmp_path: Path, file_format: Any) -> None:
    result = kept(tmp_path, {"n": list(range(5000)), "text": [str(n) * 50 for n in range(5000)]})
    exported = whole(result, file_format)
    if file_format in ("csv", "jsonl"):  # the others hold the time of their making
        assert exported == whole(result, file_format)
    assert len(exported) > 10_000

    chunks = export(result, file_format)
    next(chunks)
    chunks.close()

    assert [file.name for file in os.scandir(tmp_path)] == ["some.result"]
