"""`Store`: the single interface to all state that outlives a process.

In: settings. Out: an open `Store`, safe to share between the tasks of one event loop; any number of processes can open
the same state.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, delete, select, update

from agent.config import StateSettings
from agent.store.base import now
from agent.store.encryption import Sealer
from agent.store.errors import StateUnusable, ThreadBusy
from agent.store.feedback import FeedbackStore
from agent.store.kept import KeptStore
from agent.store.location import state_location
from agent.store.preferences import PreferenceStore
from agent.store.sources import SourceStore
from agent.store.streamed import EventStore
from agent.store.tables import events, feedback, runs, threads, version
from agent.store.threads import ThreadStore

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver


class Store(ThreadStore, EventStore, FeedbackStore, SourceStore, KeptStore, PreferenceStore):
    """Runs, threads, events, feedback, sources, kept answers and boards. Every method raises StoreError when the state
    cannot be used."""

    async def ping(self) -> None:
        """Raises StoreError when the state database is away or takes no writes: it is locked, or its disk is full."""
        written = update(version).values(version=version.c.version)
        if not await self._write(lambda connection: connection.execute(written).rowcount):
            raise StateUnusable(f"The state database {self.place} is empty.")

    async def prune(self, days: float) -> int:
        """Delete threads that were last used more than `days` ago with everything that belongs to them, and older runs
        outside of threads; running ones are kept. Returns how many threads and runs."""
        oldest = now() - int(days * 86_400e6)
        old = select(threads.c.owner, threads.c.thread_id).where(threads.c.updated < oldest)
        rows = await self._read(lambda connection: connection.execute(old).all())
        gone = 0
        for one in rows:
            with contextlib.suppress(ThreadBusy):
                gone += await self.delete_thread(one.owner, one.thread_id)
        single = and_(runs.c.thread_id.is_(None), runs.c.started < oldest, runs.c.status != "running")

        def pruned(connection: Connection) -> int:
            its_runs = select(runs.c.run_id).where(single)
            for table in (events, feedback):
                connection.execute(delete(table).where(table.c.run_id.in_(its_runs)))
            return connection.execute(delete(runs).where(single)).rowcount

        return gone + await self._write(pruned)


async def open_store(settings: StateSettings, *, checkpointer: BaseCheckpointSaver[Any] | None = None) -> Store:
    """Open the state that the settings name, after creating it or migrating it to the current version. `checkpointer`
    holds the threads' own state, which `delete_thread` also removes. Raises StoreError. A state that is damaged,
    read-only or newer than this program is not changed."""
    location = state_location(settings)
    store = Store(location, Sealer(settings, location))
    store.checkpointer = checkpointer
    try:
        await store._open()
    except BaseException:
        await store.close()
        raise
    return store
