"""Where a table name leads: to the schema, to the engine's own catalogue, or to a table function's columns."""

from __future__ import annotations

import re

from sqlglot import exp

from eval.schema import Dialect, Schema, Table
from eval.sql.sources import Output, Relation, folded

_SQLITE_TREE = ("key", "value", "type", "atom", "id", "parent", "fullkey", "path", "json", "root")
_TWO = ("key", "value")
_FUNCTION_COLUMNS: dict[Dialect, dict[str, tuple[str, ...]]] = {
    "sqlite": {"json_each": _SQLITE_TREE, "json_tree": _SQLITE_TREE},
    "postgres": {"json_each": _TWO, "json_each_text": _TWO, "jsonb_each": _TWO, "jsonb_each_text": _TWO},
    "duckdb": {},
    "mysql": {},
}

_SQLITE_SCHEMA = ("type", "name", "tbl_name", "rootpage", "sql")
_SQLITE_TABLES: dict[str, tuple[str, ...]] = {
    "sqlite_master": _SQLITE_SCHEMA,
    "sqlite_schema": _SQLITE_SCHEMA,
    "sqlite_temp_master": _SQLITE_SCHEMA,
    "sqlite_temp_schema": _SQLITE_SCHEMA,
}


def real_table(table: exp.Table, dialect: Dialect, schema: Schema) -> Table | None:
    """The table or view of the schema that a name leads to. PostgreSQL tells `"Name"` from `name`, and an
    unqualified name there reaches only what the search path reaches (`namespace` None, or the sole bearer)."""
    name = folded(table.this, dialect)
    namespace = table.db or None
    if dialect == "sqlite" and namespace is not None:
        if namespace.casefold() not in ("main", "temp"):
            return None
        namespace = None
    if dialect == "postgres":
        wanted = folded(table.args["db"], dialect) if namespace else None
        for found in schema.tables:
            if found.name == name and (wanted is None or (found.namespace or "public") == wanted):
                return found
        return None
    return schema.table(name, None if namespace in ("main", None) else namespace)


def catalogue_relation(table: exp.Table, dialect: Dialect) -> Relation | None:
    """The relation of an engine's own catalogue table, or None. Which of them may be read is the guard's business."""
    name, namespace = table.name.casefold(), table.db.casefold()
    if dialect == "sqlite":
        columns = _SQLITE_TABLES.get(name)
        if columns is not None:
            return Relation([Output(c) for c in columns])
        return Relation([], open=True) if name == "sqlite_sequence" or name.startswith("sqlite_stat") else None
    if dialect == "mysql" and name == "dual" and not namespace:
        return Relation([])
    if namespace in ("information_schema", "pg_catalog"):
        return Relation([], open=True)
    prefixes = {"postgres": ("pg_",), "duckdb": ("pg_", "duckdb_", "sqlite_")}.get(dialect, ())
    return Relation([], open=True) if not namespace and prefixes and name.startswith(prefixes) else None


def function_relation(call: exp.Expr, alias: str, dialect: Dialect) -> Relation:
    """What a table function offers. Where that depends on its arguments, the relation is open."""
    name = call.name.casefold() if isinstance(call, exp.Anonymous) else call.key
    columns = _FUNCTION_COLUMNS[dialect].get(name)
    if columns is not None:
        return Relation([Output(c) for c in columns])
    if isinstance(call, exp.JSONTable):
        return Relation([Output(c.name) for c in call.find_all(exp.JSONColumnDef) if c.this is not None])
    if dialect == "postgres" and name == "generate_series":
        return Relation([Output(alias or name)])
    return Relation([], open=True)


_SQLITE_CLOSED = re.compile(r"pragma_\w+|dbstat|sqlite_\w+")
_SQLITE_OPEN = re.compile(r"sqlite_(temp_)?(master|schema)|sqlite_sequence|sqlite_stat\d")
_OPEN: dict[Dialect, frozenset[str]] = {
    "sqlite": frozenset(),
    "postgres": frozenset(
        {"pg_attrdef", "pg_attribute", "pg_class", "pg_constraint", "pg_description", "pg_enum", "pg_index"}
        | {"pg_indexes", "pg_inherits", "pg_matviews", "pg_namespace", "pg_tables", "pg_type", "pg_views"}
    ),
    "duckdb": frozenset(
        {"duckdb_columns", "duckdb_constraints", "duckdb_indexes", "duckdb_schemas", "duckdb_tables", "duckdb_types"}
        | {"duckdb_views", "pg_attribute", "pg_class", "pg_constraint", "pg_index", "pg_namespace", "pg_tables"}
        | {"pg_type", "pg_views"}
    ),
    "mysql": frozenset(
        {"character_sets", "check_constraints", "collations", "columns", "key_column_usage", "referential_constraints"}
        | {"schemata", "statistics", "table_constraints", "tables", "views"}
    ),
}
"""Catalogue tables that describe the data's structure; the others tell of users, sessions, settings and paths."""


def is_closed_catalogue(table: exp.Table, dialect: Dialect) -> bool:
    """Whether a name leads to a part of the engine's own catalogue that a query may not read."""
    name, namespace = table.name.casefold(), table.db.casefold()
    if dialect == "sqlite":
        return bool(_SQLITE_CLOSED.fullmatch(name)) and not _SQLITE_OPEN.fullmatch(name)
    if dialect == "mysql":
        closed = namespace in ("mysql", "performance_schema", "sys")
        return closed or (namespace == "information_schema" and name not in _OPEN[dialect])
    if namespace == "information_schema":
        return name.startswith("user_mapping") or name == "_pg_user_mappings"
    of_engine = name.startswith(("pg_", "duckdb_", "pragma_", "sqlite_") if dialect == "duckdb" else "pg_")
    if namespace.startswith("pg_") or (of_engine and namespace in ("", "main")):
        return name not in _OPEN[dialect] and not (dialect == "duckdb" and bool(_SQLITE_OPEN.fullmatch(name)))
    return False
