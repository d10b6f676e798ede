"""What the columns hold by which a query orders or computes, where that is not what their types say.

In: a case that ran and its open database. Out: a sentence for each column of which the answer is in doubt: numbers or
dates that are kept as text and sort by their letters, texts among the numbers of SQLite, dates that are none. One
bounded statement a column, at most `MOST`; nothing is sent for a query that orders and computes by nothing.

`units` and `open_readings` ask no database: the schema's columns say how an import read them from a file. Out: a unit
for each column of the result, and a sentence for each column of which the answer depends on a reading in doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from eval.databases.base import Database
from eval.databases.types import CancelToken, Limits
from eval.examination.stored_values import holds_text
from eval.schema import NUMERIC, Column, Schema
from eval.scoring.types import Case
from eval.sql import check, parsed_from_tree
from eval.sql.binding import Binding
from eval.sql.scopes import bind
from eval.sql.sources import quoted_column, table_source

MOST = 4
"""Columns that are looked at."""
SAMPLE = 1000
"""Different values of a column that are looked at."""
LIMITS = Limits(seconds=0.5, rows=SAMPLE, cell_bytes=200)
_NEARLY_ALL = 0.8
_MOSTLY = 0.6
"""Part of the texts that must be figures, if the others hold no digit."""
_NUMBER = re.compile(r"[-+]?\s{0,2}[$€£¥]?\s{0,2}(\d[\d.,']{0,30})\s{0,2}[%$€£¥]?")
_READ_ANY = ("sqlite", "mysql")
"""Engines that make a number of any text: of what it begins with, else 0."""
_DAY_FIRST = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})(?: .*)?")
_ZERO_DATE = re.compile(r"0000-00-00.*")
_ORDERED = (exp.Ordered, exp.Min, exp.Max, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_COMPUTED = (exp.Sum, exp.Avg)
_SAME_VALUE = (exp.Paren, exp.Alias, exp.Coalesce, exp.And, exp.Or, exp.Not, exp.Where, exp.Having, exp.Order, exp.If)


def column_contents(case: Case, database: Database, cancel: CancelToken | None = None) -> tuple[str, ...]:
    """Empty where nothing is in doubt, and where the look-ups fail or take too long."""
    tree = case.parsed.tree
    if tree is None or case.schema is None:
        return ()
    told: dict[str, None] = {}
    asked: set[tuple[str, str]] = set()
    binding = bind(tree, case.schema.dialect, case.schema)
    for node in tree.find_all(exp.Column):
        used = _used(node, database.dialect)
        place = binding.stored(id(node), case.schema) if used else None
        if place is None or (place[0].name, place[1].name) in asked or place[1].values is not None:
            continue
        table, column = place
        condition = _asked(column, used, database.dialect)
        if condition is None or len(asked) == MOST:
            continue
        asked.add((table.name, column.name))
        cell: exp.Expr = quoted_column(column.name)
        if database.dialect == "mysql":
            cell = exp.cast(cell, "CHAR", dialect="mysql")
        query = exp.select(exp.alias_(cell, "v")).distinct().from_(table_source(table)).where(condition).limit(SAMPLE)
        statement = check(parsed_from_tree(query, database.dialect)).statement
        result = database.execute(statement, limits=LIMITS, cancel=cancel) if statement is not None else None
        values = [str(row[0]) for row in result.rows] if result is not None and result.ok else []
        if doubt := _doubt(column, values, used):
            told[f"“{column.name}” {doubt}"] = None
    return tuple(told)


def _used(node: exp.Column, dialect: str) -> str:
    """`ordered`, `computed` or neither: the column itself, and not what a function makes of it. A cast computes where
    the engine reads any text as a number."""
    above, cast = node.parent, False
    while above is not None and not isinstance(above, exp.Query):
        if isinstance(above, _COMPUTED):
            return "computed"
        if isinstance(above, _ORDERED):
            return "computed" if cast else "ordered"
        if type(above) is exp.Cast and dialect in _READ_ANY and NUMERIC.search(above.to.sql()):
            cast, above = True, above.parent
            continue
        if not isinstance(above, _SAME_VALUE):
            return ""
        above = above.parent
    return ""


def _asked(column: Column, used: str, dialect: str) -> exp.Expr | None:
    """Which values are worth a look; None where the type leaves no doubt."""
    cell = quoted_column(column.name)
    if holds_text(column):
        asked = used == "ordered" or dialect in _READ_ANY
        return exp.Not(this=exp.Is(this=cell, expression=exp.Null())) if asked else None
    if dialect == "sqlite":
        kind = exp.Anonymous(this="TYPEOF", expressions=[cell])
        return exp.EQ(this=kind, expression=exp.Literal.string("text"))
    if dialect == "mysql" and column.type.lower().startswith(("date", "timestamp")):
        return exp.LT(this=cell, expression=exp.Literal.string("0001-01-01"))
    return None


def _doubt(column: Column, values: Sequence[str], used: str) -> str:
    zero = next((v for v in values if _ZERO_DATE.fullmatch(v)), None)
    if zero:
        return f"holds dates that are none ({zero}), which come before all others"
    if not holds_text(column):
        odd = [v for v in values if not re.fullmatch(r"\d{4}-\d{2}-\d{2}.*", v) is not None]
        return f"holds texts among its values ({odd[0][:40]!r}), which come behind all numbers" if odd else ""
    numbers = [(v, number) for v in values if (number := _number(v)) is not None]
    others = [v for v in values if _number(v) is None]
    words = not any(c.isdecimal() for v in others for c in v)
    if len(numbers) < 2 or len(numbers) < (_MOSTLY if words else _NEARLY_ALL) * len(values):
        numbers = []
    if used == "computed" and numbers:
        other = next((v for v in values if not re.fullmatch(r"\s*[-+]?\d+(\.\d*)?\s*", v)), "")
        return f"holds {other[:40]!r} among its figures, which is read as another number" if other else ""
    if numbers and others:
        return f"is kept as text: {max(others)[:40]!r} among its figures is sorted by its letters"
    if numbers:
        by_letters, by_number = max(numbers)[0], max(numbers, key=lambda one: one[1])[0]
        if [v for v, _ in sorted(numbers)] != [v for v, _ in sorted(numbers, key=lambda one: one[1])]:
            return f"is kept as text, which sorts by its signs: {by_letters} comes behind {by_number}"
    days = [v for v in values if _DAY_FIRST.fullmatch(v)]
    if len(values) > 1 and len(days) >= _NEARLY_ALL * len(values):
        return f"holds dates as text, which sort by their first figures ({max(days)} comes last)"
    return ""


def _number(text: str) -> float | None:
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    plain = found[1].replace(",", "").replace("'", "")
    try:
        return -float(plain) if text.strip().startswith("-") else float(plain)
    except ValueError:
        return None


_OF_ONE_UNIT = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Round, exp.Paren, exp.Coalesce, exp.Alias, exp.Abs)
_COMPUTED_WITH = (exp.Ordered, exp.Min, exp.Max, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.Sum, exp.Avg)
_NOT_READ = (exp.Is, exp.Count)
"""What asks only whether there is a value."""


def units(tree: exp.Expression, schema: Schema) -> tuple[str, ...]:
    """The unit of each output column, empty where it has none; no units at all: an empty tuple."""
    if not isinstance(tree, exp.Select) or tree.is_star or not _read_from_files(schema):
        return ()
    binding = bind(tree, schema.dialect, schema)
    by_column = tuple(_unit(column, binding, schema) for column in tree.expressions)
    return by_column if any(by_column) else ()


def open_readings(tree: exp.Expression, schema: Schema) -> tuple[str, ...]:
    """A sentence for each column in doubt that the query computes with; of text, only where its order counts, or where
    its letters are in doubt."""
    if not _read_from_files(schema):
        return ()
    binding = bind(tree, schema.dialect, schema)
    used = [(node, place[1]) for node in tree.find_all(exp.Column) if (place := binding.stored(id(node), schema))]
    names = {column.name for _, column in used}
    told: dict[str, None] = {}
    for node, column in used:
        values = column.values
        if values is None or isinstance(node.parent, _NOT_READ):
            continue
        if values.letters:
            told[_in_doubt(column, values.letters)] = None
        computed = any(isinstance(above, _COMPUTED_WITH) for above in _above(node))
        if values.doubt and (computed or not holds_text(column)):
            told[_in_doubt(column, values.doubt)] = None
        if computed and values.unit_column and values.unit_column not in names:
            told[f"“{column.name}” is in several units, which “{values.unit_column}” names"] = None
        if computed and values.direction and (other := values.direction.partition("|")[0]) not in names:
            told[f"“{column.name}” is of what came in and of what went out; “{other}” tells which"] = None
    read = dict.fromkeys(t.name for t in tree.find_all(exp.Table)) if tree.is_star else {}
    shown = [table for table in map(schema.table, read) if table is not None]
    letters = (_in_doubt(c, c.values.letters) for t in shown for c in t.columns if c.values and c.values.letters)
    return tuple(told | dict.fromkeys(letters))


def _in_doubt(column: Column, doubt: str) -> str:
    return f"“{column.name}” in the file: {doubt}"


def _read_from_files(schema: Schema) -> bool:
    return any(column.values for table in schema.tables for column in table.columns)


def _above(node: exp.Expr) -> Iterator[exp.Expr]:
    """The expressions that hold a column, up to its SELECT."""
    above = node.parent
    while above is not None and not isinstance(above, exp.Query):
        yield above
        above = above.parent


def _unit(shown: exp.Expr, binding: Binding, schema: Schema) -> str:
    while isinstance(shown, _OF_ONE_UNIT):
        shown = shown.this
    place = binding.stored(id(shown), schema)
    return (place[1].values.unit or "") if place and place[1].values else ""
