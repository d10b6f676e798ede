"""`/query` and the streams of runs: ask, follow, stop, ask again."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response

from agent.server.errors import ApiError
from agent.server.replies import Reply
from agent.server.routes.answers import EVENTS, Id, refusals
from agent.server.services import Here
from agent.server.sse import RunStream, has_seen_the_end, run_stream
from agent.server.submission import QuestionIn, begin
from agent.store.records import RunRecord, RunStatus

router = APIRouter(tags=["questions"])

Named = Annotated[
    bool, Query(description="Each event's name also in an `event:` field, for clients that listen by it.")
]
_STREAM: dict[str, Any] = {"status_code": 200, "response_class": RunStream}
_ASKING: dict[str, Any] = {**_STREAM, "responses": {**EVENTS, **refusals(404, 409)}}


class CancelReply(Reply):
    status: RunStatus


@router.post("/query", **_ASKING)
async def query(here: Here, asked: QuestionIn, named: Named = False) -> Any:
    """Ask a question; what happens is streamed as it happens. A client that goes away stops the run, unless it asked
    for a `resumable` one."""
    run = await begin(here, asked, before=1 if asked.alone else None)
    return run_stream(run.record, here.store, here.runs, run, named=named)


@router.post("/runs/{run_id}/again", **_ASKING)
async def again(here: Here, run_id: Id, named: Named = False) -> Any:
    """Ask the question of an earlier run again, on the same thread, with the turns before it as they were then. One
    that was interrupted goes on with the step that it did not end (event `resumed`)."""
    record = await here.mine(RunRecord, run_id)
    if record.kind != "question":
        raise ApiError(404, "There is no such run.")
    goes_on = here.client.saw(record)  # else it begins a conversation of its own
    asked = QuestionIn(
        question=record.question, preset=record.preset, thread_id=record.thread_id if goes_on else None, model=None
    )
    interrupted = goes_on and record.status == "interrupted"
    run = await begin(here, asked, before=(record.turn if goes_on else 1) or None, go_on=interrupted)
    return run_stream(run.record, here.store, here.runs, run, named=named)


_NO_MORE: dict[int | str, dict[str, Any]] = {204: {"description": "No event comes after this one."}}


@router.get("/runs/{run_id}/events", **_STREAM, responses={**EVENTS, **_NO_MORE, **refusals(404)})
async def events(
    here: Here,
    run_id: Id,
    after: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
    named: Named = False,
) -> Any:
    """The events of a run, from the one after `after` (or after the header `Last-Event-ID`) on: of one that is going
    on, here or on another server, or of one that has ended. 204 after the last event, so that a browser stops
    reconnecting."""
    if after is None:
        after = int(last_event_id) if last_event_id and last_event_id.isascii() and last_event_id.isdigit() else 0
    run = here.runs.get(here.owner, run_id)
    record = run.record if run else await here.mine(RunRecord, run_id)
    if not here.client.saw(record):
        raise ApiError(404, "This question was answered with other rights; ask again.")
    if run is not None:
        ended = run.log.ended and after >= run.log.last
    else:
        ended = bool(after) and await has_seen_the_end(record, here.store, after)
    return Response(status_code=204) if ended else run_stream(record, here.store, here.runs, run, after, named=named)


@router.post("/runs/{run_id}/cancel", status_code=202, responses=refusals(404))
async def cancel(here: Here, run_id: Id) -> CancelReply:
    """Stop a run, its model call and its statement. Cancelling twice, or after the end, changes nothing."""
    if (run := here.runs.get(here.owner, run_id)) is not None:
        run.stop("cancelled")
        return CancelReply(status="cancelled")
    record = await here.mine(RunRecord, run_id)
    if record.status != "running":
        return CancelReply(status=record.status)
    await here.runs.cancel(run_id, record.model)
    return CancelReply(status="cancelled")
