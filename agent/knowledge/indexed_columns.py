"""Indexed columns: which columns the value index reads, by their names and declared types."""

from __future__ import annotations

import re

from eval.schema import Column, Schema, Table

_TEXT = re.compile(r"char|text|clob|string|enum|set\b|citext|name\b|uuid", re.I)
_NOT_TEXT = re.compile(r"int|real|num|dec|float|doub|money|serial|date|time|blob|bytea|bool|json|uuid|binary", re.I)


def may_hold_names(table: Table, column: Column) -> bool:
    """Whether the declared type is text-like or missing. Foreign keys are included, because their codes are useful,
    too."""
    if table.kind == "view":
        return False
    if not column.type:
        return True
    return (bool(_TEXT.search(column.type)) and not re.search(r"uuid|binary", column.type, re.I)) or (
        not _NOT_TEXT.search(column.type)
    )


_DATED = re.compile(r"date|time|stamp|epoch|(?:^|_)(?:dt|ts|at|on)(?:_|$)|(?-i:[a-z](?:At|On|Dt|Ts)$)", re.I)


def dated_name(name: str) -> bool:
    """Whether a column's name says that it holds dates."""
    return _DATED.search(name) is not None


def may_hold_dates(table: Table, column: Column, schema: Schema) -> bool:
    """Whether a column that is no text may hold dates in a form that its type does not tell: a number, or in SQLite
    anything."""
    if table.kind == "view" or column.primary_key or may_hold_names(table, column):
        return False
    if re.search("int|num|dec", column.type, re.I):
        return dated_name(column.name)
    return schema.dialect == "sqlite" and re.search("date|time", column.type, re.I) is not None


def may_hold_bits(table: Table, column: Column) -> bool:
    """Whether an integer column may only say yes or no."""
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    counted = column.primary_key or column.name in keys
    return table.kind != "view" and not counted and re.search("int|bit", column.type, re.I) is not None
