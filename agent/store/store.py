"""`Store`: the single interface to all state that outlives a process.

In: settings. Out: an open `Store`, safe to share between the tasks of one event loop; any number of processes can open
the same state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from agent.config import StateSettings
from agent.store.encryption import Sealer
from agent.store.errors import StateUnusable
from agent.store.feedback import FeedbackStore
from agent.store.kept import KeptStore
from agent.store.location import state_location
from agent.store.sources import SourceStore
from agent.store.streamed import EventStore
from agent.store.tables import version
from agent.store.threads import ThreadStore

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver


class Store(ThreadStore, EventStore, FeedbackStore, SourceStore, KeptStore):
    """Runs, threads, events, feedback, sources, kept answers and boards. Every method raises StoreError when the state
    cannot be used."""

    async def ping(self) -> None:
        """Raises StoreError when the state database is away."""
        if await self._read(lambda connection: connection.scalar(select(version.c.version))) is None:
            raise StateUnusable(f"The state database {self.place} is empty.")


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
