"""Small questions that several checks ask of a query: which names are keys, and whose column one is."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from eval.language.words import name_words
from eval.schema import Schema
from eval.sql.traversal import every


def is_key_name(column: str) -> bool:
    parts = name_words(column)
    return bool(parts) and (parts[-1] in ("id", "code", "key", "uid") or column.lower().endswith("id"))


def tables_by_alias(select: exp.Expr) -> dict[str, str]:
    """The names of the tables that a SELECT and its subqueries read, by what they are called there, folded."""
    return {t.alias_or_name.casefold(): t.name for t in every(select, exp.Table)}


def owners(column: exp.Column, sources: Mapping[str, str], schema: Schema) -> list[tuple[str, str]]:
    """The real (table, column) pairs that a column may be of: that of its qualifier, or of any source."""
    names = [sources.get(column.table.casefold(), "")] if column.table else list(sources.values())
    tables = (table for name in names if (table := schema.table(name)) is not None)
    return [(table.name, known.name) for table in tables if (known := table.column(column.name)) is not None]
