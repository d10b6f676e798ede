"""One examination of a query, for the agent, the batch commands, the benchmark and react alike.

In: a `Query` (a question, SQL, and what its writer said) and an open database. Out: a `Case`, everything that
`eval.scoring.score` reads. Nothing else in the tree puts a `Case` together.

The order is parse → guard → references → facts → execute → look-ups. `inspect` stops before anything runs; `examine`
goes on to the database. A statement that the guard refuses, or that names what the database lacks, is never sent. Each
statement is sent once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from eval.databases.base import Database, in_statement_thread
from eval.databases.types import CancelToken, ExecutionResult, Limits
from eval.examination import column_contents
from eval.examination.stored_values import named_values, stored_constants
from eval.schema import Dialect, Schema, Table
from eval.scoring.types import Case, FullScan
from eval.sql import check, facts, parse, resolve
from eval.sql.traversal import every, unchanging


@dataclass(frozen=True, slots=True)
class Query:
    """SQL for a question, and what is known of how it was written."""

    question: str
    sql: str
    reasoning: str = ""
    """What the writer of the SQL said about it."""
    plan_confidence: float | None = None
    """0..1, the planner's; None where nothing was planned."""
    taught: str = ""
    """In lower case, what the writer knew besides the question: evidence, terms, confirmed queries."""


def inspect(query: Query, schema: Schema) -> Case:
    """What can be known of a query without a connection; `result` is None."""
    parsed = parse(query.sql, schema.dialect)
    with unchanging(parsed.tree):
        return Case(
            question=query.question,
            parsed=parsed,
            verdict=check(parsed, schema),
            references=resolve(parsed, schema),
            facts=facts(parsed, schema),
            schema=schema,
            result=None,
            plan_confidence=query.plan_confidence,
            reasoning=query.reasoning,
            taught=query.taught,
        )


def examine(
    query: Query,
    database: Database,
    *,
    schema: Schema | None = None,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
    send_unknown_names: bool = False,
    ran: Mapping[str, ExecutionResult] | None = None,
) -> Case:
    """Inspect a query, run it, and look up what its result is weighed by: the texts that it compares with columns, and
    the full scans in the engine's plan where a table is large.

    `schema` saves reading it again. With `send_unknown_names` the database decides on names that the schema lacks; the
    benchmark wants its verdict, not ours. A statement whose complete result is in `ran`, by its SQL, is not sent again.
    Blocking. Raises DatabaseError when the schema cannot be read.
    """
    case = inspect(query, database.schema() if schema is None else schema)
    statement = case.verdict.statement if send_unknown_names else case.runnable
    if statement is None:
        return case
    known = ran.get(statement.sql) if ran else None
    fits = known is not None and (limits is None or len(known.rows) <= limits.rows)
    case = replace(case, result=known if fits else database.execute(statement, limits=limits, cancel=cancel))
    if not case.ran:
        return case
    return replace(
        case,
        stored=stored_constants(case, database, cancel),
        named=named_values(case, database, cancel),
        full_scans=_full_scans(case, database),
        contents=column_contents.column_contents(case, database, cancel),
    )


async def examine_async(
    query: Query,
    database: Database,
    *,
    schema: Schema | None = None,
    limits: Limits | None = None,
    ran: Mapping[str, ExecutionResult] | None = None,
) -> Case:
    """`examine` off the event loop. Cancelling the awaiting task interrupts the statement in the engine."""
    return await in_statement_thread(
        lambda cancel: examine(query, database, schema=schema, limits=limits, cancel=cancel, ran=ran)
    )


_LARGE_TABLE = 10_000
"""Rows; reading all of a smaller table costs next to nothing."""
_SCANNED: dict[Dialect, re.Pattern[str]] = {
    "sqlite": re.compile(r"^\s*SCAN (?P<table>.+?)(?: (?P<index>USING .*|VIRTUAL TABLE .*))?$"),
    "duckdb": re.compile(r"SEQ_SCAN \(Table: (?:[^(),]*\.)?(?P<table>[^(),.]+)"),
    "postgres": re.compile(r"\bSeq Scan on (?:[^ (]+\.)?(?P<table>\"[^\"]+\"|[^ (.]+)"),
    "mysql": re.compile(r"\btable: (?P<table>[^,]+), type: ALL\b"),
    "spark": re.compile(r"(?!)"),
    "clickhouse": re.compile(r"(?!)"),  # it is made for scans: a condition without an index is no fault
}
"""How each engine words a full scan in its plan:

- SQLite: `SCAN o` (an alias; `SCAN o USING INDEX ...` reads the index);
- DuckDB: `SEQ_SCAN (Table: db.main.orders, ...)`, also where a primary key finds the row;
- PostgreSQL: `Seq Scan on orders o`, `Parallel Seq Scan on orders`;
- MySQL, MariaDB: `table: o, type: ALL` (an alias)."""


def _full_scans(case: Case, database: Database) -> tuple[FullScan, ...]:
    """The large tables that the engine's own plan reads from end to end, by their names in the schema.

    The engine is asked (EXPLAIN, never ANALYZE: about 1 ms on SQLite, 2 to 8 ms elsewhere) only where the query has a
    condition, since nothing else is charged.
    """
    statement = case.verdict.statement
    large = [t for t in case.tables_read if (t.row_count or 0) >= _LARGE_TABLE]
    if statement is None or not large or not case.facts.literals:
        return ()
    if database.dialect == "duckdb":  # its plan shows a scan where the primary key finds the row
        found_by_key = set(_found_by_key(case))
        large = [t for t in large if t.name not in found_by_key]
    by_name = _named_in_plan(case, large)
    scans = []
    for line in database.plan_lines(statement) if large else ():
        match = _SCANNED[database.dialect].search(line)
        read = by_name.get(match["table"].strip('"').casefold()) if match else None
        if read and match and not match.groupdict().get("index"):  # a scan of an index is none
            scans.append(FullScan(read.name, read.row_count or 0))
    return tuple(scans)


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
