"""The full scans of large tables in the engine's own query plan.

In: a case that ran and its database. Out: one `FullScan` a scan, by the table's schema name. The engine is asked
(EXPLAIN, never ANALYZE: about 1 ms on SQLite, 2 to 8 ms elsewhere) only where a table of the query has `LARGE_TABLE`
rows and the query has a condition, since nothing else is charged. Each engine words its plan in its own way:

- SQLite: `SCAN o` (an alias; `SCAN o USING INDEX ...` reads the index);
- DuckDB: `SEQ_SCAN (Table: db.main.orders, ...)`, also where a primary key finds the row;
- PostgreSQL: `Seq Scan on orders o`, `Parallel Seq Scan on orders`;
- MySQL, MariaDB: `table: o, type: ALL` (an alias).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from eval.databases.base import Database
from eval.schema import Dialect, Table
from eval.scoring.types import Case, FullScan
from eval.sql.traversal import every

LARGE_TABLE = 10_000
"""Rows; reading all of a smaller table costs next to nothing."""
_SCANNED: dict[Dialect, re.Pattern[str]] = {
    "sqlite": re.compile(r"^\s*SCAN (?P<table>.+?)(?: (?P<index>USING .*|VIRTUAL TABLE .*))?$"),
    "duckdb": re.compile(r"SEQ_SCAN \(Table: (?:[^(),]*\.)?(?P<table>[^(),.]+)"),
    "postgres": re.compile(r"\bSeq Scan on (?:[^ (]+\.)?(?P<table>\"[^\"]+\"|[^ (.]+)"),
    "mysql": re.compile(r"\btable: (?P<table>[^,]+), type: ALL\b"),
    "spark": re.compile(r"(?!)"),
    "clickhouse": re.compile(r"(?!)"),  # it is made for scans: a condition without an index is no fault
}


def full_scans(case: Case, database: Database) -> tuple[FullScan, ...]:
    """The large tables that the engine reads from end to end, although the query has a condition."""
    statement = case.verdict.statement
    large = [t for t in case.tables_read if (t.row_count or 0) >= LARGE_TABLE]
    if statement is None or not large or not case.facts.literals:
        return ()
    if database.dialect == "duckdb":  # its plan shows a scan where the primary key finds the row
        found_by_key = set(_found_by_key(case))
        large = [t for t in large if t.name not in found_by_key]
    by_name = _named_in_plan(case, large)
    lines = database.plan_lines(statement) if large else ()
    scanned = (by_name.get(name) for name in scanned_names(database.dialect, lines))
    return tuple(FullScan(t.name, t.row_count or 0) for t in scanned if t is not None)


def scanned_names(dialect: Dialect, lines: tuple[str, ...]) -> Iterator[str]:
    """What each full scan of a plan reads, as the plan names it, folded; a scan of an index is none."""
    for line in lines:
        match = _SCANNED[dialect].search(line)
        if match and not match.groupdict().get("index"):
            yield match["table"].strip('"').casefold()


def _named_in_plan(case: Case, large: list[Table]) -> dict[str, Table]:
    """The large tables by name and by each alias, folded: some engines name the one, some the other."""
    by_name = {t.name.casefold(): t for t in large}
    if case.parsed.tree is None:
        return by_name
    for node in every(case.parsed.tree, exp.Table):
        if table := by_name.get(node.name.casefold()):
            by_name[node.alias_or_name.casefold()] = table
    return by_name


def _found_by_key(case: Case) -> Iterator[str]:
    """Tables of which a one-column primary key is compared with a constant for equality."""
    for constant in case.facts.literals:
        table = case.schema.table(constant.table or "")
        if table is not None and constant.operator == "=" and table.primary_key == (constant.column,):
            yield table.name
