"""Turns a client's question into an active run.

In: a question with its database and options. Out: a `LiveRun`, whose first event identifies the run. Nothing slow
happens before that event; the database is opened inside the run.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict

from agent.conversations import Conversation
from agent.events import DoneEvent, DoneInfo, ErrorEvent, ErrorInfo, Event
from agent.models.protocol import Model
from agent.runner import question_problem, stream
from agent.server.access import Client
from agent.server.errors import ApiError
from agent.server.presets import Preset
from agent.server.replies import QuestionIn
from agent.server.runs import LiveRun
from agent.server.services import Services
from agent.state import Term
from agent.store import StoreError
from agent.store.records import RunRecord
from agent.store.threads import new_thread_id
from eval.databases.types import DatabaseError
from eval.errors import Busy

BUSY_SECONDS = 2
"""Seconds after which a refused client is told to retry."""


class RunInfo(BaseModel):
    model_config = ConfigDict(frozen=True)

    run_id: str
    thread_id: str | None
    preset: str
    model: str
    question: str
    turn: int


class RunEvent(BaseModel):
    """Which run this is; the first event of every stream."""

    model_config = ConfigDict(frozen=True)

    event: Literal["run"] = "run"
    data: RunInfo


async def begin(
    services: Services,
    client: Client,
    asked: QuestionIn,
    *,
    before: int | None = None,
    go_on: bool = False,
    call: str = "",
) -> LiveRun:
    """Start a question's run; one that is asked again sees only the turns `before` its own, and with `go_on` does not
    do again what that run had done before it was interrupted. `call`: the name by which
    `LiveRuns.cancel_call` knows it.

    Raises ApiError (400 an empty question, 404 an unknown preset or thread, 409 a thread that is still answering, 413 a
    question that is too long, 503 no room), StoreError."""
    question = asked.question.strip()
    if problem := question_problem(question):
        raise ApiError(413 if question else 400, problem)
    try:
        services.runs.require_room()
    except Busy:
        raise _busy() from None
    preset_id = asked.preset
    if asked.thread_id and not preset_id:
        thread = await services.store.thread(client.owner, asked.thread_id)
        preset_id = thread.preset if thread else None
    preset = await services.presets.find(client, preset_id)
    await services.models.refresh()
    model = services.models.named(asked.model)
    record = RunRecord(
        run_id=uuid.uuid4().hex,
        owner=client.owner,
        rights=client.rights,
        thread_id=asked.thread_id or new_thread_id(),
        preset=preset.id,
        question=question,
        started=datetime.now(UTC),
        model=model if isinstance(model, str) else model.name,
    )
    try:
        return await services.runs.start(
            record,
            lambda begun: RunEvent(data=RunInfo.model_validate(begun, from_attributes=True)),
            lambda begun: functools.partial(_answering, services, begun, preset, model, before, go_on),
            resumable=asked.resumable,
            fresh=asked.thread_id is None,
            call=call,
        )
    except Busy:
        raise _busy() from None


def _busy() -> ApiError:
    message = "The server is working on as many questions as it takes at once. Try again in a moment."
    return ApiError(503, message, "busy", {"Retry-After": str(BUSY_SECONDS)})


async def _confirmed(services: Services, record: RunRecord) -> list[tuple[str, str]]:
    """The questions on this database whose SQL the client confirmed or corrected; empty if the state cannot be read."""
    try:
        return await services.store.confirmed(record.owner, record.preset, rights=record.rights)
    except StoreError:
        return []


async def _taught(services: Services, record: RunRecord) -> list[Term]:
    """What the client taught of this database; empty if the state cannot be read."""
    try:
        known = await services.store.terms(record.owner, record.preset, rights=record.rights)
    except StoreError:
        return []
    return [one.said for one in known]


async def _answering(
    services: Services, record: RunRecord, preset: Preset, model: Model | str, before: int | None, go_on: bool
) -> AsyncGenerator[Event, None]:
    """The work of the run: open the database, then run the question."""
    try:
        database = await preset.opened()
    except DatabaseError as error:
        yield ErrorEvent(data=ErrorInfo(kind="database", message=str(error)))
        yield DoneEvent(data=DoneInfo(elapsed=0.0))
        return
    conversation = None
    if record.thread_id:
        conversation = Conversation(
            record.thread_id,
            services.checkpointer,
            turn=record.turn or None,
            before=before,
            go_on=go_on,
            fresh=record.turn == 1 and before is None,
        )
    events = stream(
        record.question,
        database=database,
        model=model,
        settings=services.models.in_force(services.settings),
        conversation=conversation,
        confirmed=await _confirmed(services, record),
        taught=await _taught(services, record),
    )
    async with aclosing(cast("AsyncGenerator[Event, None]", events)) as happening:
        async for event in happening:
            yield event
