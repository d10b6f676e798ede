"""Runs: each question, its owner and its outcome.

In: run records. Out: the same records, looked up by their owner. A running run is leased to the server instance that
works on it. When the lease expires without renewal, the instance is taken to be gone and the run becomes `interrupted`.
The lease also locks the run's thread: while one run of a thread is leased, no other can start. The events of a run are
stored as they were sent, for readers that resume; its record is its answer, so they are pruned by age and by size.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from operator import methodcaller
from typing import Any

from sqlalchemy import Connection, and_, delete, func, literal_column, select, update

from agent.store.base import transaction
from agent.store.columns import now
from agent.store.owned import OwnedStore
from agent.store.records import RunRecord, RunStatus, StoredEvent
from agent.store.tables import events, runs, threads

LEASE_SECONDS = 30.0
"""Duration of a lease without renewal. The clocks of replicas must differ by much less than this."""
EVENT_DAYS = 3.0
EVENT_BYTES = 256 * 1024 * 1024
SHORT = 300
"""Characters of an answer that a list shows."""

_LISTED = [column for column in runs.c if column.name not in ("answer", "instance", "leased_until")]


class RunStore(OwnedStore):
    async def begin_run(self, run: RunRecord, *, instance: str = "", lease_seconds: float = LEASE_SECONDS) -> None:
        """Store a run that is no turn of a thread, leased to `instance` while it goes on; `begin_turn` is for the
        others."""
        await self._write(lambda connection: self._insert_run(connection, run, instance, lease_seconds))

    def _insert_run(self, connection: Connection, run: RunRecord, instance: str, lease_seconds: float) -> None:
        leased = now() + int(lease_seconds * 1e6) if run.status == "running" else 0
        values = run.model_dump() | {"short": run.short or _short(run.answer)}
        connection.execute(runs.insert(), {**values, "instance": instance, "leased_until": leased})

    @transaction
    def finish_run(
        self,
        connection: Connection,
        run_id: str,
        *,
        status: RunStatus,
        seconds: float | None = None,
        score: float | None = None,
        sql: str = "",
        model: str = "",
        answer: dict[str, Any] | None = None,
        last: Sequence[StoredEvent] = (),
        again: bool = False,
    ) -> bool:
        """Store the outcome of a run together with its last events. False when there is no such run (any more).
        `again`: an earlier call failed, and may have stored them all the same."""
        values = {
            "status": status,
            "seconds": seconds,
            "score": score,
            "sql": sql,
            "model": model,
            "short": _short(answer),
            "answer": answer,
            "leased_until": 0,
        }
        done = connection.execute(update(runs).where(runs.c.run_id == run_id).values(**values))
        if again and last:
            same = and_(events.c.run_id == run_id, events.c.number >= last[0].number)
            connection.execute(delete(events).where(same))
        if last and done.rowcount:
            _insert_events(connection, run_id, last)
        return bool(done.rowcount)

    async def runs(
        self, owner: str, *, thread_id: str | None = None, limit: int = 50, before: str | None = None
    ) -> tuple[list[RunRecord], str | None]:
        """The latest runs first, without their answers, and the cursor of the next page. Raises BadCursor."""
        query = select(*_LISTED).where(runs.c.owner == owner)
        if thread_id is not None:
            query = query.where(runs.c.thread_id == thread_id)
        return await self._page(RunRecord, query, runs.c.started, runs.c.run_id, limit, before)

    async def mark_interrupted(self) -> int:
        """Mark runs whose instance is gone as `interrupted`; returns how many. If the server was only slow and the run
        still ends, the run gets its real outcome."""
        query = update(runs).where(runs.c.status == "running", runs.c.leased_until < now())
        return await self._write(lambda connection: connection.execute(query.values(status="interrupted")).rowcount)

    async def append_events(self, run_id: str, sent: Sequence[StoredEvent]) -> None:
        """Store events in one transaction; several events cost little more than one. None are stored where an event of
        these numbers is there: another process has found the run without its own and written its ending."""
        if not sent:
            return
        await self._write(lambda connection: _insert_events(connection, run_id, sent))

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
            forgotten = delete(events).where(events.c.run_id.in_(expired[start : start + 500]))
            await self._write(methodcaller("execute", forgotten))
        return len(expired)

    def _busy(self, connection: Connection, thread_id: str) -> bool:
        """Whether a run of this thread is leased. Runs with an expired lease are marked as interrupted. Locks the
        thread's row, so two runs that start at once are serialised."""
        locked = select(threads.c.thread_id).where(threads.c.thread_id == thread_id).with_for_update()
        connection.execute(locked)
        running = and_(runs.c.thread_id == thread_id, runs.c.status == "running")
        if connection.scalar(select(literal_column("1")).where(running, runs.c.leased_until >= now()).limit(1)):
            return True
        connection.execute(update(runs).where(running).values(status="interrupted"))
        return False


def _insert_events(connection: Connection, run_id: str, sent: Sequence[StoredEvent]) -> None:
    """A run whose ending is there gets no more events."""
    taken = select(events.c.number).where(events.c.run_id == run_id, events.c.number >= sent[0].number)
    if connection.scalar(taken.limit(1)):
        return
    rows = [{"run_id": run_id, "number": one.number, "data": one.data, "size": len(one.data)} for one in sent]
    connection.execute(events.insert(), rows)


def _short(answer: dict[str, Any] | None) -> str:
    text = str((answer or {}).get("answer") or (answer or {}).get("final_answer") or "")
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"
