"""What a query's figures are counted in, and what is open in how its columns were read from a file.

In: a query's tree and the schema, whose columns say how an import read them. Out: a unit for each column of the result,
and a sentence for each column of which the answer depends on a reading that is in doubt.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from eval.examination.stored_values import holds_text
from eval.schema import Column, Schema
from eval.sql.binding import Binding
from eval.sql.scopes import bind

_OF_ONE_UNIT = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Round, exp.Paren, exp.Coalesce, exp.Alias, exp.Abs)
_ORDERED = (exp.Ordered, exp.Min, exp.Max, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.Sum, exp.Avg)
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
    used = [(node, column) for node in tree.find_all(exp.Column) if (column := stored_column(node, binding, schema))]
    names = {column.name for _, column in used}
    told: dict[str, None] = {}
    for node, column in used:
        values = column.values
        if values is None or isinstance(node.parent, _NOT_READ):
            continue
        if values.letters:
            told[_in_doubt(column, values.letters)] = None
        computed = any(isinstance(above, _ORDERED) for above in _above(node))
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


def stored_column(node: exp.Expr, binding: Binding, schema: Schema) -> Column | None:
    """The column of the database that a column of the query is."""
    found = binding.columns.get(id(node))
    if found is None or found.origin is None:
        return None
    table = schema.table(found.origin[0])
    return table.column(found.origin[1]) if table else None


def _unit(shown: exp.Expr, binding: Binding, schema: Schema) -> str:
    while isinstance(shown, _OF_ONE_UNIT):
        shown = shown.this
    column = stored_column(shown, binding, schema) if isinstance(shown, exp.Column) else None
    return (column.values.unit or "") if column and column.values else ""
