"""Runs: each question, its owner and its outcome.

In: run records. Out: the same records, looked up by their owner. A running run is leased to the server instance that
works on it. When the lease expires without renewal, the instance is taken to be gone and the run becomes `interrupted`.
The lease also locks the run's thread: while one run of a thread is leased, no other can start.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, RowMapping, and_, bindparam, delete, literal_column, or_, select, update

from agent.store.base import Base, micros, moment, now, storable
from agent.store.errors import ThreadBusy
from agent.store.paging import cursor, page_size, position
from agent.store.records import RunRecord, RunStatus, StoredEvent
from agent.store.tables import events as streamed
from agent.store.tables import runs, threads

LEASE_SECONDS = 30.0
"""Duration of a lease without renewal. The clocks of replicas must differ by much less than this."""
_AGAIN_SECONDS = 0.1
SHORT = 300
"""Characters of an answer that a list shows."""

_FINISHED = update(runs).where(runs.c.run_id == bindparam("of"))
_LISTED = [column for column in runs.c if column.name not in ("answer", "instance", "leased_until")]


class RunStore(Base):
    async def begin_run(
        self,
        run: RunRecord,
        *,
        instance: str = "",
        lease_seconds: float = LEASE_SECONDS,
        fresh: bool = False,
        patience: float = 0.0,
    ) -> None:
        """Store a run that starts now, leased to `instance`. Raises ThreadBusy while another run is active on its
        thread. `fresh`: the thread was just created for this run, so no other run can be active on it. `patience`:
        seconds to wait for the other run, which may be stopping in another process."""

        def begun(connection: Connection) -> bool:
            asked = run.thread_id is not None and run.status == "running" and not fresh
            if asked and self._busy(connection, str(run.thread_id)):
                if not last:
                    return False
                connection.execute(  # the turn counted for this run did not take place
                    update(threads)
                    .where(threads.c.thread_id == run.thread_id, threads.c.owner == run.owner)
                    .where(threads.c.turns == run.turn, threads.c.turns > 0)
                    .values(turns=threads.c.turns - 1)
                )
                return False
            leased = now() + int(lease_seconds * 1e6) if run.status == "running" else 0
            connection.execute(runs.insert(), {**_values(run), "instance": instance, "leased_until": leased})
            return True

        until = time.monotonic() + patience
        while True:
            last = time.monotonic() >= until
            if await self._write(begun):
                return
            if last:
                raise ThreadBusy
            await asyncio.sleep(_AGAIN_SECONDS)

    async def finish_run(
        self,
        run_id: str,
        *,
        status: RunStatus,
        seconds: float | None = None,
        score: float | None = None,
        sql: str = "",
        model: str = "",
        answer: dict[str, Any] | None = None,
        events: Sequence[StoredEvent] = (),
        again: bool = False,
    ) -> bool:
        """Store the outcome of a run together with its last events. False when there is no such run (any more).
        `again`: an earlier call failed, and may have stored them all the same."""
        values = {
            "status": status,
            "seconds": seconds,
            "score": score,
            "sql": storable(sql),
            "model": storable(model),
            "short": storable(_short(answer)),
            "answer": None if answer is None else json.dumps(answer, allow_nan=False),
            "leased_until": 0,
        }

        def finished(connection: Connection) -> bool:
            done = connection.execute(_FINISHED, {**values, "of": run_id})
            if again and events:
                same = and_(streamed.c.run_id == run_id, streamed.c.number >= events[0].number)
                connection.execute(delete(streamed).where(same))
            if events and done.rowcount:
                connection.execute(streamed.insert(), event_rows(run_id, events))
            return bool(done.rowcount)

        return await self._write(finished)

    async def run(self, owner: str, run_id: str) -> RunRecord | None:
        query = select(*_LISTED, runs.c.answer).where(runs.c.owner == owner, runs.c.run_id == storable(run_id))
        row = await self._read(lambda connection: connection.execute(query).mappings().first())
        return _record(row) if row else None

    async def runs(
        self, owner: str, *, thread_id: str | None = None, limit: int = 50, before: str | None = None
    ) -> tuple[list[RunRecord], str | None]:
        """The latest runs first, without their answers, and the cursor of the next page. Raises BadCursor."""
        query = select(*_LISTED).where(runs.c.owner == owner)
        if thread_id is not None:
            query = query.where(runs.c.thread_id == storable(thread_id))
        if before is not None:
            at, last = position(before)
            query = query.where(or_(runs.c.started < at, and_(runs.c.started == at, runs.c.run_id < last)))
        size = page_size(limit)
        query = query.order_by(runs.c.started.desc(), runs.c.run_id.desc()).limit(size + 1)
        rows = await self._read(lambda connection: connection.execute(query).mappings().all())
        more = cursor(rows[size - 1]["started"], rows[size - 1]["run_id"]) if len(rows) > size else None
        return [_record(one) for one in rows[:size]], more

    async def mark_interrupted(self) -> int:
        """Mark runs whose instance is gone as `interrupted`; returns how many. If the server was only slow and the run
        still ends, the run gets its real outcome."""
        query = update(runs).where(runs.c.status == "running", runs.c.leased_until < now())
        return await self._write(lambda connection: connection.execute(query.values(status="interrupted")).rowcount)

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


def event_rows(run_id: str, sent: Sequence[StoredEvent]) -> list[dict[str, Any]]:
    return [
        {"run_id": run_id, "number": one.number, "data": (data := storable(one.data)), "size": len(data)}
        for one in sent
    ]


def _values(run: RunRecord) -> dict[str, Any]:
    values = run.model_dump(exclude={"answer", "started"})
    texts = {name: storable(value) for name, value in values.items() if isinstance(value, str)}
    short = run.short or _short(run.answer)
    answer = None if run.answer is None else json.dumps(run.answer, allow_nan=False)
    return values | texts | {"started": micros(run.started), "answer": answer, "short": storable(short)}


def _short(answer: dict[str, Any] | None) -> str:
    text = str((answer or {}).get("answer") or (answer or {}).get("final_answer") or "")
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"


def _record(row: RowMapping | Row[Any]) -> RunRecord:
    values = dict(row)
    answer = values.pop("answer", None)
    started = moment(values.pop("started"))
    return RunRecord(**values, started=started, answer=json.loads(answer) if answer else None)
