"""Tasks that any process of a server knows: the SDK's versioned store and event stream on the server's state.

In: the SDK's tasks and events. Out: the same, from whichever process wrote them. A task is cancelled from any process;
the one that works on it hears so by a signal. A task whose process is gone is found as `failed`, with the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

from a2a.helpers.proto_helpers import new_text_part
from a2a.server.agent_execution.active_task import TERMINAL_TASK_STATES
from a2a.server.cluster import (
    ConcurrentTaskModificationError,
    StoredTask,
    TaskEventStream,
    TaskVersion,
    VersionedEvent,
    VersionedTaskStore,
)
from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.owner_resolver import resolve_user_scope
from a2a.types.a2a_pb2 import (
    ListTasksRequest,
    ListTasksResponse,
    Message,
    Role,
    StreamResponse,
    Task,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a.utils.constants import DEFAULT_LIST_TASKS_PAGE_SIZE
from a2a.utils.proto_utils import to_stream_response
from a2a.utils.task import ListTasksCursor, decode_list_tasks_cursor, encode_list_tasks_cursor

from agent.store import Store
from agent.store.tasks import TaskRecord

POLL_SECONDS = 0.3
CANCELLED = "task_cancelled"
"""The kind of the signal; it is about `task_id`."""
LEFT = "The server process that worked on this task is gone. Send the message again."

_ACTIVE = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)


@dataclass(frozen=True, slots=True)
class Place:
    """Where tasks are kept, and in whose name."""

    store: Store
    instance: str


class SharedTasks(VersionedTaskStore):
    """`place` is called with each use, because the state is opened after the routes are made."""

    def __init__(self, place: Callable[[], Place]) -> None:
        self._place = place
        self._heeding: Store | None = None
        self.cancelled_elsewhere: Callable[[str], None] = lambda _: None
        """Called with the id of a task that another process has cancelled."""

    async def save(
        self,
        task: Task,
        *,
        event: Event | None,
        prev: Task | None,
        prev_version: TaskVersion,
        context: ServerCallContext,
    ) -> TaskVersion:
        """Raises ConcurrentTaskModificationError."""
        del prev
        place = self._place()
        if self._heeding is not place.store:
            self._heeding = place.store
            place.store.heed(CANCELLED, lambda about: self.cancelled_elsewhere(about["task_id"]))
        version = await place.store.save_task(
            _record(task, resolve_user_scope(context), _number(prev_version)),
            instance=place.instance,
            event=None if event is None else to_stream_response(event).SerializeToString(),
            overwrite=task.status.state == TaskState.TASK_STATE_CANCELED,
        )
        if version is None:
            raise ConcurrentTaskModificationError(task.id)
        return TaskVersion(version)

    async def get(self, task_id: str, context: ServerCallContext) -> StoredTask | None:
        store = self._place().store
        record = await store.task(resolve_user_scope(context), task_id)
        if record is not None and record.left:
            await given_up(self._place(), record)
            record = await store.task(record.owner, task_id)
        return None if record is None else StoredTask(_task(record), TaskVersion(record.version))

    async def list(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        size = params.page_size or DEFAULT_LIST_TASKS_PAGE_SIZE
        before = None
        if params.page_token and (cursor := decode_list_tasks_cursor(params.page_token)):
            before = (-1 if cursor.timestamp_ns is None else cursor.timestamp_ns, cursor.task_id)
        since = params.status_timestamp_after.ToNanoseconds() if params.HasField("status_timestamp_after") else None
        records, total = await self._place().store.tasks(
            resolve_user_scope(context),
            context_id=params.context_id,
            state=params.status,
            since=since,
            before=before,
            limit=size + 1,
        )
        page, token = records[:size], None
        if len(records) > size:
            timestamp = None if page[-1].updated < 0 else page[-1].updated
            token = encode_list_tasks_cursor(ListTasksCursor(timestamp_ns=timestamp, task_id=page[-1].task_id))
        tasks = [_task(one) for one in page]
        return ListTasksResponse(next_page_token=token, tasks=tasks, total_size=total, page_size=size)

    async def delete(self, task_id: str, context: ServerCallContext) -> None:
        await self._place().store.delete_task(resolve_user_scope(context), task_id)

    async def of_context(self, context_id: str, context: ServerCallContext) -> list[Task]:  # type: ignore[valid-type]
        """The client's tasks of one context, the newest first; at most 50."""
        records, _ = await self._place().store.tasks(resolve_user_scope(context), context_id=context_id, limit=50)
        return [_task(one) for one in records]


class SharedEvents(TaskEventStream):
    """The events of tasks that other processes work on, read from the state as they arrive there."""

    def __init__(self, place: Callable[[], Place]) -> None:
        self._place = place

    async def publish(self, task_id: str, event: VersionedEvent) -> None:
        """The store has the event. A cancellation is told to the process that works on the task."""
        if isinstance(event.event, TaskStatusUpdateEvent) and event.event.status.state == TaskState.TASK_STATE_CANCELED:
            await self._place().store.signal(CANCELLED, task_id=task_id)

    async def subscribe(self, task_id: str, *, after: TaskVersion) -> AsyncGenerator[VersionedEvent, None]:
        """Ends with the task."""
        store = self._place().store
        position = _number(after)
        while True:
            record = await store.task_of_id(task_id)
            if record is not None and record.left:
                await given_up(self._place(), record)
            for version, data in await store.task_events(record.owner if record else "", task_id, position):
                position = version
                response = StreamResponse.FromString(data)
                event: Event = getattr(response, str(response.WhichOneof("payload")))
                yield VersionedEvent(event=event, version=TaskVersion(version))
            if record is None or not record.active:
                return
            await asyncio.sleep(POLL_SECONDS)

    async def destroy(self, task_id: str) -> None:
        """The events go with their task, when it is pruned."""


async def given_up(place: Place, record: TaskRecord) -> None:
    """Make a task `failed` whose process is gone."""
    task = _task(record)
    message = Message(role=Role.ROLE_AGENT, message_id=f"{task.id}-left", parts=[new_text_part(LEFT)])
    status = TaskStatus(state=TaskState.TASK_STATE_FAILED, message=message)
    status.timestamp.GetCurrentTime()
    task.status.CopyFrom(status)
    event = TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id, status=status)
    await place.store.save_task(
        _record(task, record.owner, record.version),
        instance=place.instance,
        event=to_stream_response(event).SerializeToString(),
    )  # where another process was first, it has done the same


def _record(task: Task, owner: str, version: int) -> TaskRecord:
    timed = task.HasField("status") and task.status.HasField("timestamp")
    return TaskRecord(
        owner=owner,
        task_id=task.id,
        context_id=task.context_id,
        state=task.status.state,
        active=task.status.state in _ACTIVE,
        ended=task.status.state in TERMINAL_TASK_STATES,
        updated=task.status.timestamp.ToNanoseconds() if timed else -1,
        data=task.SerializeToString(),
        version=version,
    )


def _task(record: TaskRecord) -> Task:
    task: Task = Task.FromString(record.data)
    return task


def _number(version: TaskVersion) -> int:
    return int(version._value)
