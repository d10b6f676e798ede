"""Read DuckDB's catalogue into a `Schema`: four catalogue-wide statements and one that counts all tables.

In: an open connection. Out: tables and views of the opened database, of all its schemas but the one that keeps the
cells of imported files as they were written; the views that show those stand apart. Raises duckdb.Error.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from eval.databases.catalogue.table_drafts import Draft, count_statement, keep_counts, quoted
from eval.schema import Column, ForeignKey, Index, Schema, Values

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

AS_WRITTEN = "as_written"
"""Name of the schema whose tables are reached through views alone, and the end of their names."""
_RELATIONS = """
SELECT table_oid, schema_name, schema_name = current_schema(), table_name, comment, 'table', 0
FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal AND NOT temporary
UNION ALL
SELECT view_oid, schema_name, schema_name = current_schema(), view_name, comment, 'view', 1
FROM duckdb_views() WHERE database_name = current_database() AND NOT internal AND NOT temporary
ORDER BY 7, 1
"""
_COLUMNS = """
SELECT schema_name, table_name, column_name, data_type, is_nullable, column_default, comment, is_generated
FROM duckdb_columns() WHERE database_name = current_database() AND NOT internal
ORDER BY table_oid, column_index
"""
_CONSTRAINTS = """
SELECT schema_name, table_name, constraint_type, constraint_column_names, constraint_name, referenced_table,
    referenced_column_names
FROM duckdb_constraints() WHERE database_name = current_database()
    AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
ORDER BY table_oid, constraint_index
"""
_INDEXES = """
SELECT schema_name, table_name, index_name, is_unique, expressions FROM duckdb_indexes()
WHERE database_name = current_database() ORDER BY index_oid
"""


def read_schema(connection: DuckDBPyConnection) -> Schema:
    def rows(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql).fetchall()

    drafts: dict[tuple[str, str], Draft] = {}
    kept: set[str] = set()
    for _oid, schema, reached, name, comment, kind, _order in rows(_RELATIONS):
        if schema == AS_WRITTEN:
            kept.add(f"{name}_{AS_WRITTEN}")
        else:
            namespace = None if reached else schema
            drafts[schema, name] = Draft(name, namespace, (schema, name), kind=kind, comment=comment)
    columns = rows(_COLUMNS)
    read = {(table, name): _as_read(comment) for schema, table, name, *_, comment, _ in columns if schema == AS_WRITTEN}
    for schema, table, name, data_type, nullable, default, comment, generated in columns:
        if draft := drafts.get((schema, table)):
            shown_default = None if generated or default == "NULL" else default
            values = read.get((table, name))
            draft.columns.append(Column(name, data_type, bool(nullable), False, shown_default, comment, values))
    for schema, table, kind, columns, name, ref_table, ref_columns in rows(_CONSTRAINTS):
        draft = drafts.get((schema, table))
        if draft is None:
            continue
        if kind == "PRIMARY KEY":
            draft.primary_key = tuple(columns)
        elif kind == "UNIQUE":
            draft.indexes.append(Index(name or "", tuple(columns), unique=True))
        else:
            draft.foreign_keys.append(ForeignKey(tuple(columns), ref_table, tuple(ref_columns)))
    for schema, table, name, unique, expressions in rows(_INDEXES):
        if (draft := drafts.get((schema, table))) and (indexed := _indexed_columns(expressions, draft)):
            draft.indexes.append(Index(name, indexed, unique=bool(unique)))
    tables = [d for d in drafts.values() if d.kind == "table"]
    for start in range(0, len(tables), 200):  # count(*) is answered from DuckDB's own metadata
        chunk = tables[start : start + 200]
        keep_counts(chunk, rows(count_statement(chunk, "duckdb")))
    found = [d for d in drafts.values() if d.columns]
    shows_kept = [d for d in found if d.kind == "view" and d.name in kept]
    return Schema(
        "duckdb",
        tuple(d.table() for d in found if d not in shows_kept),
        as_written=tuple(d.table() for d in shows_kept),
    )


def as_read(values: Values) -> str:
    """The comment on a column of `AS_WRITTEN`: how the import read it."""
    return json.dumps(asdict(values), ensure_ascii=False)


def _as_read(comment: str | None) -> Values | None:
    try:
        facts = json.loads(comment or "null")
    except ValueError:
        return None
    if not isinstance(facts, dict):
        return None
    return Values(*(str(fact)[:200] if (fact := facts.get(of.name)) else None for of in fields(Values)))


def _indexed_columns(expressions: str, draft: Draft) -> tuple[str, ...]:
    """The column names in `[a, "b c"]`; empty when an index is on an expression."""
    by_text = {name: c.name for c in draft.columns for name in (c.name, quoted((c.name,), "duckdb"))}
    text = expressions.strip("[]").replace("'", "")
    if text in by_text:
        return (by_text[text],)
    parts = [by_text.get(p.strip()) for p in text.split(", ")]
    return () if None in parts else tuple(p for p in parts if p is not None)
