"""The constants of a query that a person is to see: each has to be in rows that this person sees.

In: a query whose tables and columns are visible. Out: a statement that looks all of its constants up, None where there
is nothing to look up; or `Unseen`, where a constant cannot be looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from eval.errors import Text2SQLError
from eval.schema import Schema, Table
from eval.scoring.intent import read_intent
from eval.sql import ParsedQuery
from eval.sql.binding import Binding
from eval.sql.scopes import bind
from eval.sql.sources import quoted_column, table_source

MOST = 40
"""Constants of one query that are looked up."""
_APART = (exp.Limit, exp.Offset, exp.DataType, exp.Interval, exp.Fetch)
_RANGES = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike, *_RANGES)
_WRAPPED = (exp.Neg, exp.Paren, exp.Cast, exp.Tuple)
_FORMAT = re.compile(r"(?:%[A-Za-z]|[\W\d_]|(?:year|quarter|month|week|day|hour|minute|second|start of)s?)*")
"""A text that no value of a row is: a date's format or part."""
_DIGITS = re.compile(r"\d[\d.,]*")
_FEW_DIGITS = 3
"""Significant digits of a number that a query uses for its own reasons."""


class Unseen(Text2SQLError):
    """A constant that no visible row is known to hold."""


def look_up(parsed: ParsedQuery, schema: Schema) -> exp.Select | None:
    """A statement whose one row holds a truth for each constant. Raises Unseen."""
    assert parsed.tree is not None
    binding = bind(parsed.tree, parsed.dialect, schema)
    if any(found.is_string for found in binding.columns.values()) or any(n.comments for n in parsed.tree.walk()):
        raise Unseen  # SQLite's strings in double quotes; remarks
    found = list(dict.fromkeys(_conditions(parsed.tree, binding, schema)))
    if len(found) > MOST:
        raise Unseen
    named = [exp.alias_(exp.Exists(this=one), f"c{number}") for number, one in enumerate(found)]
    return exp.Select(expressions=named) if named else None


def says_only(text: str, parsed: ParsedQuery, schema: Schema) -> bool:
    """Whether all names, quotations and numbers in a text belong to its query or to the names of the schema."""
    assert parsed.tree is not None
    known = [node.name for node in parsed.tree.find_all(exp.Literal, exp.Identifier)]
    known += [name for t in schema.tables for name in (t.name, *(c.name for c in t.columns))]
    has = " ".join(known).casefold()
    intent = read_intent(text)
    said = [*intent.quoted, *(word for name in intent.proper for word in name.split())]
    said += [number for number in _DIGITS.findall(text) if not _is_small(number)]
    return all(one.casefold().strip(".,") in has for one in said)


def _conditions(tree: exp.Expr, binding: Binding, schema: Schema) -> Iterator[exp.Select]:
    for node in tree.dfs(prune=lambda n: isinstance(n, _APART)):
        if not isinstance(node, exp.Literal):
            continue
        child: exp.Expr = node
        while isinstance(child.parent, _WRAPPED):
            child = child.parent
        holder = child.parent
        table = None
        if isinstance(holder, _COMPARISONS):
            other = holder.expression if child.arg_key == "this" and isinstance(holder, exp.Binary) else holder.this
            cell, table = _of_one_table(other, binding, schema)
        if table is not None:
            # a constant of a range need not be stored itself: it has to lie among what is
            same: type[exp.Binary] = type(holder) if isinstance(holder, exp.Like | exp.ILike) else exp.EQ
            for kind in (exp.LTE, exp.GTE) if isinstance(holder, _RANGES) else (same,):
                value = (child if isinstance(child, exp.Neg | exp.Cast) else node).copy()
                found = exp.Where(this=kind(this=cell.copy(), expression=value))
                one = exp.Literal.number(1)
                select = exp.Select(expressions=[one], from_=exp.From(this=table_source(table)), where=found)
                yield select.limit(1, copy=False)
        elif not (_FORMAT.fullmatch(node.name) if node.is_string else _is_small(node.name)):
            raise Unseen


def _of_one_table(node: exp.Expr, binding: Binding, schema: Schema) -> tuple[exp.Expr, Table | None]:
    """The expression over the columns of a table alone, and the table; None where it is of none, or of several."""
    origins = [(c, b.origin if (b := binding.columns.get(id(c))) else None) for c in node.find_all(exp.Column)]
    tables = {origin[0] if origin else None for _, origin in origins}
    name = tables.pop() if len(tables) == 1 else None
    if name is None or node.find(exp.AggFunc, exp.Window, exp.Query):
        return node, None
    columns = [quoted_column(origin[1]) for _, origin in origins if origin]
    if isinstance(node, exp.Column):
        return columns[0], schema.table(name)
    copied = node.copy()
    for column, own in zip(list(copied.find_all(exp.Column)), columns, strict=True):
        column.replace(own)
    return copied, schema.table(name)


def _is_small(number: str) -> bool:
    digits = re.sub(r"\D", "", number).strip("0")
    return len(digits) <= _FEW_DIGITS
