"""`/runs`, `/threads`, `/feedback`: earlier questions, and whether their answers were right."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field

from agent.server.documents import as_markdown, of_thread
from agent.server.errors import ApiError, required
from agent.server.replies import Reply
from agent.server.routes.answers import DOCUMENTS, DocumentFormat, Id, document_response, refusals
from agent.server.routes.terms import TermReply, learned_from
from agent.server.services import ClientServices, Here
from agent.store.base import CURSOR
from agent.store.feedback import CONFIRMED
from agent.store.records import FeedbackRecord, RunRecord, RunStatus, ThreadRecord, Verdict

router = APIRouter(tags=["history"])

THREAD_RUNS = 100
"""Number of latest turns that a thread's reply shows."""

Limit = Annotated[int, Query(ge=1, le=200)]
Before = Annotated[
    str | None, Query(max_length=300, description="`next` of the page before.", json_schema_extra={"pattern": CURSOR})
]


class _Run(Reply):
    run_id: str
    thread_id: str | None
    turn: int
    kind: Literal["question", "sql"]
    preset: str
    question: str
    status: RunStatus
    started: datetime
    seconds: float | None
    score: float | None
    sql: str
    model: str
    feedback: Verdict | None


class RunSummary(_Run):
    answer: str
    """The beginning of it."""

    @classmethod
    def of(cls, record: RunRecord) -> RunSummary:
        return super().of(record.model_copy(update={"answer": record.short}))


class RunReply(_Run):
    answer: dict[str, Any] | None
    """The whole answer as `agent.runner.Answer` has it, with at most 200 rows a result; None while the run goes on."""


class RunsReply(Reply):
    runs: list[RunSummary]
    next: str | None
    """Cursor of the next page, to be given as `before`; None at the end."""


class ThreadSummary(Reply):
    thread_id: str
    title: str
    preset: str
    turns: int
    updated: datetime


class ThreadChange(BaseModel):
    title: str = Field(min_length=1, max_length=120)


class ThreadsReply(Reply):
    threads: list[ThreadSummary]
    next: str | None


class Waiting(Reply):
    question: str
    options: list[str]


class ThreadReply(Reply):
    thread_id: str
    title: str
    preset: str
    runs: list[RunReply]
    """Oldest first."""
    waiting: Waiting | None
    """What the last turn asked back."""


class FeedbackIn(BaseModel):
    run_id: str = Field(max_length=200)
    verdict: Verdict
    sql: str | None = Field(None, max_length=100_000)
    """The right SQL, for `corrected`."""
    comment: str | None = Field(None, max_length=4_000)


class FeedbackReply(Reply):
    feedback_id: str
    learned: list[TermReply] = Field([])
    """What a correction changed, kept as terms."""


class VerifiedPair(Reply):
    run_id: str
    question: str
    sql: str
    preset: str
    verdict: Verdict
    created: datetime


@router.get("/runs", responses=refusals())
async def runs(
    here: Here, thread_id: Annotated[str | None, Query(max_length=200)] = None, limit: Limit = 50, before: Before = None
) -> RunsReply:
    """Your runs, the latest first."""
    records, following = await here.store.runs(here.owner, thread_id=thread_id, limit=limit, before=before)
    return RunsReply(runs=[RunSummary.of(here.client.sees(r)) for r in records], next=following)


@router.get("/runs/{run_id}", responses=refusals(404))
async def run(here: Here, run_id: Id) -> RunReply:
    """One run with its whole answer."""
    return RunReply.of(await here.run(run_id))


@router.get("/threads", responses=refusals())
async def threads(
    here: Here,
    limit: Limit = 50,
    before: Before = None,
    search: Annotated[str | None, Query(max_length=200, description="Words of the titles and questions.")] = None,
) -> ThreadsReply:
    """Your conversations, the one last used first; those only that hold every word of `search`."""
    records, following = await here.store.threads(here.owner, limit=limit, before=before, search=search)
    return ThreadsReply(threads=[ThreadSummary.of(t) for t in records], next=following)


@router.get("/threads/{thread_id}", responses=refusals(404))
async def thread(here: Here, thread_id: Id) -> ThreadReply:
    """A conversation with its turns, and what it is waiting for."""
    record, turns = await _thread(here, thread_id)
    waiting = None
    if turns and turns[-1].status == "waiting":
        answer = turns[-1].answer or {}
        asked = answer.get("clarification") or {}
        question = str(asked.get("question") or answer.get("answer") or "")
        waiting = Waiting(question=question, options=list(asked.get("options") or []))
    return ThreadReply.of({**dict(record), "runs": [RunReply.of(r) for r in turns], "waiting": waiting})


@router.delete("/threads/{thread_id}", status_code=204, responses=refusals(404, 409))
async def forget_thread(here: Here, thread_id: Id) -> None:
    """Remove a conversation with all its runs."""
    required(await here.store.delete_thread(here.owner, thread_id), "thread")


@router.get(
    "/threads/{thread_id}/markdown",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}, **refusals(404)},
)
async def thread_markdown(here: Here, thread_id: Id) -> Response:
    """A conversation as a Markdown document: questions, answers, SQL, and the first rows as tables."""
    record, turns = await _thread(here, thread_id)
    return Response(as_markdown(of_thread(record, turns)), media_type="text/markdown; charset=utf-8")


@router.get("/threads/{thread_id}/export", response_class=Response, responses={**DOCUMENTS, **refusals(404)})
async def export_thread(here: Here, thread_id: Id, wanted: DocumentFormat = "html") -> Response:
    """A conversation as a document to take away, named after its title."""
    record, turns = await _thread(here, thread_id)
    return document_response(of_thread(record, turns), wanted)


@router.patch("/threads/{thread_id}", responses=refusals(404))
async def rename_thread(here: Here, thread_id: Id, asked: ThreadChange) -> ThreadSummary:
    """Give a conversation another title."""
    return ThreadSummary.of(await here.store.rename_thread(here.owner, thread_id, asked.title))


@router.post("/feedback", status_code=201, responses=refusals(404, 409))
async def feedback(here: Here, verdict: FeedbackIn) -> FeedbackReply:
    """Say whether a run's SQL was right, or what would have been. The latest word on a run stands."""
    record = await here.run(verdict.run_id)
    if record.status == "running":
        raise ApiError(409, "The run has not ended yet.")
    if verdict.verdict == "corrected" and not (verdict.sql or "").strip():
        raise ApiError(400, "A correction needs the right SQL.")
    kept = FeedbackRecord(
        feedback_id=uuid.uuid4().hex,
        owner=here.owner,
        rights=here.client.rights,
        run_id=record.run_id,
        preset=record.preset,
        question=record.question,
        sql=(verdict.sql or "").strip() if verdict.verdict == "corrected" else record.sql,
        verdict=verdict.verdict,
        comment=verdict.comment or "",
        created=datetime.now(UTC),
    )
    await here.store.add_feedback(kept)
    learned = await learned_from(here, record, kept.sql) if verdict.verdict == "corrected" else []
    return FeedbackReply(feedback_id=kept.feedback_id, learned=learned)


@router.get("/feedback", responses=refusals())
async def verified(here: Here, preset: Annotated[str | None, Query(max_length=200)] = None) -> list[VerifiedPair]:
    """The questions whose SQL you have held right or corrected."""
    records = await here.store.feedback(here.owner, preset=preset, verdicts=CONFIRMED, rights=here.client.rights)
    return [VerifiedPair.of(record) for record in records]


@router.delete("/feedback/{run_id}", status_code=204, responses=refusals(404))
async def withdraw(here: Here, run_id: Id) -> None:
    """Take your word on a run back: its question is verified no longer."""
    required(await here.store.withdraw(here.owner, run_id), "verdict")


async def _thread(here: ClientServices, thread_id: str) -> tuple[ThreadRecord, list[RunRecord]]:
    """The thread and its latest turns whole, oldest first."""
    record = await here.mine(ThreadRecord, thread_id)
    listed, _ = await here.store.runs(here.owner, thread_id=thread_id, limit=THREAD_RUNS)
    records = [await here.store.get(RunRecord, here.owner, r.run_id) for r in reversed(listed)]
    seen = [here.client.sees(r) for r in records if r is not None]
    # the turns by their numbers, whatever the clock did; statements run by hand stay where they are
    turns = iter(sorted((r for r in seen if r.turn), key=lambda r: r.turn))
    return record, [next(turns) if r.turn else r for r in seen]
