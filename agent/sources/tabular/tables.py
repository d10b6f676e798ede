"""Imports files of tables into one DuckDB file: staged as text, read by a plan, written with set-based SQL.

In: files with their names and kinds, the plan that was followed before, if any. Out: a new DuckDB file with a table
for each, and a `Reading`: the plan and what came of it. What a changed column held is kept in the schema `as_written`,
which the view `{table}_as_written` shows; its column `row` counts as a spreadsheet does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from agent.sources.errors import SourceRefused
from agent.sources.tabular import extra_rows, forms, periods_aside
from agent.sources.tabular.layout import found_layout
from agent.sources.tabular.names import unique_name
from agent.sources.tabular.one_table import OneTable
from agent.sources.tabular.plan import Reading, TablePlan, TableReading
from agent.sources.tabular.progress import Report, Step, watched
from agent.sources.tabular.sql import literal
from agent.sources.tabular.stacked import stacked
from agent.sources.tabular.stage import Bounds, Staged, stage

_STAGED = 0.4
"""Part of the time that reading takes; the rest is deciding and writing."""


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
            with watched(engine, report) as step:
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
        whole, left_out = stacked(engine, parts, group.header, plan.totals, bounds)
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
