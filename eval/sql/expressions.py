"""Expressions of other tools' files, in dialects that we do not run (`snowflake`, `bigquery`, ANSI SQL).

In: a text and sqlglot's name of its dialect. Out: a tree or a text. Nothing of it runs before the result was parsed
and checked again in the database's own dialect.
"""

from __future__ import annotations

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from eval.sql.stack import with_headroom

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
