"""Read the catalogue of a Spark Connect server into a `Schema`: one list of tables, one DESCRIBE for each.

In: the names and kinds of the tables, and functions that run our own statements. Out: the tables and views of the
current database, with partition columns named in their comments. Rows are known from the table's statistics (ANALYZE
TABLE) or from a count that reads at most `_COUNT_AT_MOST` rows. Raises DatabaseError.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from eval.databases.catalogue.table_drafts import Draft, Rows, quoted
from eval.databases.types import DatabaseError
from eval.schema import Column, ForeignKey, Schema

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
