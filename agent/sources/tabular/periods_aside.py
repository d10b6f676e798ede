"""Periods side by side, read as rows: columns `Jan`, `Feb`, `Mar` become one of months and one of figures.

In: a staged table and the rows that are none of it. Out: the same with a row for each figure. A table that has other
figures besides stays as it is, since those would be repeated for each period; a column that sums up the periods goes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from duckdb import DuckDBPyConnection

from agent.sources.tabular.columns import NEVER_COMPUTED
from agent.sources.tabular.dates import MONTH, MONTHS
from agent.sources.tabular.extra_rows import NOT_LEFT_OUT, PLACES, TOTAL, LeftOut
from agent.sources.tabular.one_table import are_groups, value_above
from agent.sources.tabular.plan import TablePlan
from agent.sources.tabular.sql import literal
from agent.sources.tabular.stage import Bounds, Staged
from eval.language.inflection import lemma
from eval.language.lexicon import open_lexicon, word_set

_YEAR = r"(?P<year>(?:19|20)[0-9]{2}|(?<=['’ /-])[0-9]{2})"
_FORMS = {
    "month": re.compile(rf"(?i)(?P<name>{MONTH})\.?(?:[ _'’/-]{{1,3}}{_YEAR})?"),
    "quarter": re.compile(
        rf"(?i)(?:(?P<before>(?:19|20)[0-9]{{2}})[ _-]?)?q(?P<part>[1-4])(?:[ _'’/-]{{1,3}}{_YEAR})?"
    ),
    "year": re.compile(r"(?P<year>(?:19|20)[0-9]{2})"),
    "day": re.compile(r"(?P<year>(?:19|20)[0-9]{2})[-/](?P<month>0[1-9]|1[0-2])(?:-01(?:[ T]00:00:00)?)?"),
}
_WHOLE = re.compile(
    r"(?i)(?:fy|ytd|year|full[ -]?year|year[ -]?to[ -]?date|annual|jahr|année|año)(?:[ _'’/-]?[0-9]{2,4})?"
)
"""Headers of a column for all periods together, besides those that are called totals."""
_FIGURE = r"[^A-Za-z]*[0-9][^A-Za-z]*|(?:[A-Za-z]{2,3}[.]? |[A-Z]{3})[0-9.,]+|[0-9.,]+ ?[A-Za-z]{1,3}"
"""With a currency or unit before or behind it: `kr 12`, `EUR12`, `12 kg`; `P12` is a code."""
_MOSTLY = 0.8
"""Part of a column's cells that are figures, from which on it holds figures."""
_NAMED_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_KEY = re.compile(
    r"(?i)(?:^|[\W_])(?:id|key|code|number|no|nr|num|sku|account|konto|zip|plz|postcode)\.?$|(?-i:[a-z]I[dD])$"
)
"""Headers of columns that tell rows apart: their numbers are no figures."""
_GENERIC = word_set(
    "sheet table data report export book file overview summary figure pivot tab page list total monthly quarterly"
    " yearly"
)
"""Words of a table's name that do not say what its figures are of."""
_BEFORE = re.compile(r"(?i)(?:^|_)(?:by|per|for|of|in)_.*")
"""What a name says behind the thing: `sales_by_region`."""


@dataclass(frozen=True, slots=True)
class Aside:
    places: tuple[int, ...]
    header: str
    """Of the column that says which period it is."""
    said: tuple[str, ...]
    figure: str
    """Header of the column of figures."""
    kept: tuple[int, ...]
    sums: tuple[str, ...]
    """Headers of the columns that sum up the periods."""


def found(engine: DuckDBPyConnection, staged: Staged, left_out: LeftOut, table: str, bounds: Bounds) -> Aside | None:
    """The periods of a table that could be rows, of which there would not be too many."""
    years = [] if re.search(r"(?i)fy|fiscal", table) else _NAMED_YEAR.findall(table)
    periods = None if staged.parts or set(staged.types) != {"VARCHAR"} else _periods(staged.headers, years)
    if periods is None or staged.rows * len(periods[0]) > bounds.rows:
        return None
    places, header, said = periods
    asked = ", ".join(  # which part of a column's filled cells are figures; 1 where it has none
        f"coalesce(avg(CASE WHEN trim({cell}) <> '' AND {cell} <> {literal(NEVER_COMPUTED)} "
        f"THEN regexp_full_match(trim({cell}), {literal(_FIGURE)})::INT END), 1)"
        for cell in staged.cells
    )
    [figures] = engine.execute(f"SELECT {asked} FROM {staged.raw} WHERE {left_out.condition}").fetchall()
    kept, sums = [], []
    for i, head in enumerate(map(str.strip, staged.headers)):
        if i in places:
            continue
        if _WHOLE.fullmatch(head) or TOTAL.fullmatch(head):
            sums.append(head)
        elif figures[i] < _MOSTLY or _KEY.search(head):
            kept.append(i)
        else:
            return None
    if not kept or any(figures[i] < _MOSTLY for i in places):
        return None
    # The figures are called as the table, where its name is a word for things
    words = re.findall(r"[^\W\d_]{3,}", _BEFORE.sub("", table.casefold()))
    word = words[-1] if words else ""
    telling = word and not {word, lemma(word)} & _GENERIC and open_lexicon(lemma(word))
    return Aside(places, header, said, word if telling else "amount", tuple(kept), tuple(sums))


def proposed(staged: Staged, aside: Aside, before: TablePlan) -> Literal["rows", "columns"]:
    """Columns where a plan made before periods were read as rows has them: what is asked of the table goes on."""
    periods = {staged.headers[i] for i in aside.places}
    return "columns" if any(column.header in periods for column in before.columns) else "rows"


def _periods(headers: Sequence[str], years: Sequence[str]) -> tuple[tuple[int, ...], str, tuple[str, ...]] | None:
    """The places of the columns that are periods of one kind, what a column of them is headed, and what it says."""
    for kind, form in _FORMS.items():
        matches = [(i, m) for i, head in enumerate(headers) if (m := form.fullmatch(head.strip())) is not None]
        said = tuple(_said(kind, m, years) for _, m in matches)
        if len(matches) >= 3 and len(set(said)) == len(said):
            return tuple(i for i, _ in matches), "month" if kind == "day" else kind, said
    return None


def _said(kind: str, match: re.Match[str], years: Sequence[str]) -> str:
    """The period as the column of periods holds it: a month as a date where its year is known, `Jan` or `Q1` else."""
    named = match.groupdict()
    year = named.get("year") or named.get("before") or (years[0] if len(years) == 1 else "")
    year = f"20{year}" if len(year) == 2 else year
    if kind == "year":
        return year
    if kind == "quarter":
        return f"{year}-{3 * int(named['part']) - 2:02}" if year else f"Q{named['part']}"
    if kind == "day":
        return f"{year}-{named['month']}"
    return f"{year}-{MONTHS[named['name'].lower()]:02}" if year else named["name"].capitalize()


def as_rows(engine: DuckDBPyConnection, staged: Staged, left_out: LeftOut, aside: Aside) -> tuple[Staged, LeftOut]:
    """The table with a row for each figure, which takes the place of the staged one."""
    raw, each, at = f"{staged.raw}_by_period", len(aside.places), len(aside.kept)
    first, last = staged.headers[aside.places[0]], staged.headers[aside.places[-1]]
    notes = [f"{first} to {last} read as rows, each with its {aside.header} and {aside.figure}"]
    sums = "sums" if len(aside.sums) == 1 else "sum"
    notes += [f"{' and '.join(aside.sums)} left out, which {sums} up the others"] if aside.sums else []
    source, label = staged.raw, f"c{aside.kept[0]}"
    if at > 1 and are_groups(engine, staged.raw, label, left_out.condition):  # written once, above blank cells
        source = f"(SELECT * REPLACE ({value_above(label)} AS {label}) FROM {staged.raw} ORDER BY rowid)"
        notes.append(f"blank cells of {staged.headers[aside.kept[0]]} have the value above them")
    figures = ", ".join(f"c{i}" for i in aside.places)
    shown = [f"c{i} AS c{place}" for place, i in enumerate(aside.kept)]
    shown += [f"unnest([{', '.join(map(literal, aside.said))}]) AS c{at}", f"unnest([{figures}]) AS c{at + 1}"]
    engine.execute(f"CREATE OR REPLACE TEMP TABLE {raw} AS SELECT {', '.join(shown)} FROM {source}")
    engine.execute(
        f"CREATE OR REPLACE TEMP TABLE {PLACES} AS SELECT rowid AS place FROM {raw} "
        f"WHERE rowid // {each} IN (SELECT rowid FROM {staged.raw} WHERE NOT ({left_out.condition})) "
        f"OR coalesce(trim(c{at + 1}), '') = '' AND rowid // {each} IN "
        f"(SELECT rowid FROM {staged.raw} WHERE trim(concat({figures})) <> '')"  # a row without any figure stays
    )
    engine.execute(f"DROP TABLE {staged.raw}")
    whole = replace(
        staged,
        raw=raw,
        headers=(*(staged.headers[i] for i in aside.kept), aside.header, aside.figure),
        types=("VARCHAR",) * (at + 2),
        rows=staged.rows * each,
        notes=(*staged.notes, *notes),
        rows_each=each,
    )
    return whole, replace(left_out, condition=NOT_LEFT_OUT)
