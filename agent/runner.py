"""Runs one question from start to end; every interface uses this module.

In: a question, a database, a model. Out: typed events as they happen (`stream`), or the finished `Answer` (`run`). The
graph is compiled once per process. A run has a total time budget. A caller that stops iterating stops the run, its
model calls and its SQL. Only cancellation is raised: every failure becomes an `error` event, and `done` is always last.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError
from typing_extensions import TypedDict, Unpack

from agent.access.database import PersonalDatabase
from agent.config import DatabaseSettings, JudgingSettings, ModelSettings, Settings, settings, settings_problem
from agent.conversations.conversation import Conversation, fresh_turn
from agent.conversations.turns import DROPPED, TurnEnd, TurnRefused, take_turn
from agent.events import (
    AnswerEvent,
    ClarifyEvent,
    ClarifyInfo,
    DoneEvent,
    DoneInfo,
    ErrorEvent,
    ErrorInfo,
    Event,
)
from agent.judging.local import OWNER, BadJudge, local_judge
from agent.knowledge.privacy import private
from agent.models.prompt_log import current_run
from agent.models.protocol import Model, Usage
from agent.runtime.answer import Answer, Tokens
from agent.runtime.context import RunContext
from agent.runtime.summary_start import drop_summary
from agent.state import QueryPlan, QueryResult, Retry
from eval.databases.base import Database
from eval.databases.types import DatabaseError
from eval.errors import Text2SQLError

if TYPE_CHECKING:
    from agent.knowledge.kit import Kit
    from agent.knowledge.memory import Memory
    from agent.knowledge.semantics import SemanticModel

__all__ = ["Answer", "Confirmed", "RunOptions", "RunRequest", "Tokens", "run", "stream"]

log = logging.getLogger(__name__)

Confirmed = Sequence[tuple[str, str]]
"""(question, SQL) pairs."""

MAX_QUESTION = 20_000
"""Characters."""

GRACE_SECONDS = 5.0
"""Extra time after the budget for the summary, before the run is stopped."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One question with its database, model and options; None means the value in the settings."""

    question: str
    evidence: str = ""
    """Free text that helps to interpret the question."""
    database: str | Database | None = None
    """A preset, a path, a URL or an open Database."""
    model: str | Model | None = None
    """A name, `offline`, or a Model."""
    settings: Settings | None = None
    execute: bool = True
    """False: the SQL is written and checked, but not run."""
    conversation: Conversation | None = None
    """The thread whose next turn this is; it may end in `clarify`."""
    confirmed: Confirmed = ()
    """Questions with SQL that people confirmed, to be shown as examples beside those of files."""
    judged_as: tuple[str, str] | None = None
    """Whose verdicts on which database the judge may have learned from; None: the local user's on this one."""


class RunOptions(TypedDict, total=False):
    """The fields of a `RunRequest` beside the question, as keywords."""

    evidence: str
    database: str | Database | None
    model: str | Model | None
    settings: Settings | None
    execute: bool
    conversation: Conversation | None
    confirmed: Confirmed
    judged_as: tuple[str, str] | None


async def stream(question: str, **options: Unpack[RunOptions]) -> AsyncIterator[Event]:
    """Run a question and yield its events. Closing the iterator stops everything that the run has started.

    `options` are the fields of `RunRequest`. Ends with `answer` (or `error`, or both) and `done`.
    """
    started = time.monotonic()
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    work = asyncio.create_task(_work(RunRequest(question, **options), events.put_nowait))
    work.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        yield DoneEvent(data=DoneInfo(elapsed=round(time.monotonic() - started, 4)))
    finally:
        if not work.done():
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work


async def run(question: str, **options: Unpack[RunOptions]) -> Answer:
    """Run a question to its end; `options` are the fields of `RunRequest`. Never raises: a failure is an Answer of
    status `error`."""
    return await _work(RunRequest(question, **options), _ignore)


def _ignore(_: Event) -> None:
    """The default listener: drops all events."""


class _RunFailed(Text2SQLError):
    """A run that ends before it has an answer; `kind` as in an `error` event."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


async def _work(request: RunRequest, emit: Callable[[Event], None]) -> Answer:
    """The run itself. Every failure is emitted as an `error` event and returned as an Answer of that status."""
    started = time.monotonic()
    run_id = current_run.set(current_run.get() or uuid.uuid4().hex)
    try:
        with _known_failures():
            config = request.settings or settings()
            with _traced(emit, show_sql=config.privacy.log_sql) as listener:
                return await _answered(request, config, listener, started)
    except _RunFailed as error:
        message = str(error)
        emit(ErrorEvent(data=ErrorInfo(kind=error.kind, message=message)))
        return Answer(
            question=request.question,
            status="error",
            answer=message,
            reason=message,
            error_kind=error.kind,
            seconds=round(time.monotonic() - started, 4),
        )
    finally:
        current_run.reset(run_id)


@contextlib.contextmanager
def _traced(emit: Callable[[Event], None], *, show_sql: bool) -> Iterator[Callable[[Event], None]]:
    """Trace the block, if tracing is on; yields the listener to emit to."""
    from agent.runtime.tracing import run_trace

    trace = run_trace(current_run.get(), show_sql=show_sql)
    if trace is None:
        yield emit
        return

    def emit_and_trace(event: Event) -> None:
        trace.heard(event)
        emit(event)

    with trace.current():
        yield emit_and_trace


@contextlib.contextmanager
def _known_failures() -> Iterator[None]:
    """Turn every failure that can end a run early into _RunFailed; a cancellation is passed on."""
    try:
        yield
    except _RunFailed:
        raise
    except TurnRefused as error:
        raise _RunFailed(error.kind, str(error)) from error
    except DatabaseError as error:
        raise _RunFailed("database", str(error)) from error
    except BadJudge as error:
        raise _RunFailed("settings", str(error)) from error
    except ValidationError as error:
        raise _RunFailed("settings", settings_problem(error)) from error
    except Exception as error:
        log.exception("A run failed inside")
        raise _RunFailed("internal", f"Something went wrong inside: {type(error).__name__}.") from error


async def _answered(request: RunRequest, config: Settings, emit: Callable[[Event], None], started: float) -> Answer:
    """Open the database and model of the request, run the graph, and emit the outcome."""
    if problem := _question_problem(request.question):
        raise _RunFailed("question", problem)
    kit = await asyncio.to_thread(_kit, config.judging.kit) if config.judging.kit else None
    if kit is not None:
        groups = {"judging": config.judging.model_fields_set, "limits": config.limits.model_fields_set}
        config = config.changed(**kit.settings(groups))
    database = await _opened(request.database, config.database)
    if isinstance(database, PersonalDatabase):
        await asyncio.to_thread(database.hear, request.question)
        if unseen := await asyncio.to_thread(database.unseen, f"{request.question} {request.evidence}"):
            return _not_visible(request, database, unseen, emit, started)
    semantics = await asyncio.to_thread(_semantics, config.judging)
    if semantics is not None and isinstance(database, PersonalDatabase):
        semantics = await asyncio.to_thread(_without_unseen, semantics, database)
    model, owned = await _chosen_model(request.model, config.model, database, semantics)
    context = RunContext(
        database,
        private(model, config.privacy.mode),
        config.judging,
        config.limits,
        config.privacy,
        schema_ttl=config.database.schema_ttl,
        emit=emit,
        deadline=started + config.limits.run_seconds,
        execute=request.execute,
        semantics=semantics,
    )
    try:
        context.memory = await asyncio.to_thread(_memory, config.judging, semantics, kit, request.confirmed)
        context.local_judge = await asyncio.to_thread(
            local_judge, config.judging.learned, *(request.judged_as or (OWNER, database.name))
        )
        async with asyncio.timeout(config.limits.run_seconds + GRACE_SECONDS):
            answer = await _finished(request, context, started)
    except TimeoutError as error:
        message = f"The time for this question ({config.limits.run_seconds:g} s) ran out."
        raise _RunFailed("timeout", message) from error
    finally:
        await drop_summary(context)
        if owned is not None:
            await owned.close()
    emit(AnswerEvent(data=answer))
    if answer.status == "error":
        emit(ErrorEvent(data=ErrorInfo(kind=answer.error_kind or "internal", message=answer.reason)))
    return answer


def _not_visible(
    request: RunRequest, database: Database, unseen: Sequence[str], emit: Callable[[Event], None], started: float
) -> Answer:
    """The answer to a question about what its person may not see; no model is asked."""
    text = f"Not visible to you: {', '.join(unseen)}."
    answer = Answer(
        question=request.question,
        status="abstained",
        abstained=True,
        answer=text,
        reason=text,
        database=database.name,
        dialect=database.dialect,
        seconds=round(time.monotonic() - started, 4),
    )
    emit(AnswerEvent(data=answer))
    return answer


async def _finished(request: RunRequest, context: RunContext, started: float) -> Answer:
    """The graph's last state as an answer, alone or as a turn of a conversation."""
    question = request.question.strip()
    conversation = request.conversation
    if conversation is not None:
        context.load_schema()
        ended = await take_turn(question, conversation, context, request.evidence)
        answer = _answer_of_turn(question, ended, context, time.monotonic() - started)
        if answer.clarification:
            asked = answer.clarification.model_dump()
            context.emit(ClarifyEvent(data=ClarifyInfo(**asked, thread_id=conversation.thread_id)))
        return answer
    context.announce("schema_analyzer")
    context.load_schema()  # runs while the graph is being imported
    graph = await _graph()
    given = fresh_turn(question, request.evidence, context.database, 0)
    from agent.models.langsmith import langsmith_tracing

    with langsmith_tracing(context.privacy):
        final = await graph.ainvoke(given, context=context)
    return _answer(final, context, time.monotonic() - started)


def _question_problem(question: str) -> str | None:
    if not question.strip():
        return "The question is empty."
    if len(question) > MAX_QUESTION:
        return f"The question has {len(question):,} characters; at most {MAX_QUESTION:,} are read."
    return None


async def _opened(database: str | Database | None, config: DatabaseSettings) -> Database:
    if isinstance(database, Database):
        return database
    from agent.runtime.catalogue import resolve_database

    return await asyncio.to_thread(resolve_database, database, config)


async def _chosen_model(
    model: str | Model | None, config: ModelSettings, database: Database, semantics: SemanticModel | None
) -> tuple[Model, Model | None]:
    """The model to use, and the same model again if this run has to close it."""
    if model is not None and not isinstance(model, str):
        return model, None
    from agent.models import make_model

    made = await asyncio.to_thread(make_model, config, database, model, semantics)
    return made, made


def _kit(folder: str) -> Kit:
    """The kit in a folder. Raises _RunFailed."""
    from agent.knowledge.kit import read_kit
    from agent.knowledge.memory import BadMemory

    try:
        return read_kit(folder)
    except BadMemory as error:
        raise _RunFailed("settings", f"The kit {folder} cannot be used: {error}") from None


def _semantics(config: JudgingSettings) -> SemanticModel | None:
    """Raises _RunFailed, naming what is wrong with the file."""
    if not (config.semantic_model or config.glossary):
        return None
    from agent.knowledge.memory import BadMemory
    from agent.knowledge.semantics.files import semantic_model_of

    try:
        return semantic_model_of(config)
    except BadMemory as error:
        raise _RunFailed("settings", str(error)) from None


def _without_unseen(semantics: SemanticModel, database: PersonalDatabase) -> SemanticModel:
    """The model without instructions that name what the person may not see."""
    return replace(semantics, instructions="") if database.unseen(semantics.instructions) else semantics


def _memory(
    config: JudgingSettings, semantics: SemanticModel | None, kit: Kit | None, confirmed: Confirmed
) -> Memory | None:
    """The team's knowledge of its database; None if there is none. Raises _RunFailed, naming each bad line and its
    reason."""
    if not (config.examples or config.glossary or semantics or confirmed or kit):
        return None
    from agent.knowledge.memory import BadMemory, Example, load_memory

    try:
        kept = load_memory(config.examples, config.glossary)
    except BadMemory as error:
        raise _RunFailed("settings", str(error)) from None
    if kit is not None:
        kept = kept.joined(kit.memory)
    if semantics is not None:
        said = "\n".join(filter(None, (semantics.instructions, kept.instructions)))
        kept = replace(kept.with_examples([Example(v.question, v.sql) for v in semantics.verified]), instructions=said)
    return kept.with_examples([Example(question, sql) for question, sql in confirmed])


async def _graph() -> Any:
    """The compiled graph; its import takes more than a second the first time, so it happens off the loop."""
    return await asyncio.to_thread(_import_graph)


def _import_graph() -> Any:
    from agent.graph import graph

    return graph


def _answer(state: dict[str, Any], context: RunContext, seconds: float) -> Answer:
    from agent.runtime.attempts import chosen, doubts, failure_text, passes, sure
    from agent.runtime.verdict import probability

    plan: QueryPlan = state["plan"]
    results: list[QueryResult] = state.get("query_results", [])
    best = chosen(plan, results)
    last = best[-1] if best else None
    threshold = context.judging.score_threshold
    kind: str | None = None
    status: Literal["success", "doubtful", "abstained", "error"]
    if last is None:
        status, kind = "error", "internal"
    elif last.status == "success":
        status = "success" if all(passes(r, threshold) and sure(r) for r in best) else "doubtful"
    elif last.failure and last.failure.kind == "abstained":
        status = "abstained"
    else:
        status = "error"
        kind = last.failure.kind if last.failure else "sql"
    report = last.eval_report if last else None
    return Answer(
        question=state["question"],
        status=status,
        sql=last.sql if last else "",
        columns=last.columns if last else [],
        units=last.units if last else [],
        rows=last.data if last else [],
        truncated=last.truncated if last else False,
        score=min((r.score for r in best), default=0.0),
        dimensions=report.dimensions if report else {},
        answer=state.get("final_answer", ""),
        abstained=status == "abstained",
        attempts=_with_retries(results, state.get("retries", [])),
        plan=plan,
        seconds=round(seconds, 4),
        tokens=_tokens(context.usage),
        model=context.model.name,
        reason=(last.reasoning if last and last.status == "success" else failure_text(last) if last else ""),
        database=context.database.name,
        dialect=context.database.dialect,
        confidence=probability(last, calibrated=context.model.capabilities.calibrated) if last else None,
        relevance=state.get("answer_relevance_score", 0.0),
        doubts=[*doubts(best, threshold), *context.usage.warnings, *_rows_not_visible(last, context.database)],
        not_understood=last.not_understood if last else [],
        alternatives=last.alternatives if last else [],
        error_kind=kind,
        read_as=state.get("read_as") or "",
    )


def _rows_not_visible(result: QueryResult | None, database: Database) -> list[str]:
    if result is None or not result.sql or not isinstance(database, PersonalDatabase):
        return []
    partly = database.partly_visible(result.sql)
    return [f"Only the rows of {', '.join(partly)} that are visible to you were read."] if partly else []


def _answer_of_turn(text_of_user: str, ended: TurnEnd, context: RunContext, seconds: float) -> Answer:
    """The answer to a text in a conversation, which may be only part of the question."""
    if ended.waiting is None and not ended.dropped:
        return _answer(ended.state, context, seconds).model_copy(update={"question": text_of_user})
    asked = ended.waiting
    text = (
        "\n".join([asked.question, "", *(f"{n}. {option}" for n, option in enumerate(asked.options, 1))])
        if asked
        else DROPPED
    )
    return Answer(
        question=text_of_user,
        status="waiting" if asked else "abstained",
        abstained=asked is None,
        answer=text.strip(),
        reason=asked.question if asked else DROPPED,
        seconds=round(seconds, 4),
        tokens=_tokens(context.usage),
        model=context.model.name,
        database=context.database.name,
        dialect=context.database.dialect,
        clarification=asked,
    )


def _with_retries(results: list[QueryResult], retries: list[Retry]) -> list[QueryResult]:
    """The attempts; each one that was retried has the reason for its retry."""
    categories = {(retry.task_id, retry.attempt): retry.category for retry in retries}
    return [r.model_copy(update={"retry_category": categories.get((r.task_id, r.attempt))}) for r in results]


def _tokens(usage: Usage) -> Tokens:
    return Tokens(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cached=usage.cached_tokens,
        calls=usage.calls,
        cost_usd=usage.cost_usd,
    )
