"""Columns of text: blanks around cells, marks for no value, and categories that differ in case and blanks alone.

In: a staged column. Out: a table of the cells to be changed, which the import joins, and how many of each kind. Only
different cells are looked at, so a column of few categories costs little however long it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from agent.sources.tabular.columns import MARKS_IN_TEXT, may_fold, trimmed
from agent.sources.tabular.plan import ColumnPlan
from agent.sources.tabular.sql import BLANKS, literal


@dataclass(frozen=True, slots=True)
class TextChanges:
    table: str | None = None
    """Of cells (`v`) and what they become (`kept`); None where all stay."""
    missing: int = 0
    folded: int = 0


def text_changes(engine: DuckDBPyConnection, raw: str, cell: str, plan: ColumnPlan, where: str) -> TextChanges:
    """The changes to the cells of one column; what is only decided by people is in the plan."""
    [(different,)] = engine.execute(f"SELECT approx_count_distinct({cell}) FROM {raw}").fetchall()
    fold = may_fold(plan) and different <= 50_000  # a column of more holds no categories
    marks = ", ".join(map(literal, sorted(MARKS_IN_TEXT)))
    ends = " OR ".join(f"{end} < '!' OR {end} > '~'" for end in (cell, f"{cell}[-1]"))  # by far the fastest to see
    blanks = f"({ends}) AND regexp_matches({cell}, {literal(rf'^[{BLANKS}]|[{BLANKS}]$')})"
    longest = max(len(mark.encode()) for mark in MARKS_IN_TEXT)
    marked = f"strlen({cell}) <= {longest} AND {cell} IN ({marks})"
    some = "" if fold else f" AND ({blanks} OR {marked})"
    table = f"changed_{cell}"
    key = "lower(regexp_replace(s, '\\s+', ' ', 'g'))" if fold else "s"
    engine.execute(
        f"CREATE OR REPLACE TEMP TABLE {table} AS WITH spelled AS (SELECT {cell} AS v, {trimmed(cell)} AS s, "
        f"count(*) AS n, min(rowid) AS r FROM {raw} WHERE {where} AND {cell} <> ''{some} GROUP BY v), "
        f"keyed AS (SELECT *, s = '' OR s IN ({marks}) AS missing, {key} AS k, "
        "sum(n) OVER (PARTITION BY s) AS same FROM spelled), best AS (SELECT *, first_value(s) OVER (PARTITION BY k "
        "ORDER BY same DESC, s = upper(s), s = lower(s), r) AS spelling FROM keyed) SELECT v, s, n, missing, "
        "CASE WHEN NOT missing THEN spelling END AS kept FROM best WHERE missing OR v <> spelling"
    )
    [(cells, missing, folded)] = engine.execute(
        "SELECT count(*), coalesce(sum(n) FILTER (missing AND s <> ''), 0), "
        f"coalesce(sum(n) FILTER (NOT missing AND s <> kept), 0) FROM {table}"
    ).fetchall()
    return TextChanges(table if cells else None, int(missing), int(folded))
