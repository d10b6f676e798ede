"""Threads: conversations, each of which has one owner and one database.

In: questions as they arrive. Out: the thread with its turn number; lists, newest first; the deletion of a thread with
everything that belongs to it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, and_, delete, or_, select, update

from agent.store.columns import storable
from agent.store.records import RunRecord, ThreadRecord
from agent.store.runs import LEASE_SECONDS, RunStore
from agent.store.store_errors import NotFound, ThreadBusy
from agent.store.tables import events, feedback, runs, threads

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

_AGAIN_SECONDS = 0.1
TITLE = 120
"""Maximum characters of a thread's title, taken from its first question."""


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


class ThreadStore(RunStore):
    checkpointer: BaseCheckpointSaver[Any] | None = None
    """Holds the threads' own state; deleting a thread deletes it there, too."""

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


def _title(question: str) -> str:
    text = " ".join(question.split())
    return text if len(text) <= TITLE else text[: TITLE - 1] + "…"
