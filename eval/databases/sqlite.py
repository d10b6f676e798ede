"""SQLite: the file as a `Database`, whose statements run on connections that can only read (`sqlite_connection`).

In: a `Target` with a path (or none: an empty database in memory). Out: a `Database`.

`read_schema`: tables and views with columns, keys, indexes, row counts, and the comments in their CREATE statements,
without shadow tables of virtual tables, `sqlite_…` tables and hidden columns.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from eval.databases.base import Database, OpenedDatabase
from eval.databases.sqlite_connection import LOCK_SECONDS, Connection, Reading, connect
from eval.databases.statement_run import OpenStatement, StatementRun
from eval.databases.table_drafts import grouped, quoted
from eval.databases.types import DatabaseError, Limits, Value, Workspace
from eval.databases.urls import Target, file_identity, file_signs, parse_target
from eval.schema import Column, Dialect, ForeignKey, Index, Schema, Table
from eval.statement import ReadStatement

_T = TypeVar("_T")


class SQLiteDatabase(OpenedDatabase):
    dialect: Dialect = "sqlite"

    def __init__(self, target: Target, *, infer_keys: bool = True, workspace: Workspace | None = None) -> None:
        """With a `workspace`, the engine has this process to itself."""
        super().__init__(target, infer_keys)
        self._workspace = workspace
        self._free: list[Connection] = []
        self._file = file_identity(target)
        self._catalogue: sqlite3.Connection | None = None
        self._catalogue_file = self._file
        self._catalogue_lock = threading.Lock()
        try:
            self._catalogue_sign()
        except sqlite3.Error as e:
            self.close()
            raise DatabaseError(f"cannot open {target.path}: {self._explain(str(e))}") from None

    def schema(self, *, ttl: float = 300.0) -> Schema:
        try:
            return self._schema_cache.get(ttl, sign=self._catalogue_sign, read=self._read_schema)
        except sqlite3.Error as e:
            raise DatabaseError(f"cannot read the structure of {self.url}: {self._explain(str(e))}") from None

    def refusal(self, statement: ReadStatement) -> str | None:
        """EXPLAIN compiles the statement with the same authorizer and returns the program instead of running it."""
        explained = ReadStatement(sql=f"EXPLAIN {statement.sql}", dialect=statement.dialect)
        result = self.execute(explained, limits=Limits(seconds=5.0, rows=1))
        return result.error if result.status == "error" else None

    def data_version(self) -> str:
        """The signs of the file and of its write-ahead log, and the file's change counter."""
        path = self._target.path
        if path is None:
            return "memory"
        head = _first_bytes(path, 28)
        return f"{file_signs(path, '-wal')}/{'unreadable' if head is None else head[24:].hex()}"

    def close(self) -> None:
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
        for connection in free:
            connection.close()
        with self._catalogue_lock:
            if self._catalogue is not None:
                self._catalogue.close()
                self._catalogue = None

    # How a statement runs

    @contextmanager
    def _open(self, run: StatementRun) -> Iterator[OpenStatement]:
        connection = self._borrow()
        healthy = False
        try:
            with connection.reading(run):
                reading = Reading(connection, run)
                try:
                    yield OpenStatement(reading.begin(), reading.rows())
                finally:
                    reading.end()
            healthy = True
        except Exception:
            healthy = not connection.raw.in_transaction
            raise
        finally:
            with self._lock:
                kept = healthy and not self._closed and len(self._free) < 8
                if kept:
                    self._free.append(connection)
            if not kept:
                connection.close()

    def _open_plan(self, run: StatementRun) -> AbstractContextManager[OpenStatement]:
        run.sql = f"EXPLAIN QUERY PLAN {run.sql}"
        return self._open(run)

    def _plan_text(self, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> tuple[str, ...]:  # noqa: ARG002
        """The plan's lines, indented by the depth of each node."""
        depth = {0: -1}
        lines = []
        for row in rows:
            node, parent, text = int(str(row[0])), int(str(row[1])), str(row[3])
            depth[node] = depth.get(parent, -1) + 1
            lines.append("  " * depth[node] + text)
        return tuple(lines)

    def _explain(self, message: str) -> str:
        """SQLite's own message, with the likely cause when the message alone misleads."""
        if message == "database is locked":
            return f"database is locked: a writer has held it for {LOCK_SECONDS:g} s"
        if message == "not authorized":
            return "not authorized: only queries that read tables and call harmless functions may run"
        unreachable_wal = message in ("unable to open database file", "attempt to write a readonly database")
        path = self._target.path
        if unreachable_wal and path is not None and (_first_bytes(path, 20) or b"")[18:] == b"\x02\x02":
            return (
                f"{message}: the database is in WAL mode and its folder is read-only, so that its -shm file cannot be "
                "made; copy it elsewhere, or run PRAGMA journal_mode=DELETE on it where it can be written"
            )
        return message

    def _borrow(self) -> Connection:
        identity = file_identity(self._target)
        with self._lock:
            self._require_open()
            stale: list[Connection] = []
            if identity != self._file:  # another file was moved to this path
                self._file = identity
                stale, self._free = self._free, []
            connection = self._free.pop() if self._free else None
        for old in stale:
            old.close()
        return connection or Connection(self._target, self._workspace)

    # How the structure is read: on a separate connection, which runs our own statements only

    def _catalogue_connection(self) -> sqlite3.Connection:
        if self._catalogue is None:
            self._require_open()
            self._catalogue = connect(self._target)
        return self._catalogue

    def _catalogue_sign(self) -> str:
        """The file's identity and its schema version, which every change of structure increments."""
        identity = file_identity(self._target)
        with self._catalogue_lock:
            if identity != self._catalogue_file and self._catalogue is not None:
                self._catalogue.close()
                self._catalogue = None
            self._catalogue_file = identity
            version = _patiently(lambda: self._catalogue_connection().execute("PRAGMA schema_version").fetchone())
        return f"{identity}/{version[0]}"

    def _read_schema(self) -> Schema:
        with self._catalogue_lock:
            connection = self._catalogue_connection()
            return self._with_keys(_patiently(lambda: read_schema(connection)), connection)


def _patiently(read: Callable[[], _T]) -> _T:
    """Try again while a writer holds the lock, for at most `LOCK_SECONDS`."""
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return read()
        except sqlite3.OperationalError as e:
            if str(e) != "database is locked" or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _first_bytes(path: Path, count: int) -> bytes | None:
    """None where the file cannot be read."""
    try:
        with path.open("rb") as f:
            return f.read(count)
    except OSError:
        return None


__all__ = ["copy_sqlite"]


def copy_sqlite(database: Database, path: Path) -> None:
    """Copy the database into a new file that nobody may write. Raises DatabaseError, also for other engines."""
    source = parse_target(database.url).path if database.dialect == "sqlite" else None
    if source is None:
        raise DatabaseError("Only a SQLite file can be copied.")
    try:
        with (
            closing(sqlite3.connect(f"file:{quote(str(source))}?mode=ro", uri=True)) as original,
            closing(sqlite3.connect(path)) as copy,
        ):
            original.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise DatabaseError(f"The database cannot be copied: {error}") from None
    path.chmod(0o444)


_COUNT_ALL_BELOW_BYTES = 64 * 1024 * 1024
_COUNT_BELOW_ROWID = 200_000

_LIST = """
SELECT name, type, wr FROM pragma_table_list
WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
"""
_COLUMNS = """
SELECT l.name, x.name, x.type, x."notnull", x.dflt_value, x.pk
FROM pragma_table_list l, pragma_table_xinfo(l.name, 'main') x
WHERE l.schema = 'main' AND l.type = 'table' ORDER BY l.name, x.cid
"""
_OTHER_COLUMNS = """
SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 1 ORDER BY cid
"""
_KEYS = """
SELECT l.name, k.id, k."table", k."from", k."to"
FROM pragma_table_list l, pragma_foreign_key_list(l.name, 'main') k
WHERE l.schema = 'main' AND l.type = 'table' ORDER BY l.name, k.id DESC, k.seq
"""
_INDEXES = """
SELECT l.name, i.name, i."unique" AND NOT i.partial, c.name
FROM pragma_table_list l, pragma_index_list(l.name, 'main') i, pragma_index_info(i.name, 'main') c
WHERE l.schema = 'main' AND l.type = 'table' ORDER BY l.name, i.seq, c.seqno
"""


def read_schema(connection: sqlite3.Connection) -> Schema:
    """Introspect the main database: five statements, one more for each view and one row count for each table.
    Raises sqlite3.Error."""
    run = connection.execute
    listed = run(_LIST).fetchall()
    columns: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for name, *column in run(_COLUMNS):
        columns[name].append(tuple(column))
    keys: dict[str, list[ForeignKey]] = defaultdict(list)
    for (table, _), parts in grouped(run(_KEYS)).items():
        ref_columns = tuple(to for _, _, to in parts if to is not None)
        keys[table].append(ForeignKey(tuple(column for _, column, _ in parts), parts[0][0], ref_columns))
    indexes: dict[str, list[Index]] = defaultdict(list)
    for (table, index), parts in grouped(run(_INDEXES)).items():
        if plain := tuple(c for _, c in parts if c is not None):  # None: an expression or the rowid
            unique = bool(parts[0][0]) and len(plain) == len(parts)
            indexes[table].append(Index(index, plain, unique=unique))
    stored = run("SELECT name, sql FROM sqlite_schema ORDER BY rowid").fetchall()
    order = {name: i for i, (name, _) in enumerate(stored)}
    written = {name: sql for name, sql in stored if sql}

    tables: list[Table] = []
    for name, kind, without_rowid in sorted(listed, key=lambda row: order.get(row[0], 0)):
        fields = columns[name] if kind == "table" else _columns_of(connection, name)
        if not fields:
            continue  # a view on a dropped table, or a virtual table whose module is not loaded
        primary = tuple(c[0] for c in sorted((c for c in fields if c[4]), key=lambda c: c[4]))
        comment, comments = ddl_comments(written.get(name, "")) if kind == "table" else (None, {})
        tables.append(
            Table(
                name=name,
                columns=tuple(
                    _column(c, comments, rowid_alias=len(primary) == 1, without_rowid=bool(without_rowid))
                    for c in fields
                ),
                kind="view" if kind == "view" else "table",
                primary_key=primary,
                foreign_keys=tuple(keys[name]),
                indexes=tuple(indexes[name]),
                comment=comment,
            )
        )
    resolved = _resolve_keys(tables)
    pages, page_size = connection.execute("SELECT * FROM pragma_page_count, pragma_page_size").fetchone()
    small = bool(pages * page_size <= _COUNT_ALL_BELOW_BYTES)
    return Schema("sqlite", tuple(_counted(connection, t, small) for t in resolved))


def _columns_of(connection: sqlite3.Connection, name: str) -> list[tuple[Any, ...]]:
    try:
        return connection.execute(_OTHER_COLUMNS, (name,)).fetchall()
    except sqlite3.DatabaseError:
        return []


def _column(row: tuple[Any, ...], comments: dict[str, str], *, rowid_alias: bool, without_rowid: bool) -> Column:
    name, declared, not_null, default, key_position = row
    never_null = bool(key_position) and (without_rowid or (rowid_alias and declared.upper() == "INTEGER"))
    return Column(
        name=name,
        type=declared or "",
        nullable=not (not_null or never_null),
        primary_key=bool(key_position),
        default=default,
        comment=comments.get(name),
    )


def _resolve_keys(tables: list[Table]) -> list[Table]:
    """Give each key the real spelling of its target and, after `REFERENCES t` alone, t's primary key.

    SQLite accepts keys to tables or columns that do not exist; those join nothing and are left out.
    """
    schema = Schema("sqlite", tuple(tables))
    resolved = []
    for table in tables:
        keys = []
        for key in table.foreign_keys:
            target = schema.table(key.ref_table)
            if target is None:
                continue
            owning = [table.column(c) for c in key.columns]
            wanted = [target.column(c) for c in key.ref_columns or target.primary_key]
            own_names = tuple(c.name for c in owning if c)
            ref_names = tuple(c.name for c in wanted if c)
            if len(own_names) == len(ref_names) == len(key.columns):
                keys.append(ForeignKey(own_names, target.name, ref_names))
        resolved.append(replace(table, foreign_keys=tuple(keys)))
    return resolved


def _counted(connection: sqlite3.Connection, table: Table, small: bool) -> Table:
    """Add the row count: exact in a small file or a small table, otherwise the span of the rowids, marked estimated."""
    if table.kind == "view":
        return table
    name = quoted((table.name,), "sqlite")
    try:
        if not small:
            low, high = connection.execute(
                f"SELECT (SELECT min(rowid) FROM {name}), (SELECT max(rowid) FROM {name})"
            ).fetchone()
            if low is not None and high - low >= _COUNT_BELOW_ROWID:
                return replace(table, row_count=high - low + 1, row_count_estimated=True)
        return replace(table, row_count=connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0])
    except sqlite3.DatabaseError:
        return table  # WITHOUT ROWID in a large file, or a damaged page: unknown


LONGEST = 500
"""Characters kept of a comment."""
_LONGEST_DDL = 200_000

_TOKEN = re.compile(
    r"--(?P<line>[^\n]*)|/\*(?P<block>.*?)(?:\*/|\Z)|(?P<name>\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\[[^\]]*\]|[^\W\d]\w*)"
    r"|'(?:[^']|'')*'|(?P<sign>[(),\n])|.",
    re.DOTALL,
)
_NO_COLUMN = frozenset(("constraint", "primary", "unique", "check", "foreign"))


def ddl_comments(sql: str) -> tuple[str | None, dict[str, str]]:
    """The table's comment, and comments by column name, as spelled in the statement."""
    if len(sql) > _LONGEST_DDL or ("--" not in sql and "/*" not in sql):
        return None, {}
    comments: dict[str, list[str]] = {}
    for owner, text in _owned(sql):
        comments.setdefault(owner, []).append(text)
    joined = {owner: " ".join(texts)[:LONGEST] for owner, texts in comments.items()}
    return joined.pop("", None), joined


def _owned(sql: str) -> Iterator[tuple[str, str]]:
    """Comments with the column that each belongs to; the table's comment has an empty name."""
    depth, current, alone, starting = 0, "", False, True
    above: list[str] = []
    for token in _TOKEN.finditer(sql):
        written = token["line"] if token["line"] is not None else token["block"]
        sign, name = token["sign"], token["name"]
        if written is not None:
            text = " ".join(written.split())
            if text and depth and alone:  # on a line of its own: for the column below
                above.append(text)
            elif text:
                yield current, text
        elif sign == "\n":
            alone = True
        elif not token[0].isspace():
            alone = False
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if not depth:
                return
        elif sign == "," and depth == 1:
            starting = True
        elif name is not None and depth == 1 and starting:
            starting, current = False, _bare(name)
            if name.lower() in _NO_COLUMN:
                return
            yield from ((current, text) for text in above)
            above.clear()


def _bare(name: str) -> str:
    if name[0] == "[":
        return name[1:-1]
    return name[1:-1].replace(name[0] * 2, name[0]) if name[0] in '"`' else name
