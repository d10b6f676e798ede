"""Figures that are kept as text, and parts of dates, ages and days between two dates, as each dialect writes them.

In: column expressions of sqlglot, with how the database keeps them. Out: expressions of the same kind.
"""

from __future__ import annotations

import re

from sqlglot import exp

from agent.knowledge.stored_dates import UNIX, UNIX_MS
from agent.parser.interpretation import Unit
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


_PERCENT = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d", "week": "%Y-%W", "weekday": "%w", "hour": "%H"}
_FORMATS = {
    "sqlite": ("STRFTIME", _PERCENT),
    "duckdb": ("STRFTIME", _PERCENT),
    "mysql": ("DATE_FORMAT", _PERCENT),
    "spark": ("DATE_FORMAT", {"year": "yyyy", "month": "yyyy-MM", "day": "yyyy-MM-dd", "hour": "HH"}),
    "clickhouse": ("formatDateTime", _PERCENT | {"week": "%G-%V"}),
    "postgres": (
        "TO_CHAR",
        {"year": "YYYY", "month": "YYYY-MM", "day": "YYYY-MM-DD", "week": "IYYY-IW", "hour": "HH24"},
    ),
}


class DateFunctions:
    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._function, self._formats = _FORMATS[dialect]

    def moment(self, column: exp.Expr, form: str) -> exp.Expr:
        """A date in another form than the engine's own (see `stored_dates`), as the engine's own."""
        counted = form in (UNIX, UNIX_MS)
        seconds = column if form != UNIX_MS else exp.Div(this=column, expression=exp.Literal.number(1000), typed=True)
        if self._dialect == "sqlite" and counted:
            return exp.Anonymous(this="DATETIME", expressions=[seconds, exp.Literal.string("unixepoch")])
        if self._dialect == "sqlite":
            return _iso_text(column, form)
        if self._dialect == "clickhouse":
            stored = exp.cast(seconds, exp.DataType.Type.TEXT)
            text = stored if counted else _iso_text(stored, form)
            return exp.Anonymous(this="parseDateTimeBestEffortOrNull", expressions=[text])
        if counted:
            return exp.UnixToTime(this=seconds)
        text = column if form != "%Y%m%d" else exp.cast(column, exp.DataType.Type.TEXT)
        return exp.StrToTime(this=text, format=exp.Literal.string(form), safe=True)

    def part(self, column: exp.Expr, declared: str, part: str) -> exp.Expr:
        """The year, quarter, month, week, day, weekday, hour or month and day of a column, as text.

        `declared` is the column's type in the database; text is read as a date first where the engine does not do so.
        """
        strict = self._dialect in ("postgres", "duckdb", "spark")
        if self._dialect == "clickhouse" and "String" in declared:
            column = exp.Anonymous(this="parseDateTimeBestEffortOrNull", expressions=[column])
        elif strict and not re.search("date|time", declared, re.IGNORECASE):
            column = exp.cast(column, exp.DataType.Type.TIMESTAMP)
        if part == "quarter":
            return self._quarter(column)
        if self._dialect == "spark" and part == "week":
            # `2024-07`, the ISO year and week: Spark formats no dates by week
            year = exp.Extract(this=exp.var("YEAROFWEEK"), expression=column)
            week = exp.Anonymous(this="WEEKOFYEAR", expressions=[column.copy()])
            two = exp.Anonymous(this="LPAD", expressions=[week, exp.Literal.number(2), exp.Literal.string("0")])
            return exp.Anonymous(this="CONCAT", expressions=[year, exp.Literal.string("-"), two])
        if self._dialect == "spark" and part == "weekday":  # 0 is Sunday, as text like the other engines' format
            day = exp.Anonymous(this="DAYOFWEEK", expressions=[column])
            return exp.cast(exp.Sub(this=day, expression=exp.Literal.number(1)), exp.DataType.Type.TEXT)
        if self._dialect == "postgres" and part == "weekday":  # TO_CHAR counts from 1
            return exp.cast(exp.Extract(this=exp.var("DOW"), expression=column), exp.DataType.Type.TEXT)
        return self._formatted(column, self._formats[part])

    def elapsed(self, start: exp.Expr, end: exp.Expr, unit: Unit) -> exp.Expr:
        """The time from one date to another, in the unit; with fractions if the columns hold times."""
        if self._dialect == "sqlite":
            moments = [exp.Anonymous(this="JULIANDAY", expressions=[x]) for x in (end, start)]
            days: exp.Expr = exp.Sub(this=moments[0], expression=moments[1])
            if unit in _PARTS_OF_DAY:
                number = exp.Literal.number(_PARTS_OF_DAY[unit])
                return exp.Mul(this=exp.paren(days, copy=False), expression=number)
            return _divided(days, 7) if unit == "week" else days
        if unit in _PARTS_OF_DAY:
            return _divided(self._seconds(start, end), 86400 // _PARTS_OF_DAY[unit])
        days = self._days(start, end)
        return _divided(days, 7) if unit == "week" else days

    def _days(self, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        if self._dialect in ("mysql", "spark"):
            return exp.Anonymous(this="DATEDIFF", expressions=[end, start])
        if self._dialect == "clickhouse":
            return exp.Anonymous(this="dateDiff", expressions=[exp.Literal.string("day"), start, end])
        dates = [exp.cast(x, exp.DataType.Type.DATE) for x in (end, start)]
        return exp.Sub(this=dates[0], expression=dates[1])

    def _seconds(self, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        if self._dialect == "mysql":
            return exp.Anonymous(this="TIMESTAMPDIFF", expressions=[exp.var("SECOND"), start, end])
        if self._dialect == "spark":
            seconds = [exp.Anonymous(this="UNIX_TIMESTAMP", expressions=[x]) for x in (end, start)]
            return exp.Sub(this=seconds[0], expression=seconds[1])
        if self._dialect == "clickhouse":
            return exp.Anonymous(this="dateDiff", expressions=[exp.Literal.string("second"), start, end])
        moments = [exp.cast(x, exp.DataType.Type.TIMESTAMP) for x in (end, start)]
        passed = exp.paren(exp.Sub(this=moments[0], expression=moments[1]), copy=False)
        return exp.Extract(this=exp.var("EPOCH"), expression=passed)

    def _formatted(self, column: exp.Expr, pattern: str) -> exp.Expr:
        arguments = [column, exp.Literal.string(pattern)]
        return exp.Anonymous(
            this=self._function, expressions=arguments[::-1] if self._dialect == "sqlite" else arguments
        )

    def _quarter(self, column: exp.Expr) -> exp.Expr:
        """`2024-Q1`: PostgreSQL and Spark have a format for it; for other engines it is computed from the month."""
        if self._dialect == "spark":
            return self._formatted(column, "yyyy-'Q'q")
        if self._dialect == "postgres":
            return self._formatted(column, 'YYYY"-Q"Q')
        month = exp.cast(self._formatted(column, "%m"), exp.DataType.Type.INT)
        ends = ((3, "-Q1"), (6, "-Q2"), (9, "-Q3"))
        ifs = [
            exp.If(this=exp.LTE(this=month.copy(), expression=exp.Literal.number(m)), true=exp.Literal.string(q))
            for m, q in ends
        ]
        quarter = exp.Case(ifs=ifs, default=exp.Literal.string("-Q4"))
        year = self._formatted(column.copy(), self._formats["year"])
        if self._dialect == "mysql":
            return exp.Concat(expressions=[year, quarter])
        return exp.DPipe(this=year, expression=quarter)


def _iso_text(column: exp.Expr, form: str) -> exp.Expr:
    """ISO text, which SQLite compares and formats, from the parts of a text."""
    starts, at = {}, 1
    for piece in re.findall(r"%[dmY]|[^%]", form.partition(" ")[0]):
        starts[piece[-1]] = at
        at += {"%Y": 4, "%m": 2, "%d": 2}.get(piece, 1)

    def cut(*bounds: int) -> exp.Expr:
        return exp.Anonymous(this="SUBSTR", expressions=[column.copy(), *map(exp.Literal.number, bounds)])

    dash = exp.Literal.string("-")
    pieces = [cut(starts["Y"], 4), dash, cut(starts["m"], 2), dash.copy(), cut(starts["d"], 2)]
    if " " in form:
        pieces.append(cut(at))  # the time of day
    text = pieces[0]
    for further in pieces[1:]:
        text = exp.DPipe(this=text, expression=further, safe=True)
    return exp.paren(text, copy=False)


_PARTS_OF_DAY: dict[Unit, int] = {"hour": 24, "minute": 1440}


def _divided(passed: exp.Expr, by: int) -> exp.Expr:
    return exp.Div(this=exp.paren(passed, copy=False), expression=exp.Literal.number(f"{by}.0"), typed=True)
