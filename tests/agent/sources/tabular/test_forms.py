"""Files and sheets of the same columns: which are one table, and that a person can decide otherwise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from agent.sources.tabular.plan import Plans, Reading
from agent.sources.tabular.stage import Bounds, as_records
from agent.sources.tabular.tables import File, import_tables
from tests.pairs import rows

MONTH = "Who,Hours\nAnn,3\nBob,4\nCem,5\nDan,2\nTotal,14\n"


def read(folder: Path, texts: Mapping[str, str], book: str = "", before: Reading | None = None) -> Reading:
    files = []
    for number, (name, text) in enumerate(texts.items()):
        (folder / f"raw{number}").write_text(text, encoding="utf-8")
        files.append(File(folder / f"raw{number}", name, "delimited", book))
    (folder / "out").unlink(missing_ok=True)
    return import_tables(files, folder / "out", Bounds(1000, 100), before or Reading(), lambda *_: None, memory=1 << 30)


def fetched(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(folder / "out"), read_only=True) as database:
        return database.execute(sql).fetchall()


@pytest.mark.parametrize(("names", "book", "table", "column", "labels"), rows("imports/parts_of_tables.jsonl"))
def test_parts_of_one_table_are_read_as_one(
    tmp_path: Path, names: list[str], book: str, table: str, column: str, labels: list[str]
) -> None:
    reading = read(tmp_path, dict.fromkeys(names, MONTH), book)

    assert [(t.plan.table, t.plan.forms, t.found.rows) for t in reading.tables] == [(table, "together", 8)]
    counted = fetched(
        tmp_path, f'SELECT "{column}"::VARCHAR, sum("Hours") FROM "{table}" GROUP BY 1 ORDER BY min(rowid)'
    )
    assert counted == [(label, 14) for label in labels]
    assert [row.row for row in reading.tables[0].found.left_out] == [6, 6]


@pytest.mark.parametrize("names", [("Orders", "Returns"), ("Income", "Expenses"), ("Members", "Former members")])
def test_words_of_their_own_are_tables_of_their_own(tmp_path: Path, names: tuple[str, ...]) -> None:
    reading = read(tmp_path, dict.fromkeys(names, MONTH), "shop")

    assert [(t.plan.forms, t.found.rows) for t in reading.tables] == [("apart", 4), ("apart", 4)]


def test_columns_may_stand_in_another_order_and_other_sheets_stay(tmp_path: Path) -> None:
    other = "Hours,Who\n7,Eve\n8,Fay\n"
    notes = "Topic,Text\na,b\nc,d\n"
    reading = read(tmp_path, {"Jan 2024": MONTH, "Notes": notes, "Feb 2024": other}, "book")

    assert [t.plan.table for t in reading.tables] == ["book", "Notes"]
    assert fetched(tmp_path, 'SELECT "Who", "Hours", "Month"::VARCHAR FROM book WHERE "Hours" > 5') == [
        ("Eve", 7, "2024-02-01"),
        ("Fay", 8, "2024-02-01"),
    ]


def test_what_a_person_decides_is_kept(tmp_path: Path) -> None:
    texts = {"Leeds": MONTH, "York": MONTH}

    def again(reading: Reading, first: str) -> Reading:
        plans = [t.plan for t in reading.tables]
        plans[0] = plans[0].model_copy(update={"forms": first})
        return read(tmp_path, texts, "tills", Plans(tables=tuple(plans)).as_reading())

    apart = again(read(tmp_path, texts, "tills"), "apart")
    assert [t.plan.table for t in apart.tables] == ["Leeds", "York"]
    assert [t.plan.table for t in again(apart, "apart").tables] == ["Leeds", "York"]
    assert [t.plan.table for t in again(apart, "together").tables] == ["tills"]


def test_what_was_written_stays_reachable_with_its_file_and_row(tmp_path: Path) -> None:
    read(tmp_path, {"Leeds": MONTH.replace("3", "£3"), "York": MONTH}, "tills")

    written = fetched(tmp_path, 'SELECT "Sheet", "row", "Hours" FROM tills_as_written ORDER BY ALL')
    assert written[0] == ("Leeds", 2, "£3")
    assert written[-1] == ("York", 6, "14")


# --- JSON whose rows are no list of objects ---


ROWS = [{"city": "Bonn", "n": 1}, {"city": "Kiel", "n": 2}]


@pytest.mark.parametrize(("held", "rows"), rows("imports/json_records.jsonl"))
def test_rows_are_found(tmp_path: Path, held: Any, rows: list[dict[str, Any]]) -> None:
    (tmp_path / "a.json").write_text(json.dumps(held), encoding="utf-8")
    written = as_records(tmp_path / "a.json", tmp_path)
    assert written is not None
    assert [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()] == rows


@pytest.mark.parametrize("text", ['[{"a": 1}]', '{"a": 1}\n{"a": 2}\n', "[1, 2", "[1, 2, 3]", "", "[" * 5000])
def test_what_needs_no_rewriting_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert as_records(tmp_path / "a.json", tmp_path) is None
