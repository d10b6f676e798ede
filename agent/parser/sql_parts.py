"""What a statement is spelled with: names of tables with their aliases and of columns with their owners, names for
computed columns (`orders`, `average_price`), and each dialect's functions for dates and for figures kept as text.

In: names of the schema, column expressions of sqlglot. Out: identifiers, quoted when necessary, the conditions of
joins, and expressions. An alias is the same in the whole statement. A query's tree, with its computed columns named,
and GROUP BY and ORDER BY using those names.
"""

from __future__ import annotations

import re
from itertools import chain, count

from sqlglot import exp

from agent.knowledge.stored_dates import UNIX, UNIX_MS
from agent.knowledge.vocabulary import Vocabulary
from agent.parser.interpretation import CALLED, ColumnKey, Expression, Query, Unit
from agent.parser.joins import Edge, JoinGraph
from agent.parser.word_lists import word_list
from eval.language.inflection import plural_phrase
from eval.language.lexicon import word_set
from eval.language.numbers import TextFigures
from eval.schema import Dialect, Table
from eval.sql.traversal import every

_OF_DATES = {"min": "earliest", "max": "latest"}
_NAMED_BY_SHAPE = ("ratio", "average", "median", "count", "change", "difference")
_SUMS = word_set("total sum amount")
_CALENDAR = word_set("year quarter month week day")
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")


def name_columns(tree: exp.Select, query: Query, vocabulary: Vocabulary) -> exp.Select:
    """Name the computed columns of the outermost select, and those that two tables both have."""
    if (query.shape is not None and query.shape.kind in _NAMED_BY_SHAPE) or query.within:
        return tree
    names: list[tuple[exp.Expression, str]] = []
    for shown, name in zip(list(tree.expressions), result_names(tree, query, vocabulary), strict=False):
        if name and name != shown.name:
            if not isinstance(shown, exp.Column):
                names.append((shown.copy(), name))
            shown.replace(exp.alias_(shown.copy(), name))
    clauses = [tree.args[name] for name in ("group", "order") if tree.args.get(name) is not None]
    for part in [part for clause in clauses for part in clause.expressions]:
        inner = part.this if isinstance(part, exp.Ordered) else part
        name = next((n for e, n in names if e == inner), "")
        if name:
            inner.replace(exp.column(name))
    return tree


def result_names(tree: exp.Select, query: Query, vocabulary: Vocabulary) -> list[str]:
    """A name for each column shown: its own, or one that says what is computed, or whose it is. No name is given twice;
    "" where none is free."""
    tables = {t.name for t in every(tree, exp.Table)}
    names_in_use = {c.name.lower() for t in tables for c in vocabulary.by_table.get(t, ())} | (RESERVED - _CALENDAR)
    names: list[str] = []
    for shown, e in zip(tree.expressions, query.select, strict=False):
        if isinstance(shown, exp.Column) and not isinstance(shown.this, exp.Star):
            same = [x for x in tree.expressions if isinstance(x, exp.Column) and x.name == shown.name]
            name = shown.name if len(same) == 1 else _unused(_owner(e, vocabulary), names_in_use, "name")
        elif e.function or e.part or e.since:
            name = _unused(_name(e, vocabulary), names_in_use, "sum" if e.function == "sum" else "count")
        else:
            name = ""
        names_in_use.add(name)
        names.append(name)
    return names


def _owner(e: Expression, vocabulary: Vocabulary) -> str:
    """The name of a column that another table has, too: `category` for the name of a category."""
    assert e.column is not None
    table, column = vocabulary.tables[e.column[0]], vocabulary.columns[e.column]
    if e.via:
        return role(vocabulary.columns[e.column[0], e.via].words)
    named = column in vocabulary.name_columns(e.column[0])
    return "_".join(table.words if named else (*table.words, *column.words))


def role(words: tuple[str, ...]) -> str:
    """What the rows are to those that refer to them, from the words of the referring column: `manager`."""
    return "_".join(w for w in words if w not in ("id", "key", "code", "number"))


def _unused(name: str, names_in_use: set[str], kind: str) -> str:
    if not _PLAIN_NAME.match(name):
        return ""
    return next((n for n in (name, f"{name}_{kind}", f"{name}_2", f"{name}_3") if n not in names_in_use), "")


def _name(e: Expression, vocabulary: Vocabulary) -> str:
    if e.part:
        return {"weekday": "weekday", "hour": "hour_of_day"}.get(e.part, e.part)
    if e.function == "count":
        if e.share:
            return "share_percent"
        if e.column is not None:
            return plural_phrase(vocabulary.columns[e.column].words).replace(" ", "_")
        return vocabulary.tables[e.table].plural.replace(" ", "_") if e.table else "number_of_rows"
    if e.since is not None:
        return f"{CALLED[e.function]}_{e.unit}s" if e.function else f"{e.unit}s"
    assert e.column is not None
    column = vocabulary.columns[e.column]
    if e.factor is not None:
        return "revenue" if e.function == "sum" else f"{CALLED[e.function]}_value"
    words = "_".join(column.words)
    if e.function == "sum" and _SUMS & set(column.words):
        return words if column.words[0] == "total" else f"total_{words}"
    function = _OF_DATES.get(e.function) if column.role in ("date", "year") else None
    return f"{function or CALLED[e.function]}_{words}"


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
RESERVED = word_list("reserved")
"""Words that are no alias and no bare name."""


def identifier(name: str) -> exp.Identifier:
    """A name, quoted when necessary."""
    return exp.to_identifier(name, quoted=not _PLAIN.match(name) or name.lower() in RESERVED or name != name.lower())


def table_named(table: Table) -> exp.Table:
    """A table by its name, with its namespace where the bare name is not enough."""
    name = table.stored_name or table.name
    return exp.Table(this=identifier(name), db=identifier(table.namespace) if table.namespace else None)


class Names:
    """The names of one statement."""

    def __init__(self, vocabulary: Vocabulary, graph: JoinGraph) -> None:
        self._vocabulary, self._graph = vocabulary, graph
        self._aliases: dict[str, str] = {}

    def table(self, name: str, alone: bool) -> exp.Table:
        """The table, with its alias unless it is `alone` in its query."""
        named = table_named(self._vocabulary.tables[name].table)
        if not alone:
            named.set("alias", exp.TableAlias(this=self.alias(name)))
        return named

    def alias(self, name: str) -> exp.Identifier:
        """A short name for a table in a join: the initials of its words, the same in the whole statement."""
        known = self._aliases.get(name)
        if known is None:
            initials = "".join(w[0] for w in self._vocabulary.tables[name].words if w[:1].isascii() and w[:1].isalpha())
            start = initials.lower()[:4] or "t"
            in_use = set(self._aliases.values())
            possible = chain((start,), (f"{start}{k}" for k in count(2)))
            known = next(a for a in possible if a not in in_use and a not in RESERVED)
            self._aliases[name] = known
        return exp.to_identifier(known)

    def column(self, key: ColumnKey, alone: bool = False) -> exp.Column:
        return exp.Column(this=identifier(key[1]), table=None if alone else self.alias(key[0]))

    def column_of_other(self, key: ColumnKey, referring: str) -> exp.Column:
        """The column of the row that a row of the same table refers to."""
        return exp.Column(this=identifier(key[1]), table=self._alias_of_other(key[0], referring))

    def _alias_of_other(self, table: str, referring: str) -> exp.Identifier:
        """The alias of the rows referred to: the words of the referring column (`manager`)."""
        name = role(self._vocabulary.columns[table, referring].words)
        plain = _PLAIN.match(name) and name not in RESERVED
        return exp.to_identifier(name if plain else f"{self.alias(table).name}_other")

    def other(self, table: str, referring: str) -> tuple[exp.Table, exp.Expr]:
        """The same table again, under another name, for the rows referred to, and how they are joined."""
        edge = next(e for e in self._graph.edges(table) if e.left == e.right and referring in e.left_columns)
        other = self.table(table, True)
        other.set("alias", exp.TableAlias(this=self._alias_of_other(table, referring)))
        pairs = [
            exp.EQ(this=self.column_of_other((table, target), referring), expression=self.column((table, own)))
            for own, target in zip(edge.left_columns, edge.right_columns, strict=True)
        ]
        return other, exp.and_(*pairs, copy=False)

    def joined(self, edge: Edge) -> exp.Expr:
        """The condition that joins the two tables of a foreign key."""
        pairs = [
            exp.EQ(this=self.column((edge.left, a)), expression=self.column((edge.right, b)))
            for a, b in zip(edge.left_columns, edge.right_columns, strict=True)
        ]
        return exp.and_(*pairs, copy=False)


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
