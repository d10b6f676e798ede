"""Runs: each question, its owner and its outcome; and threads: conversations, each of which has one owner and one
database.

In: run records. Out: the same records, looked up by their owner. A running run is leased to the server instance that
works on it. When the lease expires without renewal, the instance is taken to be gone and the run becomes `interrupted`.
The lease also locks the run's thread: while one run of a thread is leased, no other can start. The events of a run are
stored as they were sent, for readers that resume; its record is its answer, so they are pruned by age and by size.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, delete, func, literal_column, or_, select, update

from agent.store.base import Base, transaction
from agent.store.records import RunRecord, RunStatus, StoredEvent, ThreadRecord
from agent.store.store_errors import NotFound, ThreadBusy
from agent.store.tables import events, feedback, now, runs, storable, threads

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

LEASE_SECONDS = 30.0
"""Duration of a lease without renewal. The clocks of replicas must differ by much less than this."""
EVENT_DAYS = 3.0
EVENT_BYTES = 256 * 1024 * 1024
_AGAIN_SECONDS = 0.1
TITLE = 120
"""Maximum characters of a thread's title, taken from its first question."""
SHORT = 300
"""Characters of an answer that a list shows."""

_LISTED = [column for column in runs.c if column.name not in ("answer", "instance", "leased_until")]


class RunStore(Base):
    checkpointer: BaseCheckpointSaver[Any] | None = None
    """Holds the threads' own state; deleting a thread deletes it there, too."""

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

    # --- threads ---

    async def begin_turn(
        self,
        run: RunRecord,
        *,
        instance: str = "",
        lease_seconds: float = LEASE_SECONDS,
        fresh: bool = False,
        patience: float = 0.0,
    ) -> RunRecord:
        """Count a turn of the run's thread, or create the thread (`fresh`), and store the run, all or nothing. The
        returned record has the turn's number. Raises NotFound for a thread that is not the owner's, and ThreadBusy
        while another run is active on it. `patience`: seconds to wait for that, which may be stopping in another
        process."""

        def begun(connection: Connection) -> RunRecord:
            # locks the thread's row, so two runs that start at once are serialised
            thread = _counted(connection, run, fresh=fresh)
            if not fresh and self._busy(connection, thread.thread_id):
                raise ThreadBusy
            numbered = run.model_copy(update={"turn": thread.turns})
            self._insert_run(connection, numbered, instance, lease_seconds)
            return numbered

        until = time.monotonic() + patience
        while True:
            try:
                return await self._write(begun)
            except ThreadBusy:
                if time.monotonic() >= until:
                    raise
            await asyncio.sleep(_AGAIN_SECONDS)

    async def threads(
        self, owner: str, *, limit: int = 50, before: str | None = None, search: str | None = None
    ) -> tuple[list[ThreadRecord], str | None]:
        """The threads, most recently used first, and the cursor of the next page. With `search`, the threads whose
        title or one of whose questions holds each of its words. Raises BadCursor."""
        query = select(threads).where(threads.c.owner == owner)
        for word in (search or "").split():
            asked = select(runs.c.thread_id).where(
                runs.c.owner == owner, runs.c.question.icontains(word, autoescape=True)
            )
            found_in = threads.c.title.icontains(word, autoescape=True)
            query = query.where(or_(found_in, threads.c.thread_id.in_(asked)))
        return await self._page(ThreadRecord, query, threads.c.updated, threads.c.thread_id, limit, before)

    async def rename_thread(self, owner: str, thread_id: str, title: str) -> ThreadRecord:
        """Raises NotFound for a thread that is not the owner's."""
        renamed = (
            update(threads)
            .where(threads.c.owner == owner, threads.c.thread_id == thread_id)
            .values(title=_title(title) or "Untitled")
            .returning(*threads.c)
        )
        row = await self._write(lambda connection: connection.execute(renamed).mappings().first())
        if row is None:
            raise NotFound("There is no such thread.")
        return ThreadRecord.model_validate(dict(row))

    async def delete_thread(self, owner: str, thread_id: str) -> bool:
        """Remove a thread with its runs, their events and verdicts, and its checkpoints. False when there is none of
        this owner's. Raises ThreadBusy while a question runs on it."""
        loop = asyncio.get_running_loop()

        def removed(connection: Connection) -> bool:
            mine = and_(threads.c.owner == owner, threads.c.thread_id == thread_id)
            if connection.scalar(select(threads.c.thread_id).where(mine).with_for_update()) is None:
                return False
            if self._busy(connection, thread_id):
                raise ThreadBusy
            if self.checkpointer is not None:  # first, so that after a failure the thread can still be deleted
                asyncio.run_coroutine_threadsafe(self.checkpointer.adelete_thread(thread_id), loop).result()
            its_runs = select(runs.c.run_id).where(runs.c.thread_id == thread_id)
            connection.execute(delete(events).where(events.c.run_id.in_(its_runs)))
            connection.execute(delete(feedback).where(feedback.c.run_id.in_(its_runs)))
            connection.execute(delete(runs).where(runs.c.thread_id == thread_id))
            connection.execute(delete(threads).where(mine))
            return True

        return await self._write(removed)


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


def new_thread_id() -> str:
    return secrets.token_urlsafe(12)


def _counted(connection: Connection, run: RunRecord, *, fresh: bool) -> ThreadRecord:
    """The run's thread with this turn's number; `fresh`: the thread is created. Raises NotFound for a thread that is
    not the owner's."""
    at = datetime.now(UTC)
    if fresh:
        thread = ThreadRecord(
            thread_id=str(run.thread_id),
            owner=run.owner,
            rights=run.rights,
            title=_title(storable(run.question)),
            preset=run.preset,
            turns=1,
            created=at,
            updated=at,
        )
        connection.execute(threads.insert(), thread.model_dump())
        return thread
    its = update(threads).where(threads.c.owner == run.owner, threads.c.thread_id == run.thread_id)
    counted = its.values(turns=threads.c.turns + 1, updated=at, preset=run.preset).returning(*threads.c)
    row = connection.execute(counted).mappings().first()
    if row is None:
        raise NotFound("There is no such thread.")
    if run.rights and row["rights"] != run.rights:  # what it holds was seen with these
        raise NotFound("This conversation was held with other rights. Begin a new one.")
    return ThreadRecord.model_validate(dict(row))


def _title(question: str) -> str:
    text = " ".join(question.split())
    return text if len(text) <= TITLE else text[: TITLE - 1] + "…"
