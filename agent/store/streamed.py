"""Streamed events of runs, stored so that a reader whose connection broke can resume where it stopped.

In: events as they were sent. Out: the events after a given number. They exist only for resuming; the record of a run is
its answer. They are therefore pruned by age and by size.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, func, select

from agent.store.base import Base
from agent.store.records import StoredEvent
from agent.store.runs import insert_events
from agent.store.tables import events, runs

EVENT_DAYS = 3.0
EVENT_BYTES = 256 * 1024 * 1024


class EventStore(Base):
    async def append_events(self, run_id: str, sent: Sequence[StoredEvent]) -> None:
        """Store events in one transaction; several events cost little more than one. None are stored where an event of
        these numbers is there: another process has found the run without its own and written its ending."""
        if not sent:
            return
        await self._write(lambda connection: insert_events(connection, run_id, sent))

    async def events_after(self, run_id: str, number: int = 0) -> list[StoredEvent]:
        """The events of a run from `number` + 1 on, in order."""
        its = select(events.c.number, events.c.data).where(events.c.run_id == run_id, events.c.number > number)
        return await self._all(StoredEvent, its.order_by(events.c.number))

    async def last_event(self, run_id: str) -> StoredEvent | None:
        """The event with the highest number; None where none is stored."""
        its = select(events.c.number, events.c.data).where(events.c.run_id == run_id)
        return await self._first(StoredEvent, its.order_by(events.c.number.desc()).limit(1))

    async def prune_events(self, *, days: float = EVENT_DAYS, size: int = EVENT_BYTES) -> int:
        """Delete the events of runs that began more than `days` ago, then those of the oldest runs while all events
        together exceed `size` characters. Events of running runs are kept. Returns how many runs lost their events."""
        per_run = (
            select(runs.c.run_id, runs.c.started, runs.c.status, func.sum(events.c.size).label("size"))
            .join(events, events.c.run_id == runs.c.run_id)
            .group_by(runs.c.run_id, runs.c.started, runs.c.status)
            .order_by(runs.c.started.desc())
        )
        oldest = datetime.now(UTC) - timedelta(days=days)
        rows = await self._read(lambda connection: connection.execute(per_run).all())
        total = 0
        expired: list[str] = []
        for one in rows:
            total += int(one.size)
            if one.status != "running" and (one.started < oldest or total > size):
                expired.append(one.run_id)
        for start in range(0, len(expired), 500):  # in batches, so that other writers get their turn
            await self._forget(expired[start : start + 500])
        return len(expired)

    async def _forget(self, run_ids: Sequence[str]) -> None:
        query = delete(events).where(events.c.run_id.in_(run_ids))
        await self._write(lambda connection: connection.execute(query))
