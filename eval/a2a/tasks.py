"""The first step of a task that a message begins or goes on with. Needs the A2A package."""

from __future__ import annotations

from a2a.server.agent_execution import RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import Task, TaskState, TaskStatus


async def begun_task(context: RequestContext, event_queue: EventQueue) -> TaskUpdater:
    """The updater of the message's task; a new task is reported as submitted first."""
    assert context.message is not None
    task_id = context.task_id or ""
    if context.current_task is not None:
        return TaskUpdater(event_queue, task_id, context.current_task.context_id or "")
    context_id = context.context_id or ""
    submitted = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
    await event_queue.enqueue_event(
        Task(id=task_id, context_id=context_id, status=submitted, history=[context.message])
    )
    return TaskUpdater(event_queue, task_id, context_id)
