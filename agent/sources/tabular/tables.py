"""Imports files of tables into one DuckDB file: staged as text, read by a plan, written with set-based SQL.

In: files with their names and kinds, the plan that was followed before, if any. Out: a new DuckDB file with a table
for each, and a `Reading`: the plan and what came of it. What a changed column held is kept in the schema `as_written`,
which the view `{table}_as_written` shows; its column `row` counts as a spreadsheet does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from agent.sources.source_errors import SourceRefused
from agent.sources.tabular import extra_rows, forms, periods_aside
from agent.sources.tabular.extra_rows import LeftOut
from agent.sources.tabular.layout import found_layout
from agent.sources.tabular.names import unique_name
from agent.sources.tabular.one_table import OneTable
from agent.sources.tabular.plan import MOST_SHOWN, Reading, Row, TablePlan, TableReading
from agent.sources.tabular.sql import literal
from agent.sources.tabular.stage import Bounds, Part, Staged, stage

Report = Callable[[str, float], None]
"""Gets what is done, and how much of it, 0..1."""
Step = Callable[[str, float, float], None]
"""Says what is done from here on, and from where to where of the whole that goes."""
_STAGED = 0.4
"""Part of the time that reading takes; the rest is deciding and writing."""
_SECONDS = 0.5
"""Between two looks at how far a statement is."""


@dataclass(frozen=True, slots=True)
class File:
    path: Path
    name: str
    """The table's name before it is made plain; the file's without its ending, or the sheet's."""
    kind: str
    """`delimited`, `json` or `parquet`."""
    book: str = ""
    """Name of the workbook whose sheet it is."""


def import_tables(
    files: Sequence[File], out: Path, bounds: Bounds, before: Reading, report: Report, *, memory: int
) -> Reading:
    """Write all files into the new file `out`. Raises SourceRefused, SourceTooLarge."""
    read: list[TableReading] = []
    used: set[str] = set()
    try:
        configuration: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "python_enable_replacements": "false",
            "memory_limit": f"{max(256, memory >> 21)}MiB",
            "temp_directory": str(out.parent / "spilled"),
            "threads": "2",
            "preserve_insertion_order": "true",
        }
        with duckdb.connect(str(out), config=configuration) as engine:
            places = sorted({str(place) for place in (out.parent, *(file.path.parent for file in files))})
            engine.execute(f"SET allowed_directories = [{', '.join(map(literal, places))}]")
            engine.execute("SET enable_external_access = false")
            with _watched(engine, report) as step:
                engine.execute("SET lock_configuration = true")
                several = len(files) > 1
                headers = [found_layout(f.path).headers if several and f.kind == "delimited" else None for f in files]
                named = [forms.Named(f.name, f.book or f.name, of) for f, of in zip(files, headers, strict=True)]
                for group in forms.found(named, before):
                    table = unique_name(group.table, used)
                    plan = before.plan_of(table) or TablePlan(table=table, columns=())
                    read.append(_read(engine, group, files, plan, bounds, out.parent, step))
            report("writing", 1.0)
    except duckdb.Error as error:
        shown = str(error).partition("LINE 1:")[0].strip()
        for file in files:
            shown = shown.replace(str(file.path), file.name)
        raise SourceRefused(f"{'the' if len(files) == 1 else 'a'} file cannot be read: {shown[:300]}") from None
    return Reading(tables=tuple(read))


def _read(
    engine: DuckDBPyConnection,
    group: forms.Together,
    files: Sequence[File],
    plan: TablePlan,
    bounds: Bounds,
    folder: Path,
    step: Step,
) -> TableReading:
    """Import the files of one table, out of all `files`."""
    staged: list[Staged] = []
    start, part = group.places[0] / len(files), len(group.places) / len(files)
    each = _STAGED / len(files)
    for number, place in enumerate(group.places):
        file = files[place]
        step(f"reading {file.name}", start + number * each, start + (number + 1) * each)
        staged.append(stage(engine, file.path, file.kind, f"staged{number}", bounds, folder))
    step(f"writing {plan.table}", start + part * _STAGED, start + part)
    whole = staged[0]
    if group.labels:
        parts = list(zip(group.labels, staged, strict=True))
        whole, left_out = _stacked(engine, parts, group.header, plan.totals, bounds)
    else:
        left_out = extra_rows.found(engine, whole, plan.totals)
    form = "together" if group.labels else "apart" if group.alike else None
    aside = periods_aside.found(engine, whole, left_out, plan.table, bounds)
    periods = None if aside is None else plan.periods or periods_aside.proposed(whole, aside, plan)
    if aside is not None and periods == "rows":
        whole, left_out = periods_aside.as_rows(engine, whole, left_out, aside)
    reading = OneTable(engine, whole, plan.model_copy(update={"forms": form, "periods": periods})).done(left_out)
    engine.execute(f"DROP TABLE {whole.raw}")
    return reading


def _stacked(
    engine: DuckDBPyConnection, files: Sequence[tuple[str, Staged]], header: str, totals: str, bounds: Bounds
) -> tuple[Staged, LeftOut]:
    """Files of the same columns as one table with a last column that says where a row is from, and the rows that are
    none of it: each file has its own titles, totals and notes. `files`: the label of each, and its rows, which are
    dropped; `totals` as in a plan. Raises SourceTooLarge."""
    first = files[0][1]
    named = [head for head in first.headers if head]
    width = max(len(staged.headers) for _, staged in files)  # further fields of odd rows have no names
    names = (*named, *[""] * (width - len(named)))
    columns = ", ".join(f"c{i} VARCHAR" for i in range(width + 1))
    engine.execute(f"CREATE OR REPLACE TEMP TABLE stacked ({columns})")
    engine.execute("CREATE OR REPLACE TEMP TABLE places (place BIGINT)")
    parts: list[Part] = []
    left_out: list[Row] = []
    kept: list[Row] = []
    notes: dict[str, None] = {}
    rows = count = 0
    for label, staged in files:
        found = extra_rows.found(engine, staged, totals)
        engine.execute(f"INSERT INTO places SELECT place + {rows} FROM {extra_rows.PLACES}")
        places: dict[str, list[int]] = {}
        for place, head in enumerate(staged.headers):
            places.setdefault(head.casefold(), []).append(place)
        left = (places.get(head.casefold()) for head in names)
        cells = ", ".join([*(f"c{of.pop(0)}" if of else "NULL" for of in left), literal(label)])
        engine.execute(f"INSERT INTO stacked SELECT {cells} FROM {staged.raw} ORDER BY rowid")
        engine.execute(f"DROP TABLE {staged.raw}")
        parts.append(Part(label, rows, staged.row))
        for told, of in ((left_out, found.rows), (kept, found.kept)):
            told += [Row(row=row.row, text=f"{label}: {row.text}"[:200]) for row in of]
        notes |= dict.fromkeys(staged.notes)
        rows, count = rows + staged.rows, count + found.count
        bounds.check(rows, width)
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {extra_rows.PLACES} AS SELECT * FROM places")
    types = ("VARCHAR",) * (width + 1)
    other = next((staged.other_encoding for _, staged in files if staged.other_encoding), "")
    whole = Staged("stacked", (*names, header), types, rows, first.row, first.semicolons, other)
    whole = replace(whole, notes=tuple(notes), parts=tuple(parts))
    return whole, LeftOut(extra_rows.NOT_LEFT_OUT, tuple(left_out[:MOST_SHOWN]), count, tuple(kept[:MOST_SHOWN]))


@contextmanager
def _watched(engine: DuckDBPyConnection, report: Report) -> Iterator[Step]:
    """Looks from a thread of its own at what the engine does, until the block ends."""
    engine.execute("SET enable_progress_bar = true")
    engine.execute("SET enable_progress_bar_print = false")
    ended, lock = threading.Event(), threading.Lock()
    doing, begins, share, told = "", 0.0, 0.0, 0.0

    def step(what: str, start: float, end: float) -> None:
        nonlocal doing, begins, share, told
        with lock:
            doing, begins, share, told = what, start, end - start, start
        report(what, start)

    def look() -> None:
        nonlocal told
        while not ended.wait(_SECONDS):
            done = engine.query_progress() / 100  # -1 where no statement tells
            with lock:
                at = begins + share * min(done, 1.0)
                if done > 0 and at > told + 0.01:
                    told = at
                    report(doing, at)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield step
    finally:
        ended.set()
        thread.join()
