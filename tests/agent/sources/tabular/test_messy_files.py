"""Files as offices export them: each block of `fixtures/imports/messy_files.txt` is a file, the table that it should
become and what should be told (`!` alone: nothing). A number read wrong without a word is the worst import.
Parts of one table are read as one, JSON of any shape and workbooks as a person sees them."""

from __future__ import annotations

import datetime as dt
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest

from agent.cli.session import edited as edited_by_hand
from agent.sources.tabular.layout import likely_encoding
from agent.sources.tabular.plan import ColumnPlan, Plans, Reading, TablePlan, TableReading
from agent.sources.tabular.stage import Bounds, as_records
from agent.sources.tabular.tables import File, import_tables
from agent.sources.tabular.words import notes
from agent.sources.workbook import sheets_as_csv
from eval.databases import open_database
from tests.pairs import FIXTURES, rows


def blocks() -> list[tuple[str, str, list[str]]]:
    """(name, file, expected lines)."""
    found = []
    for block in (FIXTURES / "imports/messy_files.txt").read_text(encoding="utf-8").split("\n# "):
        name, _, rest = block.removeprefix("# ").partition("\n")
        text, _, expected = rest.partition("\n=>\n")
        found.append((name, text + "\n", expected.strip().splitlines()))
    return found


def imported(
    folder: Path, data: bytes, before: Reading | None = None, bounds: Bounds | None = None
) -> tuple[list[str], Reading]:
    """The table as lines, and how it was read."""
    (folder / "raw").write_bytes(data)
    (folder / "out").unlink(missing_ok=True)
    kind = "json" if data.startswith(b"{") else "delimited"
    bounds = bounds or Bounds(100_000, 100)
    file = File(folder / "raw", "t", kind)
    reading = import_tables([file], folder / "out", bounds, before or Reading(), lambda *_: None, memory=1 << 30)
    with duckdb.connect(str(folder / "out"), read_only=True) as database:
        columns = database.execute("DESCRIBE t").fetchall()
        rows = database.execute("SELECT * FROM t").fetchall()
    shown = ["NULL" if value is None else str(value) for row in rows for value in row]
    lines = [" | ".join(shown[i : i + len(columns)]) for i in range(0, len(shown), len(columns))]
    return [" | ".join(f"{c[0]} {c[1]}" for c in columns), *lines], reading


@pytest.mark.parametrize(("name", "text", "expected"), blocks(), ids=[name for name, _, _ in blocks()])
def test_a_messy_file_is_read_as_an_analyst_would(tmp_path: Path, name: str, text: str, expected: list[str]) -> None:
    table, reading = imported(tmp_path, text.encode())

    told = "\n".join(notes(reading))
    assert table == [line for line in expected if not line.startswith("!")], told
    for words in (line[1:].strip() for line in expected if line.startswith("!")):
        assert words in told if words else told == ""


def edited(reading: Reading, header: str, **changes: object) -> Reading:
    [table] = reading.tables
    columns = tuple(
        c.model_copy(update={**changes, "decided": True}) if c.header == header else c for c in table.plan.columns
    )
    plan = table.plan.model_copy(update={"columns": columns})
    return Reading(tables=(TableReading(plan=plan, found=table.found),))


def test_periods_stay_side_by_side_where_a_person_says_so(tmp_path: Path) -> None:
    data = b"who,Q1,Q2,Q3\na,1,2,3\n"
    table, first = imported(tmp_path, data)
    assert table[1:] == ["a | Q1 | 1", "a | Q2 | 2", "a | Q3 | 3"]

    table, again = imported(tmp_path, data, Plans(tables=edited_by_hand(first, "columns")).as_reading())

    assert table[1:] == ["a | 1 | 2 | 3"]
    earlier = again.tables[0].plan.model_copy(update={"periods": None})  # of before periods were read as rows
    assert imported(tmp_path, data, Plans(tables=(earlier,)).as_reading())[0] == table
    assert edited_by_hand(again, "rows")[0].periods == "rows"


def test_a_row_without_any_figure_keeps_its_name_beside_periods(tmp_path: Path) -> None:
    rest = "".join(f"p{n},1,,3\n" for n in range(20))  # near the end, a name alone would be a note
    table, _ = imported(tmp_path, f"who,2019,2020,2021\na,,,\n{rest}".encode())
    assert table[1:6] == ["a | 2019 | NULL", "a | 2020 | NULL", "a | 2021 | NULL", "p0 | 2019 | 1", "p0 | 2021 | 3"]


def test_what_a_person_decides_is_followed(tmp_path: Path) -> None:
    data = b"who,joined,size\na,03/01/2022,10\nb,04/02/2022,M\n"
    _, first = imported(tmp_path, data)

    table, _ = imported(tmp_path, data, edited(first, "joined", kind="date", order="dmy"))
    assert table[1] == "a | 2022-01-03 | 10"
    table, again = imported(tmp_path, data, edited(first, "size", kind="number"))
    assert table[1:] == ["a | 2022-03-01 | 10", "b | 2022-04-02 | NULL"]
    assert [(m.row, m.text) for m in again.tables[0].found.columns[2].misfits] == [(3, "M")]
    table, _ = imported(tmp_path, data, edited(first, "joined", kind="text"))
    assert table[1] == "a | 03/01/2022 | 10"
    table, _ = imported(tmp_path, data, edited(first, "joined", kind="left out"))
    assert table[0] == "who VARCHAR | size VARCHAR"


def test_repeated_rows_are_left_out_where_that_is_decided(tmp_path: Path) -> None:
    data = b"who,n\na,1\na,1\nb,2\n"
    plan = TablePlan(table="t", columns=(ColumnPlan(header="who"), ColumnPlan(header="n")), repeats="leave out")

    table, reading = imported(tmp_path, data, Plans(tables=(plan,)).as_reading())

    assert table[1:] == ["a | 1", "b | 2"]
    assert "1 row repeats an earlier one; left out" in "\n".join(notes(reading))


@pytest.mark.parametrize("odd", ["25/01/2022", "1.234,50", "x", "12.50", "7", "inf", "1_000"])
def test_one_late_cell_decides_as_an_early_one_would(tmp_path: Path, odd: str) -> None:
    column = "04/02/2022" if "/" in odd else "1.234" if "," in odd else "5.5" if odd in ("inf", "1_000") else "5"
    rows = [f"a,{column}"] * 12_000
    rows[9_000] = f'a,"{odd}"'

    table, reading = imported(tmp_path, ("who,what\n" + "\n".join(rows) + "\n").encode())

    shown = table[9_001].partition(" | ")[2]
    read = {"25/01/2022": "2022-01-25", "1.234,50": "1234.5", "12.50": "12.5", "7": "7"}
    assert shown == read.get(odd, "NULL")
    assert table[1].partition(" | ")[2] in ("2022-02-04", "1234.0", "5", "5.0", "5.5")
    assert (odd != "x") or reading.tables[0].found.columns[1].misfits[0].row == 9_002


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_encodings_and_delimiters_are_found_out(tmp_path: Path, encoding: str) -> None:
    for delimiter in (",", ";", "\t", "|"):
        text = 'wörd,n\r\n"ä",1\r\nß,2'.replace(",", delimiter)
        table, reading = imported(tmp_path, text.encode(encoding))

        assert table == ["wörd VARCHAR | n BIGINT", "ä | 1", "ß | 2"]
        assert bool(notes(reading)) == (encoding == "cp1252")


def test_lines_may_end_in_several_ways(tmp_path: Path) -> None:
    above = b"Report\nof May\n\na,b\r\n1,2\r\n3,4\r\n"
    for data in (above, b"a,b\r\n1,2\n3,4\r\n", b"a,b\r1,2\r3,4\r", b'a,b\n1,2\n3,"4"\r\n'):
        assert imported(tmp_path, data)[0] == ["a BIGINT | b BIGINT", "1 | 2", "3 | 4"]


def test_hostile_cells_are_only_text(tmp_path: Path) -> None:
    cells = ["'); DROP TABLE t; --", "\\", "£'", "(?i)(", "%s", "a" * 200, "1 '; x", "\u202e5", "5 [$-]"]
    text = "a'\"b,c;d\n" + "".join(f'"{cell}","5 {cell[:10]}"\n' for cell in cells)

    table, _ = imported(tmp_path, text.encode())

    assert len(table) == len(cells) + 1


def test_a_plan_follows_columns_that_changed_their_places(tmp_path: Path) -> None:
    _, first = imported(tmp_path, b"who,joined,left\na,03/01/2022,04/02/2022\nb,05/02/2022,06/03/2022\n")
    decided = edited(edited(first, "joined", kind="date", order="dmy"), "left", kind="text")

    table, _ = imported(tmp_path, b"left,who,joined\n04/02/2022,a,03/01/2022\n", decided)

    assert table == ["left VARCHAR | who VARCHAR | joined DATE", "04/02/2022 | a | 2022-01-03"]


def test_two_columns_of_one_heading_are_told_with_each_answer(tmp_path: Path) -> None:
    imported(tmp_path, b"Dept,Budget,Budget,Owner\nIT,12,15,Kim\nHR,8,9,Lee\n")
    (tmp_path / "out").rename(tmp_path / "out.duckdb")
    table = open_database(str(tmp_path / "out.duckdb")).schema().table("t")
    told = {column.name: column.values.doubt for column in table.columns if column.values}
    assert told == dict.fromkeys(("Budget", "Budget_2"), "several columns are headed 'Budget'")


@pytest.mark.parametrize(("text", "encoding"), rows("imports/encodings.jsonl"))
def test_the_words_tell_the_encoding(text: str, encoding: str) -> None:
    assert text.encode(encoding).decode(likely_encoding(text.encode(encoding)).name) == text


@pytest.mark.parametrize(("text", "encoding", "other"), rows("imports/other_encodings.jsonl"))
def test_what_could_be_another_is_told(text: str, encoding: str, other: str) -> None:
    assert likely_encoding(text.encode(encoding)).other == other


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


@pytest.mark.parametrize(("held", "rows"), rows("imports/json_records.jsonl"))
def test_rows_are_found(tmp_path: Path, held: Any, rows: list[dict[str, Any]]) -> None:
    (tmp_path / "a.json").write_text(json.dumps(held), encoding="utf-8")
    written = as_records(tmp_path / "a.json", tmp_path)
    assert [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()] == rows


@pytest.mark.parametrize("text", ['[{"a": 1}]', '{"a": 1}\n{"a": 2}\n', "[1, 2", "[1, 2, 3]", "", "[" * 5000])
def test_what_needs_no_rewriting_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    assert as_records(tmp_path / "a.json", tmp_path) is None


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
