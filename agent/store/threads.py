"""Threads: conversations, each of which has one owner and one database.

In: questions as they arrive. Out: the thread with its turn number; lists, newest first; the deletion of a thread with
everything that belongs to it.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, RowMapping, and_, delete, or_, select, update

from agent.store.base import moment, now, storable
from agent.store.errors import NotFound, ThreadBusy
from agent.store.paging import cursor, page_size, position
from agent.store.records import ThreadRecord
from agent.store.runs import RunStore
from agent.store.tables import events, feedback, runs, threads

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

TITLE = 120
"""Maximum characters of a thread's title, taken from its first question."""


class ThreadStore(RunStore):
    checkpointer: BaseCheckpointSaver[Any] | None = None
    """Holds the threads' own state; deleting a thread deletes it there, too."""

    async def touch_thread(self, owner: str, thread_id: str | None, preset: str, question: str) -> ThreadRecord:
        """Count a turn of the owner's thread, or create a thread (`thread_id` None) whose first turn this is. `turns`
        of the returned record is this turn's number. Raises NotFound for a thread that is not the owner's."""
        at = now()
        if thread_id is None:
            values = {
                "thread_id": secrets.token_urlsafe(12),
                "owner": owner,
                "title": storable(_title(question)),
                "preset": storable(preset),
                "turns": 1,
                "created": at,
                "updated": at,
            }
            await self._write(lambda connection: connection.execute(threads.insert(), values))
            return _record(values)
        counted = (
            update(threads)
            .where(threads.c.owner == owner, threads.c.thread_id == storable(thread_id))
            .values(turns=threads.c.turns + 1, updated=at, preset=storable(preset))
            .returning(*threads.c)
        )
        row = await self._write(lambda connection: connection.execute(counted).mappings().first())
        if row is None:
            raise NotFound("There is no such thread.")
        return _record(row)

    async def thread(self, owner: str, thread_id: str) -> ThreadRecord | None:
        query = select(threads).where(threads.c.owner == owner, threads.c.thread_id == storable(thread_id))
        row = await self._read(lambda connection: connection.execute(query).mappings().first())
        return _record(row) if row else None

    async def threads(
        self, owner: str, *, limit: int = 50, before: str | None = None, search: str | None = None
    ) -> tuple[list[ThreadRecord], str | None]:
        """The threads, most recently used first, and the cursor of the next page. With `search`, the threads whose
        title or one of whose questions holds each of its words. Raises BadCursor."""
        query = select(threads).where(threads.c.owner == owner)
        for word in storable(search or "").split():
            asked = select(runs.c.thread_id).where(
                runs.c.owner == owner, runs.c.question.icontains(word, autoescape=True)
            )
            found_in = threads.c.title.icontains(word, autoescape=True)
            query = query.where(or_(found_in, threads.c.thread_id.in_(asked)))
        if before is not None:
            at, last = position(before)
            query = query.where(or_(threads.c.updated < at, and_(threads.c.updated == at, threads.c.thread_id < last)))
        size = page_size(limit)
        query = query.order_by(threads.c.updated.desc(), threads.c.thread_id.desc()).limit(size + 1)
        rows = await self._read(lambda connection: connection.execute(query).mappings().all())
        more = cursor(rows[size - 1]["updated"], rows[size - 1]["thread_id"]) if len(rows) > size else None
        return [_record(one) for one in rows[:size]], more

    async def rename_thread(self, owner: str, thread_id: str, title: str) -> ThreadRecord:
        """Raises NotFound for a thread that is not the owner's."""
        renamed = (
            update(threads)
            .where(threads.c.owner == owner, threads.c.thread_id == storable(thread_id))
            .values(title=storable(_title(title)) or "Untitled")
            .returning(*threads.c)
        )
        row = await self._write(lambda connection: connection.execute(renamed).mappings().first())
        if row is None:
            raise NotFound("There is no such thread.")
        return _record(row)

    async def delete_thread(self, owner: str, thread_id: str) -> bool:
        """Remove a thread with its runs, their events and verdicts, and its checkpoints. False when there is none of
        this owner's. Raises ThreadBusy while a question runs on it."""
        loop = asyncio.get_running_loop()

        def gone(connection: Connection) -> bool:
            mine = and_(threads.c.owner == owner, threads.c.thread_id == storable(thread_id))
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

        return await self._write(gone)


def _title(question: str) -> str:
    text = " ".join(question.split())
    return text if len(text) <= TITLE else text[: TITLE - 1] + "…"


def _record(row: RowMapping | Row[Any] | dict[str, Any]) -> ThreadRecord:
    values = dict(row)
    return ThreadRecord(**values | {"created": moment(values["created"]), "updated": moment(values["updated"])})
