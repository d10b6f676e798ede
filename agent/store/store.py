"""`Store`: the single interface to all state that outlives a process.

In: settings. Out: an open `Store`, safe to share between the tasks of one event loop; any number of processes can open
the same state.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, delete, select, text, update

from agent.config import StateSettings
from agent.store.base import transaction
from agent.store.encryption import Sealer
from agent.store.feedback import FeedbackStore
from agent.store.location import state_location
from agent.store.records import BoardRecord
from agent.store.runs import LEASE_SECONDS, RunStore
from agent.store.schedules import ScheduleStore, without_schedules
from agent.store.signals import SignalStore
from agent.store.sources import SourceStore
from agent.store.store_errors import StateUnavailable, StateUnusable, ThreadBusy, told_plainly
from agent.store.tables import (
    boards,
    deliveries,
    events,
    feedback,
    kept,
    now,
    runs,
    schedules,
    storable,
    tasks,
    threads,
    version,
)
from agent.store.tasks import TaskStore

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

_NOW = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
_LEVEL = f"LEAST(:burst, r.level + GREATEST(0, {_NOW} - r.at) * :per_micro)"
_TAKE = text(
    f"""INSERT INTO text2sql_rates AS r (key, level, at) VALUES (:key, :burst - :count, {_NOW})
        ON CONFLICT (key) DO UPDATE SET level = {_LEVEL} - :count, at = {_NOW} WHERE {_LEVEL} >= :count
        RETURNING level"""
)
_LEFT = text(f"SELECT {_LEVEL} FROM text2sql_rates r WHERE r.key = :key")
_OLD = text(f"DELETE FROM text2sql_rates WHERE at < {_NOW} - 3600000000")


LEAST_FREE_BYTES = 2 << 20
"""Room on the disk of a SQLite state that a few questions need."""


class Store(RunStore, FeedbackStore, SourceStore, ScheduleStore, TaskStore, SignalStore):
    """Runs, threads, events, feedback, sources, kept answers, boards, schedules, tasks, shared limits and signals.
    Every method raises StoreError when the state cannot be used."""

    async def close(self) -> None:
        await asyncio.to_thread(self._stop_listening)
        await super().close()

    @transaction
    def renew(self, connection: Connection, instance: str, seconds: float = LEASE_SECONDS) -> int:
        """Renew the leases of what `instance` works on for `seconds` from now; returns how many."""
        until = now() + int(seconds * 1e6)
        its_runs = update(runs).where(runs.c.status == "running", runs.c.instance == instance)
        its_tasks = update(tasks).where(tasks.c.active == 1, tasks.c.instance == instance)
        return sum(connection.execute(its.values(leased_until=until)).rowcount for its in (its_runs, its_tasks))

    @transaction
    def end_leases(self, connection: Connection, instance: str) -> None:
        """Release everything that an instance held which is known to be gone; its runs become `interrupted`."""
        its_runs = update(runs).where(runs.c.status == "running", runs.c.instance == instance)
        connection.execute(its_runs.values(status="interrupted", leased_until=0))
        for table in (tasks, deliveries):
            connection.execute(update(table).where(table.c.instance == instance).values(leased_until=0))

    async def ping(self) -> None:
        """Raises StoreError when the state database is away or takes no writes: it is locked, or its disk is full."""
        if self._location.sqlite:  # a small write may still fit into the log file of a full disk
            with told_plainly(self.place):
                room = await asyncio.to_thread(shutil.disk_usage, Path(self._location.url.database or "").parent)
            if room.free < LEAST_FREE_BYTES:
                raise StateUnavailable(f"The state database {self.place} has no room left on its disk.")
        written = update(version).values(version=version.c.version)
        if not await self._write(lambda connection: connection.execute(written).rowcount):
            raise StateUnusable(f"The state database {self.place} is empty.")

    async def prune(self, days: float) -> int:
        """Delete threads that were last used more than `days` ago with everything that belongs to them, and older runs
        outside of threads, and deliveries that ended before; running ones are kept. Returns how many threads and runs.
        """
        oldest = datetime.now(UTC) - timedelta(days=days)
        old = select(threads.c.owner, threads.c.thread_id).where(threads.c.updated < oldest)
        rows = await self._read(lambda connection: connection.execute(old).all())
        removed = 0
        for one in rows:
            with contextlib.suppress(ThreadBusy):
                removed += await self.delete_thread(one.owner, one.thread_id)
        single = and_(runs.c.thread_id.is_(None), runs.c.started < oldest, runs.c.status != "running")

        def pruned(connection: Connection) -> int:
            connection.execute(delete(deliveries).where(deliveries.c.ended < oldest))
            its_runs = select(runs.c.run_id).where(single)
            for table in (events, feedback):
                connection.execute(delete(table).where(table.c.run_id.in_(its_runs)))
            return connection.execute(delete(runs).where(single)).rowcount

        return removed + await self._write(pruned)

    # --- kept answers, and the boards that they are pinned to ---

    @transaction
    def remove_kept(self, connection: Connection, owner: str, kept_id: str) -> bool:
        """Remove an answer, also from the owner's boards, and its schedules. False when the owner has no such one."""
        mine = delete(kept).where(kept.c.owner == owner, kept.c.kept_id == kept_id)
        if not connection.execute(mine).rowcount:
            return False
        without_schedules(connection, schedules.c.owner == owner, schedules.c.kept_id == kept_id)
        for row in connection.execute(select(boards).where(boards.c.owner == owner)).mappings().all():
            board = BoardRecord.model_validate(dict(row))
            left = [tile for tile in board.tiles if tile.kept_id != kept_id]
            if len(left) < len(board.tiles):
                connection.execute(update(boards).where(boards.c.board_id == board.board_id).values(tiles=left))
        return True

    async def shared_board(self, share: str) -> BoardRecord | None:
        """The board whose link holds this secret, whoever owns it."""
        return await self._first(BoardRecord, select(boards).where(boards.c.share == share))

    @transaction
    def remove_board(self, connection: Connection, owner: str, board_id: str) -> bool:
        """Remove a board with its schedules; its answers stay. False when the owner has none of that id."""
        mine = delete(boards).where(boards.c.owner == owner, boards.c.board_id == board_id)
        without_schedules(connection, schedules.c.owner == owner, schedules.c.board_id == board_id)
        return bool(connection.execute(mine).rowcount)

    # --- token buckets that all processes of a state keep together; only for PostgreSQL, whose clock counts ---

    @transaction
    def take_tokens(self, connection: Connection, key: str, count: int, *, per_second: float, burst: float) -> float:
        """Take tokens from a bucket. 0 when it had as many, else the seconds until it will; then none is taken."""
        given = {"key": storable(key), "count": count, "burst": burst, "per_micro": per_second / 1e6}
        if connection.scalar(_TAKE, given) is not None:
            return 0.0
        level = float(connection.scalar(_LEFT, given) or 0.0)
        return max(0.001, (count - level) / per_second)

    async def prune_rates(self) -> None:
        await self._write(lambda connection: connection.execute(_OLD))


async def open_store(settings: StateSettings, *, checkpointer: BaseCheckpointSaver[Any] | None = None) -> Store:
    """Open the state that the settings name, after creating it or migrating it to the current version. `checkpointer`
    holds the threads' own state, which `delete_thread` also removes. Raises StoreError. A state that is damaged,
    read-only or newer than this program is not changed."""
    location = state_location(settings)
    store = Store(location, Sealer(settings, location))
    store.checkpointer = checkpointer
    try:
        await store._open()
        store._listen()
    except BaseException:
        await store.close()
        raise
    return store
