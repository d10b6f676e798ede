"""Imports files of tables into one DuckDB file: staged as text, read by a plan, written with set-based SQL.

In: files with their names and kinds, the plan that was followed before, if any. Out: a new DuckDB file with a table for
each, and a `Reading`: the plan and what came of it. What a changed column held is kept in the schema `as_written`,
which the view `{table}_as_written` shows; its column `row` counts as a spreadsheet does.

Files and sheets of one form are one table: a month a sheet, a branch a file; a column says of each row where it is
from. Names that are words of their own (`Orders`, `Returns`) are of different things, whatever their columns are: those
stay apart until a person puts them together.
"""

from __future__ import annotations

import re
import threading
from calendar import month_name
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from agent.sources import SourceRefused
from agent.sources.tabular import extra_rows, periods_aside
from agent.sources.tabular.dates import MONTHS
from agent.sources.tabular.extra_rows import LeftOut
from agent.sources.tabular.layout import found_layout
from agent.sources.tabular.one_table import OneTable
from agent.sources.tabular.plan import MOST_SHOWN, Reading, Row, TablePlan, TableReading
from agent.sources.tabular.sql import literal, table_name, unique_name
from agent.sources.tabular.stage import Bounds, Part, Staged, stage
from eval.language.inflection import lemma
from eval.language.lexicon import open_lexicon, word_set

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
                headers = [found_layout(f.path).headers if several and f.kind == "delimited" else () for f in files]
                for group in _groups(files, headers, before):
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
    group: Together,
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


_PART = re.compile(r"[^\W\d_]+|\d+")
_WHOLE = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_COUNTED = word_set("sheet page part table file q quarter h half w wk week kw cw day month year fy term period no nr")
_DAYS = word_set("monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun")
_PERIODS = MONTHS.keys() | _DAYS | _COUNTED
_BY = re.compile(r"(?i)(?<![^\W_])(?:by|per)[\W_]{1,3}([^\W\d_]{3,30})[\W_\d]*\Z")
"""What the parts are of, in the name that they share: `Sales by branch`."""


@dataclass(frozen=True, slots=True)
class Together:
    """What is read as one table; a file of its own where it is one alone."""

    places: tuple[int, ...]
    """Of the files, in their order."""
    table: str
    header: str = ""
    """Of the column that says where a row is from."""
    labels: tuple[str, ...] = ()
    """What it says, file by file."""
    alike: bool = False
    """Whether other files have the same columns and yet are tables of their own."""


def _groups(files: Sequence[File], headers: Sequence[tuple[str, ...]], before: Reading) -> list[Together]:
    """`headers`: of each file; none of what has types of its own."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, heads in enumerate(headers):
        alone = not all(heads) or len(heads) < 2
        form = (str(place),) if alone else ("", *sorted(head.casefold() for head in heads))
        groups.setdefault(form, []).append(place)
    result: list[Together] = []
    for places in groups.values():
        of = [files[place] for place in places]
        several = len(places) > 1
        result += _tables(places, of, headers[places[0]], before) if several else [_alone(places[0], of[0])]
    return sorted(result, key=lambda one: one.places)


def _alone(place: int, file: File, *, alike: bool = False) -> Together:
    return Together((place,), table_name(file.name), alike=alike)


def _tables(places: Sequence[int], files: Sequence[File], headers: Sequence[str], before: Reading) -> list[Together]:
    names = [file.name for file in files]
    labels = _labels(names)
    books = {file.book or file.name for file in files}
    common = next(iter(books)) if len(books) == 1 else " ".join(w for w in _words(names[0]) if w in _shared(names))
    of = _BY.search(common)
    what = _kind(labels) or (of[1].title() if of else "Sheet" if len(books) == 1 else "File")
    header = what if what.casefold() not in {head.casefold() for head in headers} else "Part"
    one = Together(tuple(places), table_name(common or "records"), header, labels)
    said = {plan.forms for name in (one.table, *(table_name(f.name) for f in files)) if (plan := before.plan_of(name))}
    # so many sheets of a workbook with so many columns in common: one form was filled in on each
    is_one_form = len(files) >= 3 and len(headers) >= 4 and len(books) == 1
    if "together" in said or ("apart" not in said and (is_one_form or _are_parts(names))):
        return [one]
    return [_alone(place, file, alike=True) for place, file in zip(places, files, strict=True)]


def _labels(names: Sequence[str]) -> tuple[str, ...]:
    """What tells the names apart: all of them without the words that they share."""
    shared = {word for word in _shared(names) if not _YEAR.fullmatch(word)}
    kept = [[p for p in _WHOLE.findall(name) if p.casefold() not in shared] for name in names]
    if all(len(of) == 2 and _YEAR.fullmatch(of[0]) and re.fullmatch("0[1-9]|1[0-2]", of[1]) for of in kept):
        return tuple(f"{year}-{month}" for year, month in kept)
    if any(not of for of in kept) or all(p.isdecimal() and not _YEAR.fullmatch(p) for of in kept for p in of):
        return tuple(names)
    if all(len(of) == 1 and of[0].casefold() in MONTHS for of in kept):
        return tuple(month_name[MONTHS[of[0].casefold()]] for of in kept)
    short = tuple(" ".join(of) for of in kept)
    return short if len(set(short)) == len(short) else tuple(names)


def _words(name: str) -> list[str]:
    return [part.casefold() for part in _PART.findall(name)]


def _shared(names: Sequence[str]) -> set[str]:
    return set.intersection(*(set(_words(name)) for name in names))


def _kind(labels: Sequence[str]) -> str:
    """What the labels are: months, years, quarters, days; empty for others."""
    parts = [_words(label) for label in labels]
    if all(len(of) == 1 and _YEAR.fullmatch(of[0]) for of in parts):
        return "Year"
    if all(any(p in MONTHS for p in of) for of in parts) or all(re.fullmatch(r"\d{4}-\d\d", x) for x in labels):
        return "Month"
    if all(of[:1] == ["q"] for of in parts):
        return "Quarter"
    return "Day" if all(of[0] in _DAYS for of in parts) else ""


def _are_parts(names: Sequence[str]) -> bool:
    """Whether the names tell parts of one table apart: periods, numbers, codes such as `7A`, or names that are no
    words."""
    shared = _shared(names)
    kept = [[word for word in _words(name) if word not in shared] for name in names]
    said = {p for of in kept for p in of if not (p.isdecimal() or len(p) <= 2 or p in _PERIODS)}
    return all(kept) and not any(open_lexicon(lemma(p)) or open_lexicon(p) for p in said)
