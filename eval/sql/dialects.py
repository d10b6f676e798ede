"""The dialects as this project reads and writes them: sqlglot's dialects, changed to round-trip faithfully.

What they share, and why, is in `faithful`; the engines' own are in `faithful_dialects`, and those that are only written
here in `written_dialects`. Each is loaded when it is first used: sqlglot takes 10 to 40 ms for one.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect

from eval.schema import WRITTEN_DIALECTS, Dialect
from eval.sql.stack import with_headroom
from eval.sql.written_dialects import written_dialect

_CLASSES: dict[Dialect, str] = {
    "sqlite": "FaithfulSQLite",
    "duckdb": "FaithfulDuckDB",
    "postgres": "FaithfulPostgres",
    "mysql": "FaithfulMySQL",
    "spark": "FaithfulSpark",
    "clickhouse": "FaithfulClickHouse",
}


@cache
def faithful(dialect: Dialect) -> SqlglotDialect:
    """The faithful sqlglot dialect. Raises KeyError for a name that is not in `eval.schema.Dialect`."""
    if dialect in WRITTEN_DIALECTS:
        return written_dialect(dialect)
    name = _CLASSES[dialect]
    made: SqlglotDialect = getattr(import_module(f"eval.sql.faithful_dialects.{dialect}"), name)()
    return made


@with_headroom
def render(tree: exp.Expr, dialect: Dialect, pretty: bool = False) -> str:
    """Write a tree as SQL text, without comments. Raises RecursionError for a tree that is too deep to write."""
    return faithful(dialect).generate(tree, copy=True, pretty=pretty)
