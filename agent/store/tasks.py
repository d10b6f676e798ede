"""Tasks of the agent-to-agent door: their latest state, and the events that led to it.

In: tasks and events as bytes. Out: the same, looked up by their owner. Each write counts the task's version up, and
fails where another process has written in between. An active task is leased to the instance that works on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, and_, delete, func, or_, select, update

from agent.store.base import Base, transaction
from agent.store.records import Record
from agent.store.runs import LEASE_SECONDS
from agent.store.tables import now, task_events, tasks

TASK_DAYS = 3.0


class TaskRecord(Record):
    owner: str
    task_id: str
    context_id: str
    state: int
    active: bool
    """It is being worked on."""
    ended: bool
    """Its state is final."""
    updated: int
    """Nanoseconds since 1970 UTC by its own status; -1 where that has no time."""
    data: bytes
    version: int = 0
    """1 after the first write."""
    leased_until: int = 0

    @property
    def left(self) -> bool:
        """It is active, but the instance that worked on it is gone."""
        return self.active and self.leased_until < now()


class TaskStore(Base):
    @transaction
    def save_task(
        self, connection: Connection, task: TaskRecord, *, instance: str, event: bytes | None, overwrite: bool = False
    ) -> int | None:
        """Store the task and the event behind its change; returns the new version. None where the stored version is
        not `task.version`, or, with `overwrite`, where the stored task has ended or is not there."""
        values = task.model_dump(include={"context_id", "state", "updated", "data"}) | {
            "active": int(task.active),
            "ended": int(task.ended),
            "instance": instance,
            "leased_until": now() + int(LEASE_SECONDS * 1e6) if task.active else 0,
            "saved": now(),
        }
        key = {"owner": task.owner, "task_id": task.task_id}
        its = and_(tasks.c.owner == key["owner"], tasks.c.task_id == key["task_id"])
        version: int | None
        if not task.version and not overwrite:
            if connection.scalar(select(tasks.c.version).where(its)) is not None:
                return None
            connection.execute(tasks.insert(), {**key, **values, "version": 1})
            version = 1
        else:
            same = tasks.c.ended == 0 if overwrite else tasks.c.version == task.version
            changed = update(tasks).where(its, same).values(**values, version=tasks.c.version + 1)
            version = connection.scalar(changed.returning(tasks.c.version))
        if version is not None and event is not None:
            connection.execute(task_events.insert(), {**key, "version": version, "data": event})
        return version

    async def task(self, owner: str, task_id: str) -> TaskRecord | None:
        return await self._first(TaskRecord, select(tasks).where(tasks.c.owner == owner, tasks.c.task_id == task_id))

    async def task_of_id(self, task_id: str) -> TaskRecord | None:
        """The task whoever owns it, for one who has been shown to; the server makes the ids."""
        return await self._first(TaskRecord, select(tasks).where(tasks.c.task_id == task_id))

    async def tasks(
        self,
        owner: str,
        *,
        context_id: str = "",
        state: int = 0,
        since: int | None = None,
        before: tuple[int, str] | None = None,
        limit: int = 50,
    ) -> tuple[list[TaskRecord], int]:
        """The tasks from the one updated last on, after the position `before`, and how many there are in all. `state`:
        0 is any; `since`: in nanoseconds."""
        query = select(tasks).where(tasks.c.owner == owner)
        if context_id:
            query = query.where(tasks.c.context_id == context_id)
        if state:
            query = query.where(tasks.c.state == state)
        if since is not None:
            query = query.where(tasks.c.updated >= max(since, 0))
        counted = select(func.count()).select_from(query.subquery())
        if before is not None:
            at, last = before
            query = query.where(or_(tasks.c.updated < at, and_(tasks.c.updated == at, tasks.c.task_id < last)))
        query = query.order_by(tasks.c.updated.desc(), tasks.c.task_id.desc()).limit(limit)

        def read(connection: Connection) -> tuple[list[TaskRecord], int]:
            rows = connection.execute(query).mappings().all()
            return [TaskRecord.model_validate(dict(one)) for one in rows], int(connection.scalar(counted) or 0)

        return await self._read(read)

    async def task_events(self, owner: str, task_id: str, after: int) -> Sequence[tuple[int, bytes]]:
        """The events behind later versions than `after`, each with its version, in order."""
        query = (
            select(task_events.c.version, task_events.c.data)
            .where(task_events.c.owner == owner, task_events.c.task_id == task_id)
            .where(task_events.c.version > after)
            .order_by(task_events.c.version)
        )
        rows = await self._read(lambda connection: connection.execute(query).all())
        return [(one.version, one.data) for one in rows]

    @transaction
    def delete_task(self, connection: Connection, owner: str, task_id: str) -> None:
        for table in (task_events, tasks):
            its = and_(table.c.owner == owner, table.c.task_id == task_id)
            connection.execute(delete(table).where(its))

    @transaction
    def prune_tasks(self, connection: Connection, days: float = TASK_DAYS) -> None:
        """Delete the tasks that were last written more than `days` ago."""
        oldest = now() - int(days * 86_400e6)
        expired = delete(tasks).where(tasks.c.saved < oldest).returning(tasks.c.owner, tasks.c.task_id)
        for one in connection.execute(expired).all():
            its = and_(task_events.c.owner == one.owner, task_events.c.task_id == one.task_id)
            connection.execute(delete(task_events).where(its))
