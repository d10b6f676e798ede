"""The state on disk: private, shared safely by processes, never destroyed, and its secrets unreadable."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.config import StateSettings
from agent.store import SecretMissing, StateUnavailable, StateUnusable, open_store
from agent.store.records import BoardRecord, ThreadRecord
from agent.store.tables import STEPS
from tests.agent.store.conftest import SECRET, a_run, a_source, first_turn
from tests.commands import Process
from tests.pairs import sections


def settings(folder: Path, **more: str) -> StateSettings:
    return StateSettings.model_validate({"TEXT2SQL_STATE_DIR": str(folder), **more})


@pytest.mark.skipif(sys.platform == "win32", reason="no such modes")
async def test_nobody_else_may_read_the_state(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    store = await open_store(settings(folder))
    await store.begin_run(a_run())
    await store.add_source(a_source())

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    await store.close()

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert set(modes) >= {"state.sqlite", "state.sqlite-wal", "secret.key"}
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize(("url", "message"), sections("server/requests.txt")["states of no use"])
async def test_a_url_that_names_no_state_is_refused_unrepeated(tmp_path: Path, url: str, message: str) -> None:
    with pytest.raises(StateUnusable, match=message) as refused:
        await open_store(settings(tmp_path, TEXT2SQL_STATE_URL=url))
    assert "hunter2" not in str(refused.value)


async def test_a_damaged_state_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "state.sqlite"
    file.write_bytes(b"This is no database, but may be dear to somebody. " * 100)
    before = file.read_bytes()

    with pytest.raises(StateUnusable, match="damaged") as refused:
        await open_store(settings(tmp_path))

    assert str(file) in str(refused.value)
    assert file.read_bytes() == before


async def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    with pytest.raises(StateUnusable, match=str(tmp_path / "state")):
        await open_store(settings(tmp_path / "state"))


async def test_a_state_that_may_not_be_written_is_reported(tmp_path: Path) -> None:
    store = await open_store(settings(tmp_path))
    await store._read(lambda connection: connection.exec_driver_sql("PRAGMA query_only=ON"))
    with pytest.raises(StateUnusable, match="cannot be written"):
        await store.begin_run(a_run())
    await store.close()


async def test_a_state_of_a_newer_version_is_left_alone(config: StateSettings) -> None:
    store = await open_store(config)
    await store._write(lambda connection: connection.exec_driver_sql("UPDATE text2sql_state SET version = 99"))
    await store.close()

    with pytest.raises(StateUnusable, match=r"newer version .* form is 99"):
        await open_store(config)


async def test_a_board_of_before_has_no_filters_and_its_wide_tiles(config: StateSettings) -> None:
    at = datetime.now(UTC)
    store = await open_store(config)
    await store.add(BoardRecord(board_id="b", owner="ann", title="Old", tiles=[], created=at, updated=at))
    for statement in (
        "ALTER TABLE text2sql_boards DROP COLUMN filters",
        """UPDATE text2sql_boards SET tiles = '[{"kept_id": "a", "wide": true}, {"kept_id": "b", "wide": false}]'""",
        "UPDATE text2sql_state SET version = 6",
    ):
        await store._write(lambda connection, sql=statement: connection.exec_driver_sql(sql))
    await store.close()

    store = await open_store(config)
    [board] = await store.of_owner(BoardRecord, "ann")

    assert (board.filters, [tile.width for tile in board.tiles]) == ([], [4, 2])
    await store.close()


async def test_a_state_database_that_is_away_is_unavailable(tmp_path: Path) -> None:
    away = "postgresql://me:hunter2@127.0.0.1:9/state"
    with pytest.raises(StateUnavailable, match="does not answer") as refused:
        await open_store(settings(tmp_path, TEXT2SQL_STATE_URL=away))
    assert "hunter2" not in str(refused.value)


async def test_a_lock_held_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.store.base.BUSY_SECONDS", 0.2)
    store = await open_store(settings(tmp_path))
    other = sqlite3.connect(tmp_path / "state.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StateUnavailable, match="locked by another process"):
        await store.begin_run(a_run())
    with pytest.raises(StateUnavailable):
        await store.ping()  # so the server is not ready
    assert await store.runs("ann") == ([], None)  # readers go on
    other.execute("ROLLBACK")
    other.close()
    await store.begin_run(a_run())
    await store.close()


# --- secrets ---


async def test_an_address_is_sealed_in_the_state_and_whole_for_its_owner(config: StateSettings) -> None:
    store = await open_store(config)
    await store.add_source(a_source())
    kept = await store._read(lambda c: c.exec_driver_sql("SELECT location FROM text2sql_sources").scalar())
    await store.close()

    again = await open_store(config)
    listed = await again.sources("ann")
    removed = await again.remove_source("ann", "s1")
    left = await again.sources("ann")
    await again.close()

    assert kept is not None
    assert "hunter2" not in kept
    assert listed == [removed]
    assert listed[0].location == a_source().location
    assert left == []


async def test_another_secret_opens_no_address(config: StateSettings, caplog: pytest.LogCaptureFixture) -> None:
    store = await open_store(config)
    await store.add_source(a_source())
    await store.close()
    other = StateSettings.model_validate(
        config.model_dump(by_alias=True, exclude={"secret"}) | {"TEXT2SQL_SECRET": SECRET[::-1]}
    )

    store = await open_store(other)
    assert await store.sources("ann") == []
    removed = await store.remove_source("ann", "s1")
    await store.close()

    assert "s1 is left out: " in caplog.text
    assert "another key" in caplog.text
    assert removed.location == ""


async def test_without_a_secret_postgresql_takes_no_address_but_a_file(postgres_url: str, tmp_path: Path) -> None:
    store = await open_store(settings(tmp_path, TEXT2SQL_STATE_URL=postgres_url))
    with pytest.raises(SecretMissing, match="set TEXT2SQL_SECRET"):
        await store.add_source(a_source())
    await store.add_source(a_source("uploaded", "/data/uploads/a.sqlite"))
    [record] = await store.sources("ann")
    await store.close()

    assert record.location == "/data/uploads/a.sqlite"


async def test_a_short_secret_is_refused(tmp_path: Path) -> None:
    store = await open_store(settings(tmp_path, TEXT2SQL_SECRET="short"))
    with pytest.raises(SecretMissing, match="too short"):
        await store.add_source(a_source())
    await store.close()


# --- several processes ---

_WORKER = """
import asyncio, sys
from datetime import datetime, UTC
from agent.config import StateSettings
from agent.store import open_store
from agent.store.records import RunRecord, StoredEvent

async def work(name):
    store = await open_store(StateSettings())
    await store.ping()
    for n in range(int(sys.argv[3])):
        run = RunRecord(run_id=f"{name}-{n}", owner="ann", preset="shop", question="q", started=datetime.now(UTC),
                        thread_id=sys.argv[2])
        await store.begin_turn(run, instance=name, patience=60.0)
        await store.append_events(run.run_id, [StoredEvent(number=i, data="{}") for i in (1, 2, 3)])
        await store.finish_run(run.run_id, status="success", answer={"answer": "x"})
    await store.close()

asyncio.run(work(sys.argv[1]))
"""


async def test_several_processes_write_at_once_and_lose_nothing(config: StateSettings) -> None:
    store = await open_store(config)
    thread = await first_turn(store, a_run())
    await store.finish_run("r1", status="success")
    workers = [_started(config, f"p{n}", thread.thread_id, "25") for n in range(4)]
    ends = [await asyncio.to_thread(worker.communicate) for worker in workers]

    assert [worker.returncode for worker in workers] == [0] * 4, ends
    runs, _ = await store.runs("ann", limit=200)
    assert sorted(run.turn for run in runs) == list(range(1, 102))
    assert (await store.get(ThreadRecord, "ann", thread.thread_id) or thread).turns == 101
    await store.close()


async def test_processes_that_meet_at_an_empty_state_make_it_once(config: StateSettings) -> None:
    workers = [_started(config, f"p{n}", "", "0") for n in range(6)]
    ends = [await asyncio.to_thread(worker.communicate) for worker in workers]

    assert [worker.returncode for worker in workers] == [0] * 6, ends
    store = await open_store(config)
    made = "SELECT version FROM text2sql_state"
    assert await store._read(lambda connection: connection.exec_driver_sql(made).scalars().all()) == [len(STEPS)]
    await store.close()


def _started(config: StateSettings, *arguments: str) -> Process:
    named = {"TEXT2SQL_STATE_DIR": config.folder, "TEXT2SQL_STATE_URL": config.url}
    environment = {**os.environ, **{k: v for k, v in named.items() if v}}
    return Process("-c", _WORKER, *arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
