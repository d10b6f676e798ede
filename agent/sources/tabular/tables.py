"""Imports files of tables into one DuckDB file: staged as text, read by a plan, written with set-based SQL.

In: files with their names and kinds, the plan that was followed before, if any. Out: a new DuckDB file with a table
for each, and a `Reading`: the plan and what came of it. What a changed column held is kept in the schema `as_written`,
which the view `{table}_as_written` shows; its column `row` counts as a spreadsheet does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.sources.errors import SourceRefused
from agent.sources.tabular import extra_rows, forms, periods_aside
from agent.sources.tabular.layout import found_layout
from agent.sources.tabular.names import unique_name
from agent.sources.tabular.one_table import OneTable
from agent.sources.tabular.plan import Reading, TablePlan, TableReading
from agent.sources.tabular.progress import Report, Watched
from agent.sources.tabular.sql import literal
from agent.sources.tabular.stacked import stacked
from agent.sources.tabular.stage import Bounds, Staged, stage

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
    try:
        import duckdb
    except ImportError:
        raise SourceRefused("data files need DuckDB: pip install duckdb") from None
    read: list[TableReading] = []
    used: set[str] = set()
    try:
        with duckdb.connect(str(out), config=_configuration(memory, out.parent)) as engine:
            places = sorted({str(place) for place in (out.parent, *(file.path.parent for file in files))})
            engine.execute(f"SET allowed_directories = [{', '.join(map(literal, places))}]")
            engine.execute("SET enable_external_access = false")
            watched = Watched(engine, report)
            engine.execute("SET lock_configuration = true")
            with watched:
                for group in forms.found([_named(file, several=len(files) > 1) for file in files], before):
                    of = _Group(group, [files[place] for place in group.places], unique_name(group.table, used))
                    share = (group.places[0] / len(files), len(group.places) / len(files))
                    read.append(_read(engine, of, before, bounds, out.parent, watched, share))
            report("writing", 1.0)
    except duckdb.Error as error:
        raise SourceRefused(
            f"{'the' if len(files) == 1 else 'a'} file cannot be read: {_shown(error, files)}"
        ) from None
    return Reading(tables=tuple(read))


@dataclass(frozen=True, slots=True)
class _Group:
    """Files that are one table."""

    how: forms.Together
    files: Sequence[File]
    table: str


def _named(file: File, *, several: bool) -> forms.Named:
    headers = found_layout(file.path).headers if several and file.kind == "delimited" else None
    return forms.Named(file.name, file.book or file.name, headers)


def _read(
    engine: DuckDBPyConnection,
    group: _Group,
    before: Reading,
    bounds: Bounds,
    folder: Path,
    watched: Watched,
    share: tuple[float, float],
) -> TableReading:
    """Import the files of one table. `share`: where of the whole this begins, and how much of it it is."""
    start, part = share
    staged: list[Staged] = []
    for number, file in enumerate(group.files):
        at = part * _STAGED / len(group.files)
        watched.step(f"reading {file.name}", start + number * at, start + (number + 1) * at)
        staged.append(stage(engine, file.path, file.kind, f"staged{number}", bounds, folder))
    watched.step(f"writing {group.table}", start + part * _STAGED, start + part)
    plan = before.plan_of(group.table) or TablePlan(table=group.table, columns=())
    whole = staged[0]
    if group.how.labels:
        parts = list(zip(group.how.labels, staged, strict=True))
        whole, left_out = stacked(engine, parts, group.how.header, plan.totals, bounds)
    else:
        left_out = extra_rows.found(engine, whole, plan.totals)
    form = "together" if group.how.labels else "apart" if group.how.alike else None
    aside = periods_aside.found(engine, whole, left_out, group.table, bounds)
    periods = None if aside is None else plan.periods or periods_aside.proposed(whole, aside, plan)
    if aside is not None and periods == "rows":
        whole, left_out = periods_aside.as_rows(engine, whole, left_out, aside)
    reading = OneTable(engine, whole, plan.model_copy(update={"forms": form, "periods": periods})).done(left_out)
    engine.execute(f"DROP TABLE {whole.raw}")
    return reading


def _configuration(memory: int, folder: Path) -> dict[str, str | bool | int | float | list[str]]:
    return {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "python_enable_replacements": "false",
        "memory_limit": f"{max(256, memory >> 21)}MiB",
        "temp_directory": str(folder / "spilled"),
        "threads": "2",
        "preserve_insertion_order": "true",
    }


def _shown(error: Exception, files: Sequence[File]) -> str:
    """An engine's message with the names that the files came with."""
    text = str(error).partition("LINE 1:")[0].strip()
    for file in files:
        text = text.replace(str(file.path), file.name)
    return text[:300]
