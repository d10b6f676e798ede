"""A result is kept exactly, once, for its owner, and read back in pages: sorted, filtered, counted."""

from __future__ import annotations

import asyncio
import math
import os
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta, timezone
from datetime import time as clock
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agent.config import LimitSettings
from agent.results import BadRequest, Filter, ResultError, ResultGone, ResultStore, Sort, StatementFailed
from agent.results.cells import exact_column, stored_column
from agent.results.store import KeptResult, SpoolWriter
from eval.databases import Database, Limits, open_database
from eval.statement import ReadStatement
from tests.commands import Process
from tests.pairs import rows
from tests.waiting import becomes
from tests.writing import sqlite_file

FRUIT = """
CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT, price REAL, odd);
INSERT INTO t VALUES (1, 'pear', 2.5, NULL), (2, 'Apple', 10.0, 'text'), (3, 'apple pie', NULL, 7),
                     (4, 'Äpfel 100%', -1.0, 2.5), (5, NULL, 2.5, x'00ff');
"""
LIMITS = Limits(seconds=20, rows=10_000, bytes=10_000_000)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(sqlite_file(tmp_path / "shop.sqlite", FRUIT)) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    return ResultStore(tmp_path / "results", limits=LIMITS)


def select(sql: str) -> ReadStatement:
    return ReadStatement(sql=sql, dialect="sqlite")


def now(store: ResultStore, database: Database, sql: str, owner: str = "") -> KeptResult:
    return asyncio.run(store.keep(database, select(sql), owner=owner))


@pytest.fixture
def kept(database: Database, store: ResultStore) -> KeptResult:
    return now(store, database, "SELECT id, word, price, odd, id FROM t ORDER BY id")


def ids(result: KeptResult, **asked: Any) -> list[int]:
    return [row[0] for row in result.page(**asked).rows]


def test_a_page_is_json_with_a_total(kept: KeptResult) -> None:
    page = kept.page(1, 2)

    assert page.rows == [[2, "Apple", 10.0, "text", 2], [3, "apple pie", None, 7, 3]]
    assert (page.offset, page.total, page.total_exact) == (1, 5, True)
    assert kept.page(5, 2).rows == []
    assert kept.page(4, 1).rows[0][3] == {"$blob": "AP8=", "size": 2}


@pytest.mark.parametrize(("by", "expected"), rows("results/sorted.jsonl"))
def test_sorting_puts_null_last_and_numbers_before_text(
    kept: KeptResult, by: list[dict[str, Any]], expected: list[int]
) -> None:
    sort = [Sort(**one) for one in by]
    assert ids(kept, sort=sort) == expected
    assert ids(kept, sort=sort, offset=2, limit=2) == expected[2:4]


@pytest.mark.parametrize(("asked", "expected"), rows("results/filtered.jsonl"))
def test_filters(kept: KeptResult, asked: dict[str, Any], expected: list[int] | None) -> None:
    if expected is None:
        with pytest.raises(BadRequest):
            kept.page(filters=[Filter(**asked)])
        return
    page = kept.page(filters=[Filter(**asked)])
    assert [row[0] for row in page.rows] == expected
    assert (page.total, page.total_exact) == (len(expected), True)


def test_a_column_that_is_not_there_is_no_order(kept: KeptResult) -> None:
    with pytest.raises(BadRequest):
        kept.page(sort=[Sort(column=9)])


CELLS: list[Any] = [
    None, 0, -(2**63), 2**63 - 1, 2**63, 10**400, True, False, 0.1, math.inf, -math.inf, math.nan, "", "text\0text",
    "\udcff", "\\udcff", b"", b"\x00", Decimal("12.50"), Decimal("1E+40"), Decimal("NaN"), Decimal("-Infinity"),
    Decimal("0.1234567890123456789012345"), date(2024, 2, 29), datetime(1, 1, 1), datetime(2024, 1, 1, 12, 30, 0, 5),
    datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    clock(23, 59, 59, 999999), timedelta(days=-1, microseconds=1), [1, "a", None], {"k": [1.5]}, [],
]  # fmt: skip


def test_every_kind_of_cell_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "cells.result"
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        writer = SpoolWriter(file, ("x", "x"))
        for start in range(0, len(CELLS), 4):  # exact forms begin in the midst of a column
            writer.add([(cell, 1) for cell in CELLS[start : start + 4]])
        writer.finish()

    result = KeptResult.read(path)
    back = [cell for columns in result.batches(size=5) for cell in columns[0]]

    assert [(type(cell), repr(cell)) for cell in back] == [(type(cell), repr(cell)) for cell in CELLS]
    assert [c.kind for c in result.columns] == ["mixed", "number"]


def test_stand_ins_sort_as_the_values_do() -> None:
    for values in (
        [Decimal("-2.5"), Decimal("0"), Decimal("12.50"), 2**70, Decimal("1e300")],
        [datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), datetime(2024, 1, 1, tzinfo=UTC)],
        [date(999, 1, 1), date(2024, 1, 1), date(9999, 1, 1)],
        [timedelta(days=-3), timedelta(seconds=1), timedelta(days=2)],
        [-5.0, 3, math.inf, math.nan],
    ):
        stored, exact = stored_column(values, set(map(type, values)))
        key: Any = str if isinstance(stored[0], str) else float
        assert sorted(stored, key=key) == list(stored)
        if exact is not None:
            assert list(map(repr, exact_column(stored, exact))) == list(map(repr, values))


def test_files_are_private_and_no_failure_leaves_any(database: Database, store: ResultStore, tmp_path: Path) -> None:
    now(store, database, "SELECT * FROM t")
    with pytest.raises(StatementFailed, match="no such table") as failed:
        now(store, database, "SELECT * FROM missing")

    folder = tmp_path / "results"
    assert failed.value.status == "error"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [f.stat().st_mode & 0o777 for f in folder.iterdir()] == [0o600]


def test_the_statement_runs_once_for_each_owner_until_the_data_changes(
    database: Database, store: ResultStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []
    stream = type(database).stream
    monkeypatch.setattr(type(database), "stream", lambda *a, **k: (runs.append(1), time.sleep(0.1), stream(*a, **k))[2])

    async def at_once(owner: str) -> list[KeptResult]:
        return await asyncio.gather(*(store.keep(database, select("SELECT id FROM t"), owner=owner) for _ in range(5)))

    first, *_ = asyncio.run(at_once("ada"))
    assert (len(runs), len(first.page().rows)) == (1, 5)
    now(store, database, "SELECT id FROM t", "ada")
    assert len(runs) == 1
    now(store, database, "SELECT id FROM t", "eve")
    assert len(runs) == 2
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as writer, writer:
        writer.execute("DELETE FROM t WHERE id > 2")
    assert len(now(store, database, "SELECT id FROM t", "ada").page().rows) == 2
    assert len(first.page().rows) == 5


def test_limits_are_those_of_the_settings_and_a_cut_result_says_so(database: Database, tmp_path: Path) -> None:
    settings = LimitSettings(_env_file=None, TEXT2SQL_EXPORT_ROWS=3)
    result = now(ResultStore.from_settings(tmp_path / "small", settings), database, "SELECT id FROM t")

    assert (result.row_count, result.truncated) == (3, True)
    assert (result.page().total, result.page().total_exact) == (3, False)


def test_what_is_unused_goes_first_when_room_is_short_and_at_its_time(database: Database, tmp_path: Path) -> None:
    tight = ResultStore(tmp_path / "tight", limits=LIMITS, total_bytes=1 << 30, seconds_kept=60)
    kept = [now(tight, database, f"SELECT {n} FROM t") for n in range(4)]
    for age, result in enumerate(reversed(kept), start=1):
        os.utime(result._path, (time.time() - age,) * 2)
    tight._total_bytes = 70_000
    now(tight, database, "SELECT 0 FROM t")
    tight.sweep()

    assert kept[0]._path.exists()
    assert not kept[1]._path.exists()
    assert sum(f.stat().st_size for f in (tmp_path / "tight").iterdir()) <= 70_000
    for file in (tmp_path / "tight").iterdir():
        os.utime(file, (time.time() - 100,) * 2)
    tight.sweep()
    assert list((tmp_path / "tight").iterdir()) == []
    with pytest.raises(ResultGone):
        kept[0].page()


async def test_cancelling_stops_the_statement(database: Database, store: ResultStore, tmp_path: Path) -> None:
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c WHERE n < 0"
    task = asyncio.create_task(store.keep(database, select(endless)))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(becomes, lambda: not list((tmp_path / "results").iterdir()))


def test_several_processes_share_a_folder(database: Database, tmp_path: Path) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path; from agent.results import ResultStore\n"
        "from eval.databases import Limits, open_database; from eval.sql.types import ReadStatement\n"
        "store = ResultStore(Path(sys.argv[2]), limits=Limits(), total_bytes=60_000)\n"
        "database = open_database(sys.argv[1])\n"
        "for n in range(40):\n"
        "    r = asyncio.run(store.keep(database, ReadStatement(f'SELECT {n % 7} AS n, * FROM t', 'sqlite')))\n"
        "    try: assert r.page().rows[0][0] == n % 7\n"
        "    except Exception as e: assert type(e).__name__ == 'ResultGone', e\n"
    )
    command = ("-W", "error", "-c", script, tmp_path / "shop.sqlite", tmp_path / "shared")
    running = [Process(*command, stderr=subprocess.PIPE) for _ in range(3)]
    errors = [process.communicate(timeout=60)[1] for process in running]

    assert errors == ["", "", ""]
    assert not list((tmp_path / "shared").glob(".*"))


def test_a_folder_that_is_somebody_elses_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ResultError, match="not this server's own"):
        ResultStore(tmp_path / "link", limits=LIMITS)
