"""Quoted names as syntax trees, for the statements that this program builds itself."""

from __future__ import annotations

from sqlglot import exp

from eval.schema import Table


def quoted_name(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def quoted_column(name: str, table: str | exp.Identifier | None = None) -> exp.Column:
    return exp.column(quoted_name(name), table=table)


def table_source(table: Table) -> exp.Table:
    """The table in a FROM clause, with its namespace if it has one."""
    name = table.stored_name or table.name
    return exp.Table(this=quoted_name(name), db=quoted_name(table.namespace) if table.namespace else None)
