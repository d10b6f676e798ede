"""Apache Spark over Spark Connect (also Sail, and by protocol Databricks): each statement is a relation of a session.

In: a `Target` with a host. Out: a `Database`. Spark has no read-only mode and no transaction. These protections apply
even when the guard is bypassed: the text is sent as a relation below a LIMIT, after the server's own grammar has
accepted it inside WITH … AS (…), where only a query may stand; so SET, ADD JAR, CACHE, DDL, DML, scripts and EXECUTE
IMMEDIATE never start. Functions and table names that reach code, files or settings are refused by name (`refused`).
Statements are interrupted by their operation's id. The login's grants are the last barrier: docs/databases.md says what
to set and which risks remain.

`read_schema`: one list of tables, one DESCRIBE for each; partition columns are named in their comments. Rows are known
from the table's statistics (ANALYZE TABLE) or from a count that reads at most `_COUNT_AT_MOST` rows.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

from sqlglot import exp

from eval.databases.base import OpenedDatabase
from eval.databases.inference import with_inferred_keys
from eval.databases.spark_connect import SparkConnection, SparkStatement, python_rows
from eval.databases.statement_run import OpenStatement, StatementRun
from eval.databases.table_drafts import Draft, Rows, quoted
from eval.databases.types import DatabaseError, Limits
from eval.databases.urls import Target
from eval.schema import Column, Dialect, ForeignKey, Schema
from eval.sql.dialects import render
from eval.sql.parser import parse
from eval.sql.table_places import in_places
from eval.statement import ReadStatement

_CATALOGUE_SECONDS = 30.0
_COUNT_SECONDS = 10.0
_PREPARE_SECONDS = 5.0
_FRESH_SECONDS = 3600
_GRACE_SECONDS = 2.0
"""gRPC's own deadline for a call, beyond the statement's, in case that nobody interrupts it."""


class SparkDatabase(OpenedDatabase):
    dialect: Dialect = "spark"

    def __init__(self, target: Target, *, infer_keys: bool = True, connect_seconds: float = 5.0) -> None:
        super().__init__(target, infer_keys)
        self._connection = SparkConnection(target, connect_seconds)

    def schema(self, *, ttl: float = 300.0) -> Schema:
        """The cache's sign is the list of tables: one call, which does not tell when a table's columns change."""
        return self._schema_cache.get(ttl, sign=self._sign, read=self._read_schema)

    def refusal(self, statement: ReadStatement) -> str | None:
        """Let the server analyse the statement: names, types and grouping; nothing runs."""
        try:
            with self._checked(StatementRun(statement, Limits(seconds=_PREPARE_SECONDS))):
                return None
        except DatabaseError as e:
            return self._explain(str(e))

    def data_version(self) -> str:
        """Spark has no cheap sign of the data's state: what is known of the data is read again each hour."""
        return f"hour {int(time.time() // _FRESH_SECONDS)}"

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._connection.close()

    # How a statement runs

    @contextmanager
    def _open(self, run: StatementRun) -> Iterator[OpenStatement]:
        with self._checked(run) as statement:
            if run.expired():
                yield OpenStatement((), iter(()))
                return
            batches = statement.batches(run.limits.rows + 1, run.seconds_left + _GRACE_SECONDS)
            ended = False
            try:
                columns = next(batches)
                yield OpenStatement(columns, (row for batch in batches for row in python_rows(batch)))
                ended = next(batches, None) is None
            finally:
                batches.close()
                if not ended:
                    statement.cancel()

    @contextmanager
    def _open_plan(self, run: StatementRun) -> Iterator[OpenStatement]:
        with self._checked(run) as statement:
            yield OpenStatement(("plan",), iter([(statement.plan(run.seconds_left),)]))

    @contextmanager
    def _checked(self, run: StatementRun) -> Iterator[SparkStatement]:
        """The statement, after the text and the server's grammar have been asked. It is cancelled when the run must
        stop. Raises DatabaseError for what is no query, or reaches beyond the tables."""
        self._require_open()
        reason = refused(run.sql)
        if reason:
            raise DatabaseError(f"{reason} may not be used in a query")
        sql, tree = run.sql, run.statement.tree
        if self._connection.place and tree is not None and render(tree, "spark") == sql:
            sql = self._in_database(tree)
        statement = SparkStatement(self._connection, sql)
        with run.interrupting(statement.cancel):
            self._connection.in_session(lambda: statement.check(run.seconds_left))
            yield statement

    def _in_database(self, tree: exp.Expression) -> str:
        return render(in_places(tree, "spark", lambda _: self._connection.place), "spark")

    # How the structure is read

    def _sign(self) -> str:
        tables = self._connection.in_session(lambda: self._connection.tables(_CATALOGUE_SECONDS))
        return hashlib.sha256(repr(tables).encode()).hexdigest()

    def _read_schema(self) -> Schema:
        try:
            place = self._connection.place
            tables = self._connection.tables(_CATALOGUE_SECONDS)
            describe = partial(self._connection.catalogue, seconds=_CATALOGUE_SECONDS)
            schema = read_schema(tables, describe, self._count, place)
        except DatabaseError as e:
            raise DatabaseError(f"cannot read the structure of {self.url}: {self._explain(str(e))}") from None
        return with_inferred_keys(schema, self._count, seconds=_COUNT_SECONDS) if self._infer_keys else schema

    def _count(self, sql: str) -> list[tuple[Any, ...]]:
        place = self._connection.place
        tree = parse(sql, "spark").tree if place else None
        try:
            return self._connection.catalogue(sql if tree is None else self._in_database(tree), _COUNT_SECONDS)
        except DatabaseError:  # too slow, or a table that may not be read
            return []


_STRING = re.compile(r"r'[^']*'|r\"[^\"]*\"|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.S | re.I)
_FORMATS = (
    r"(?:text|csv|json|parquet|orc|avro|xml|binaryfile|image|libsvm|delta|iceberg|hudi|jdbc|kafka|socket|rate|excel|"
    r"arrow|vortex|lance|statestore|state-metadata|geojson|geoparquet|noop|console|memory|files?|https?|hive|python|"
    r"(?:com|org|io)\s*\.[\w\s.]+)"
)
_REFUSED = re.compile(
    r"\$|--|/\*|(?<!\w)(?:"
    r"(?:try_)?reflect|java_method|execute\s+immediate|using\s*''|"
    r"(?:identifier|read_\w+|list_\w+|(?:try_)?secret|ai_\w+|event_log|user|version)(?=\s*\()|"
    r"input_file_\w+|cloud_files\w*|http_request|remote_query|vector_search|python_udf\w*|"
    r"current_user|session_user|current_(?:metastore|recipient)|is_(?:account_group_)?member|"
    r"_metadata|information_schema|global_temp|xpath\w*|(?:schema_of|from|to)_(?:avro|protobuf|xml)"
    r")(?!\w)"
)
_PATH_TABLE = re.compile(
    rf"(?<!\w)(?:from|join|table)[\s(]*(?:{_FORMATS}|system)\s*\.|[,(]\s*{_FORMATS}\s*\.\s*[^\s,()]*[/\\:*]"
)
_LISTED_TABLE = re.compile(rf"[,(]\s*({_FORMATS})\s*\.")


def refused(sql: str) -> str | None:
    """The first words of a text that no query needs."""
    if "${" in sql:
        return "${"
    code = _STRING.sub("''", sql).lower().replace("`", "")
    match = _REFUSED.search(code) or _PATH_TABLE.search(code) or _unnamed_format(code)
    return " ".join(match.group().split()) if match else None


def _unnamed_format(code: str) -> re.Match[str] | None:
    """`, csv.x` names a file where nothing in the text is called `csv`, otherwise a column."""
    for match in _LISTED_TABLE.finditer(code):
        named = rf"(?:(?<!\w)(?:from|join|as|{_FORMATS}\s+as)|[,)\w])\s+{re.escape(match[1])}(?![\w.(])"
        if not re.search(named, code):
            return match
    return None


_COUNT_AT_MOST = 100_000
_COUNT_TABLES = 100
_COUNTED_TOGETHER = 20
_AT_ONCE = 8
_STATISTICS = re.compile(r"(?:(\d+) bytes)?(?:, )?(?:(\d+) rows)?")
_PRIMARY_KEY = re.compile(r"PRIMARY KEY \((.+?)\)", re.IGNORECASE)
_FOREIGN_KEY = re.compile(r"FOREIGN KEY \((.+?)\) REFERENCES (.+?) \((.+?)\)", re.IGNORECASE)
_NAME = re.compile(r"`((?:[^`]|``)*)`|([^\s`,.()]+)")


def read_schema(listed: Sequence[tuple[str, str]], describe: Rows, count: Rows, place: tuple[str, ...] = ()) -> Schema:
    """`describe` runs one statement and returns all its rows; `count` does the same, but returns none if that takes too
    long. A table that cannot be described (dropped meanwhile, no permission) is left out. `place` names the database
    where the session's current one may be another."""
    drafts = [Draft(name, None, (*place, name), kind="view" if "VIEW" in kind else "table") for name, kind in listed]
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="describe") as threads:
        described = list(threads.map(lambda draft: _described(draft, describe), drafts))
    if drafts and not any(described):
        raise DatabaseError("none of its tables can be described")
    drafts = [draft for draft in drafts if draft.columns]
    uncounted = [d for d in drafts if d.kind == "table" and d.row_count is None][:_COUNT_TABLES]
    for start in range(0, len(uncounted), _COUNTED_TOGETHER):
        _count(uncounted[start : start + _COUNTED_TOGETHER], count)
    return Schema("spark", tuple(draft.table() for draft in drafts))


def _described(draft: Draft, describe: Rows) -> bool:
    try:
        lines = describe(f"DESCRIBE TABLE EXTENDED {quoted(draft.located, 'spark')}")
    except DatabaseError:
        return False
    section, partitions = "", []
    columns: list[tuple[str, str, str | None]] = []
    for name, value, comment in ((str(n), str(v or ""), c) for n, v, c in lines):
        if name.startswith("# ") and name != "# col_name":
            section = name[2:]
        elif not name or name == "# col_name":
            section = section if name else section or "details"
        elif not section:
            columns.append((name, value, comment))
        elif section.startswith("Partition"):
            partitions.append(name)
        # A line of the details: the comment, the statistics of ANALYZE TABLE, or a key constraint (which
        # informs only)
        elif name == "Comment":
            draft.comment = value
        elif name == "Statistics" and (match := _STATISTICS.match(value)) and match[2]:
            draft.row_count, draft.estimated = int(match[2]), True
        elif match := _FOREIGN_KEY.search(value):
            key, reference, ref_columns = (_names(match[part]) for part in (1, 2, 3))
            draft.foreign_keys.append(ForeignKey(key, reference[-1], ref_columns))
        elif match := _PRIMARY_KEY.search(value):
            draft.primary_key = _names(match[1])
    for name, value, comment in columns:
        note = "; ".join(filter(None, (comment, "partition column" if name in partitions else None)))
        draft.columns.append(Column(name, value, comment=note or None))
    return True


def _names(text: str) -> tuple[str, ...]:
    return tuple((m[1] or "").replace("``", "`") or m[2] for m in _NAME.finditer(text))


def _count(drafts: Sequence[Draft], count: Rows) -> None:
    """Count the small tables; where a table is larger than what is read of it, its rows stay unknown."""
    counts = " UNION ALL ".join(
        f"SELECT {i}, count(*) FROM (SELECT 1 FROM {quoted(d.located, 'spark')} LIMIT {_COUNT_AT_MOST + 1}) AS few"
        for i, d in enumerate(drafts)
    )
    for position, rows in count(counts):
        if rows <= _COUNT_AT_MOST:
            drafts[position].row_count = rows
