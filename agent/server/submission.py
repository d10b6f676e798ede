"""Turns a client's question into an active run.

In: a question with its database and options. Out: a `LiveRun`, whose first event identifies the run. Nothing slow
happens before that event; the database is opened inside the run.
"""

from __future__ import annotations

import contextlib
import functools
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Literal, cast

from pydantic import BaseModel, Field

from agent.conversations import Conversation
from agent.events import DoneEvent, DoneInfo, ErrorEvent, ErrorInfo, Event
from agent.models.protocol import Model
from agent.runner import question_problem, stream
from agent.server.errors import ApiError
from agent.server.presets import Preset
from agent.server.runs.run import LiveRun
from agent.server.services import ClientServices, Services
from agent.state import Term
from agent.store import StoreError
from agent.store.records import RunRecord, ThreadRecord
from agent.store.runs import new_thread_id
from eval.databases.types import DatabaseError
from eval.errors import Busy

BUSY_SECONDS = 2
"""Seconds after which a refused client is told to retry."""


class QuestionIn(BaseModel):
    question: str = Field(json_schema_extra={"pattern": r"\S"})
    preset: str | None = Field(None, max_length=200)
    """A preset's id; None means the thread's, else the default one."""
    thread_id: str | None = Field(None, max_length=200)
    """The conversation that the question belongs to; None begins one."""
    alone: bool = False
    """The question is read as it stands, without the turns before it."""
    resumable: bool = False
    """The run goes on for a while when its reader is lost."""
    model: str | None = Field(None, max_length=200, pattern=r"^[\w./:@+ -]*$")
    """A model at the configured endpoint, or `offline`."""


class RunInfo(BaseModel, frozen=True):
    run_id: str
    thread_id: str | None
    preset: str
    model: str
    question: str
    turn: int


class RunEvent(BaseModel, frozen=True):
    """Which run this is; the first event of every stream."""

    event: Literal["run"] = "run"
    data: RunInfo


async def begin(
    here: ClientServices, asked: QuestionIn, *, before: int | None = None, go_on: bool = False, call: str = ""
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
        here.runs.require_room()
    except Busy:
        raise _busy() from None
    preset_id = asked.preset
    if asked.thread_id and not preset_id:
        thread = await here.store.get(ThreadRecord, here.owner, asked.thread_id)
        preset_id = thread.preset if thread else None
    preset = await here.presets.find(here.client, preset_id)
    await here.models.refresh()
    model = here.models.named(asked.model)
    record = RunRecord(
        run_id=uuid.uuid4().hex,
        owner=here.owner,
        rights=here.client.rights,
        thread_id=asked.thread_id or new_thread_id(),
        preset=preset.id,
        question=question,
        started=datetime.now(UTC),
        model=model if isinstance(model, str) else model.name,
    )
    try:
        return await here.runs.start(
            record,
            lambda begun: RunEvent(data=RunInfo.model_validate(begun, from_attributes=True)),
            lambda begun: functools.partial(_answering, here, begun, preset, model, before, go_on),
            resumable=asked.resumable,
            fresh=asked.thread_id is None,
            call=call,
        )
    except Busy:
        raise _busy() from None


def _busy() -> ApiError:
    message = "The server is working on as many questions as it takes at once. Try again in a moment."
    return ApiError(503, message, "busy", {"Retry-After": str(BUSY_SECONDS)})


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
            record.thread_id, services.checkpointer, turn=record.turn or None, before=before, go_on=go_on
        )
    confirmed: list[tuple[str, str]] = []
    taught: list[Term] = []
    with contextlib.suppress(StoreError):
        confirmed = await services.store.confirmed(record.owner, record.preset, rights=record.rights)
    with contextlib.suppress(StoreError):
        known = await services.store.terms(record.owner, record.preset, rights=record.rights)
        taught = [one.said for one in known]
    events = stream(
        record.question,
        database=database,
        model=model,
        settings=services.models.in_force(services.settings),
        conversation=conversation,
        confirmed=confirmed,
        taught=taught,
    )
    async with aclosing(cast("AsyncGenerator[Event, None]", events)) as happening:
        async for event in happening:
            yield event
