"""Figures that are kept as text, as numbers of each dialect.

In: a column's expression and how its figures are written. Out: an expression that is NULL where the text is no figure.
"""

from __future__ import annotations

from sqlglot import exp

from eval.language.numbers import TextFigures
from eval.schema import Dialect

_FIGURE = "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)$"
_PLAIN_CAST: tuple[Dialect, ...] = ("sqlite", "mysql", "spark")
"""Engines without a cast that gives NULL for what is no number: SQLite and MySQL read any text, if need be as 0."""


def as_number(column: exp.Expr, written: TextFigures, dialect: Dialect) -> exp.Expr:
    """The number that a text is."""
    bare = column
    for sign in written.signs:
        bare = exp.Anonymous(this="REPLACE", expressions=[bare, exp.Literal.string(sign), exp.Literal.string("")])
    if dialect in _PLAIN_CAST or (dialect == "postgres" and written.complete):
        for other in ("", *written.others):
            bare = exp.Nullif(this=bare, expression=exp.Literal.string(other))
    if dialect in ("sqlite", "spark"):
        return exp.cast(bare, "DOUBLE")
    if dialect == "clickhouse":
        return exp.Anonymous(this="toFloat64OrNull", expressions=[bare])
    if dialect == "mysql":
        return exp.paren(exp.Add(this=bare, expression=exp.Literal.number("0.0")), copy=False)
    if dialect == "postgres" and written.complete:
        return exp.cast(bare, "DECIMAL")
    if dialect == "postgres":
        is_figure = exp.RegexpLike(this=bare.copy(), expression=exp.Literal.string(_FIGURE))
        return exp.Case(ifs=[exp.If(this=is_figure, true=exp.cast(bare, "DECIMAL"))])
    return exp.TryCast(this=bare, to=exp.DataType.build("DOUBLE"))
