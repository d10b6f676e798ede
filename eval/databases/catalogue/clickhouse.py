"""Read ClickHouse's system tables into a `Schema`: two statements, and one that looks for unique keys.

In: a function that runs one of our own statements. Out: the tables and views of the session's database. Row counts and
sizes come from the engine's own statistics; only small tables are read, to see whether their primary key, which
ClickHouse does not keep unique, is in fact unique.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.databases.catalogue.table_drafts import Draft, Rows, quoted
from eval.schema import Column, Index, Schema

_UNIQUE_BELOW_ROWS = 200_000
_UNIQUE_AT_MOST = 200
_CONSUMED = "('Kafka', 'RabbitMQ', 'NATS', 'FileLog', 'S3Queue', 'AzureQueue', 'Null', 'EmbeddedRocksDBQueue')"
"""Engines whose rows are consumed by reading, or that hold none."""

_TABLES = f"""
SELECT name, engine, total_rows, comment, primary_key, sorting_key, partition_key FROM system.tables
WHERE database = currentDatabase() AND NOT is_temporary AND NOT startsWith(name, '.inner')
AND engine NOT IN {_CONSUMED} ORDER BY name
"""
_COLUMNS = """
SELECT table, name, type, default_kind, default_expression, comment FROM system.columns
WHERE database = currentDatabase() AND default_kind NOT IN ('EPHEMERAL') ORDER BY table, position
"""
SIGN = """
SELECT count(), groupBitXor(cityHash64(name, engine, uuid, metadata_modification_time)) FROM system.tables
WHERE database = currentDatabase() AND NOT is_temporary
"""
"""A hash over the tables' identities and the times when their structure changed."""
DATA_SIGN = """
SELECT groupBitXor(cityHash64(t.name, t.uuid, t.total_rows, t.total_bytes)), (
  SELECT groupBitXor(cityHash64(table, name, modification_time)) FROM system.parts
  WHERE database = currentDatabase() AND active
) FROM system.tables AS t WHERE t.database = currentDatabase() AND NOT t.is_temporary
"""


def read_schema(rows: Rows, count: Rows) -> Schema:
    """`rows` runs one statement and returns all its rows; `count` does the same, but returns none if that takes too
    long."""
    drafts: dict[str, Draft] = {}
    keys: dict[str, tuple[str, ...]] = {}
    for name, engine, total_rows, comment, primary_key, sorting_key, partition_key in rows(_TABLES):
        is_view = str(engine).endswith("View")
        draft = drafts[name] = Draft(name, None, (name,), kind="view" if is_view else "table", comment=comment)
        if not is_view:
            draft.row_count = None if total_rows is None else int(total_rows)
        keys[name] = _columns_of(primary_key)
        for label, key in (("ORDER BY", sorting_key), ("PARTITION BY", partition_key)):
            if columns := _columns_of(key):
                draft.indexes.append(Index(label, columns))
    for table, name, kind, default_kind, default, comment in rows(_COLUMNS):
        if table in drafts:
            shown = str(default) if default_kind == "DEFAULT" and default else None
            nullable = kind.startswith(("Nullable(", "LowCardinality(Nullable(", "Variant(", "Dynamic"))
            drafts[table].columns.append(Column(name, kind, nullable, False, shown, comment or None))
    _keep_unique_keys(drafts, keys, count)
    return Schema("clickhouse", tuple(d.table() for d in drafts.values() if d.columns))


def _keep_unique_keys(drafts: dict[str, Draft], keys: dict[str, tuple[str, ...]], count: Rows) -> None:
    """Declare the primary keys of small tables whose values are unique: other code takes a primary key for that."""
    small = [
        (name, keys[name])
        for name, draft in drafts.items()
        if keys[name] and 0 < (draft.row_count or 0) <= _UNIQUE_BELOW_ROWS
    ][:_UNIQUE_AT_MOST]
    parts = (
        f"SELECT {i} AS place, count() = uniqExact({', '.join(quoted((c,), 'clickhouse') for c in key)}) AS is_unique "
        f"FROM {quoted((name,), 'clickhouse')}"
        for i, (name, key) in enumerate(small)
    )
    for place, is_unique in count(" UNION ALL ".join(parts)) if small else []:
        if is_unique:
            name, key = small[place]
            drafts[name].primary_key = key


def _columns_of(key: str) -> tuple[str, ...]:
    """The columns of a key, if it holds nothing but columns: `a, b`; an expression such as toYYYYMM(d) gives none."""
    from eval.sql.parser import parse

    tree = parse(f"SELECT {key}", "clickhouse").tree if key else None
    expressions = tree.expressions if isinstance(tree, exp.Select) else []
    if len(expressions) == 1 and isinstance(expressions[0], exp.Paren | exp.Tuple):
        expressions = expressions[0].expressions or [expressions[0].this]
    return tuple(c.name for c in expressions) if all(isinstance(c, exp.Column) for c in expressions) else ()


GRANT = re.compile(r"GRANT (.+?) ON (\S+) TO ")
WRITES = (
    "ALL", "INSERT", "ALTER", "CREATE", "DROP", "TRUNCATE", "OPTIMIZE", "SYSTEM", "SOURCES", "FILE", "URL", "REMOTE",
    "S3", "MYSQL", "POSTGRES", "ACCESS MANAGEMENT", "CREATE TEMPORARY TABLE",
)  # fmt: skip
"""The privileges that write or reach outside."""
