"""Translate a query to another dialect: `translated`, for a query that was written for another engine.

In: SQL and two dialects. Out: SQL with the same meaning, as far as the target dialect can express it. sqlglot does most
of the work. MySQL's date functions, which sqlglot leaves unchanged for SQLite, are rewritten with SQLite's own
functions. No SQL that an agent writes passes through it. Expressions of other tools' files (`transpiled`) may be in
dialects that we do not run (`snowflake`, `bigquery`, ANSI SQL); nothing of them runs before the result was parsed and
checked again in the database's own dialect.
"""

from __future__ import annotations

from sqlglot import ErrorLevel, exp, parse, parse_one
from sqlglot.errors import SqlglotError

from eval.schema import Dialect
from eval.sql.bounds import with_headroom

_PARTS: dict[type[exp.Expr], str] = {exp.Year: "%Y", exp.Month: "%m", exp.Day: "%d", exp.DayOfMonth: "%d"}
_UNITS = {"YEAR": ("year", 1), "QUARTER": ("month", 3), "MONTH": ("month", 1), "WEEK": ("day", 7), "DAY": ("day", 1)}


@with_headroom
def translated(sql: str, read: Dialect, write: Dialect) -> str:
    """The query in the other dialect. An unparsable query is returned unchanged, so that its own error shows."""
    if read == write:
        return sql
    try:
        trees = [tree for tree in parse(sql, read=read) if tree is not None]
        if write == "sqlite":
            trees = [tree.transform(_for_sqlite) for tree in trees]
        return ";\n".join(tree.sql(dialect=write, unsupported_level=ErrorLevel.IGNORE) for tree in trees) or sql
    except (SqlglotError, RecursionError):
        return sql


def _for_sqlite(node: exp.Expr) -> exp.Expr:
    pattern = _PARTS.get(type(node))
    if pattern is not None:
        date = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
        return exp.cast(exp.func("STRFTIME", exp.Literal.string(pattern), date), "INTEGER", dialect="sqlite")
    if isinstance(node, exp.DateSub | exp.DateAdd):
        return _shifted(node) or node
    return node


def _shifted(node: exp.DateSub | exp.DateAdd) -> exp.Expr | None:
    """`DATE_SUB(d, INTERVAL 1 YEAR)` → `DATE(d, '-1 year')`; None when the amount is not a whole number."""
    unit, amount = _UNITS.get(str(node.args.get("unit") or "").upper()), node.expression
    if unit is None or not isinstance(amount, exp.Literal) or not amount.name.isdecimal():
        return None
    sign = "-" if isinstance(node, exp.DateSub) else "+"
    shift = exp.Literal.string(f"{sign}{int(amount.name) * unit[1]} {unit[0]}")
    return exp.Anonymous(this="DATE", expressions=[node.this, shift])


MAX_LENGTH = 10_000
"""Characters of one expression."""


@with_headroom
def foreign_expression(text: str, dialect: str) -> exp.Expr | None:
    """The tree; None where the text cannot be read. An empty dialect is ANSI SQL."""
    if len(text) > MAX_LENGTH:
        return None
    try:
        return parse_one(text, dialect=dialect or None)
    except (SqlglotError, RecursionError):
        return None


def transpiled(text: str, dialect: str, target: str) -> str | None:
    """The expression in another dialect; None where it cannot be read."""
    tree = foreign_expression(text, dialect)
    return None if tree is None else tree.sql(dialect=target)
