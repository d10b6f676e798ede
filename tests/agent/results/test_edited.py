"""Edited SQL runs under the guard and the caps, and says which names do not exist."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.results import ResultStore, check_sql, run_sql
from eval.databases import Database, ExecutionResult, Limits, open_database
from eval.schema import Schema
from eval.statement import ReadStatement
from tests.writing import sqlite_file


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    people = "INSERT INTO customers (name) VALUES ('Ada'), ('Bob'), (NULL)"
    script = f"CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); {people}"
    with open_database(sqlite_file(tmp_path / "shop.sqlite", script)) as opened:
        yield opened


async def test_rows_come_as_json_with_what_was_sent(database: Database) -> None:
    done = await run_sql(database, "select name, name -- the names\nfrom customers order by id", limits=Limits())

    assert (done.allowed, done.status, done.error) == (True, "success", None)
    assert done.sql == "SELECT name, name FROM customers ORDER BY id"
    assert (done.columns, done.rows) == (["name", "name"], [["Ada", "Ada"], ["Bob", "Bob"], [None, None]])
    assert done.execution_time_ms > 0


@pytest.mark.parametrize("sql", ["DELETE FROM customers", "SELECT 1; SELECT 2", "", "nonsense ("])
async def test_what_the_guard_refuses_is_never_sent(database: Database, sql: str) -> None:
    done = await run_sql(database, sql, limits=Limits())

    assert (done.allowed, done.status, done.sql, done.rows) == (False, "refused", "", [])
    assert done.reason
    assert (await run_sql(database, "SELECT count(*) FROM customers", limits=Limits())).rows == [[3]]


async def test_the_deadline_counts_from_the_request(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    schema, asked = database.schema, list[Limits]()

    def slowly(*, ttl: float = 300.0) -> Schema:
        time.sleep(0.2)
        return schema(ttl=ttl)

    async def seen(_: ReadStatement, *, limits: Limits) -> ExecutionResult:
        asked.append(limits)
        return ExecutionResult("success")

    monkeypatch.setattr(database, "schema", slowly)
    monkeypatch.setattr(database, "execute_async", seen)
    await run_sql(database, "SELECT 1", limits=Limits(seconds=60))
    await run_sql(database, "SELECT 1", limits=Limits(seconds=0.1))
    assert asked[0].spent >= 0.2
    assert asked[1].spent == 0.05, "reading a wide structure leaves half of the time"


async def test_names_that_do_not_exist_come_with_the_nearest(database: Database) -> None:
    done = await run_sql(database, "SELECT nme FROM custmers", limits=Limits())

    assert (done.allowed, done.status) == (True, "error")
    assert "custmers" in (done.error or "")
    assert ("table", "custmers", ("customers",)) in [(p.kind, p.name, p.nearest) for p in done.phantoms]


async def test_cancelling_interrupts_it(database: Database) -> None:
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
    task = asyncio.create_task(run_sql(database, endless, limits=Limits(seconds=30)))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    database.close()  # would wait for a statement that goes on


async def test_checked_sql_can_be_kept(database: Database, tmp_path: Path) -> None:
    checked = await check_sql(database, "SELECT id FROM customers ORDER BY id DESC")
    assert checked.statement is not None
    assert "statement" not in checked.model_dump()
    kept = await ResultStore(tmp_path / "results", limits=Limits()).keep(database, checked.statement)

    assert kept.page().rows == [[3], [2], [1]]
    assert (await check_sql(database, "DROP TABLE customers")).statement is None
