"""Read the information schema of MySQL and MariaDB into a `Schema`: four statements and one that counts small tables.

In: a function that runs one of our own statements. Out: the tables and views of the connection's database that the
account may read. Raises pymysql.MySQLError.
"""

from __future__ import annotations

import re
from typing import Any

from eval.databases.catalogue.table_drafts import COUNT_BELOW_BYTES, Draft, Rows, count_small, grouped
from eval.schema import Column, ForeignKey, Index, Schema

_TABLES = """
SELECT table_name, table_type, table_comment, table_rows, data_length FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_type IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW') ORDER BY table_name
"""
_COLUMNS = """
SELECT table_name, column_name, column_type, is_nullable, column_default, column_comment, extra
FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position
"""
_KEYS = """
SELECT table_name, constraint_name, column_name, referenced_table_name, referenced_column_name
FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND referenced_table_schema = DATABASE()
ORDER BY table_name, constraint_name, ordinal_position
"""
_INDEXES = """
SELECT table_name, index_name, non_unique, column_name FROM information_schema.statistics
WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index
"""
SIGN = """
SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Com_create%' OR Variable_name LIKE 'Com_alter%'
OR Variable_name LIKE 'Com_drop%' OR Variable_name LIKE 'Com_rename%' OR Variable_name LIKE 'Com_truncate%'
OR Variable_name IN ('Com_grant', 'Com_revoke', 'Com_optimize')
"""
"""The server's own counters of statements that change structure, in any of its databases. They are cheap, readable by
every account and always up to date; they can only report a change too many. A restart resets them to zero."""


def read_schema(rows: Rows, count: Rows) -> Schema:
    """`rows` runs one statement and returns all its rows; `count` does the same, but returns none if that takes too
    long."""
    drafts: dict[str, Draft] = {}
    for name, kind, comment, table_rows, size in rows(_TABLES):
        is_view = kind == "VIEW"
        draft = drafts[name] = Draft(name, None, (name,), kind="view" if is_view else "table")
        if not is_view:
            draft.comment = comment
            draft.row_count, draft.estimated = table_rows, True
            draft.count_exactly = (size or 0) <= COUNT_BELOW_BYTES
    for table, name, column_type, nullable, default, comment, extra in rows(_COLUMNS):
        if draft_of := drafts.get(table):
            generated = "GENERATED" in extra.upper() and "DEFAULT_GENERATED" not in extra.upper()
            shown = None if generated or default == "NULL" else default
            draft_of.columns.append(
                Column(name, _text(column_type), nullable == "YES", False, _text(shown), comment or None)
            )
    for (table, _), parts in grouped(rows(_KEYS)).items():
        columns, (ref_table, *_), ref_columns = zip(*parts, strict=True)
        if table in drafts and (target := _spelled(drafts, ref_table)):
            drafts[table].foreign_keys.append(ForeignKey(columns, target, ref_columns))
    for (table, name), parts in grouped(rows(_INDEXES)).items():
        non_unique, columns = zip(*parts, strict=True)
        if table in drafts and None not in columns:  # None: an expression
            drafts[table].indexes.append(Index(name, columns, unique=not int(non_unique[0])))
            if name == "PRIMARY":
                drafts[table].primary_key = columns
    count_small(drafts.values(), count, "mysql")
    return Schema("mysql", tuple(d.table() for d in drafts.values() if d.columns))


def _spelled(drafts: dict[str, Draft], name: str) -> str | None:
    """A referenced table's own spelling: with lower_case_table_names = 2 the key may spell it differently."""
    if name in drafts:
        return name
    return next((n for n in drafts if n.casefold() == name.casefold()), None)


def _text(value: str | bytes | None) -> Any:
    """MySQL 8 returns some long texts of the information schema as bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


GRANT = re.compile(r"GRANT (.+?) ON (?:TABLE |PROCEDURE |FUNCTION )?(\S+) TO ", re.S)
WRITES = ("ALL PRIVILEGES", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "TRIGGER", "FILE", "SUPER")
"""What GRANT gives, and where; and the privileges that write."""
