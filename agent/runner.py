"""Runs one question from start to end; every interface uses this module.

In: a question, a database, a model. Out: typed events as they happen (`stream`), or the finished `Answer` (`run`). The
graph is compiled once per process. A run has a total time budget. A caller that stops iterating stops the run, its
model calls and its SQL. Only cancellation is raised: every failure becomes an `error` event, and `done` is always last.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import logging
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError
from typing_extensions import TypedDict, Unpack

from agent.access.database import PersonalDatabase
from agent.config import Settings, settings, settings_problem
from agent.conversations import Conversation, fresh_turn
from agent.events import AnswerEvent, ClarifyEvent, ClarifyInfo, DoneEvent, DoneInfo, ErrorEvent, ErrorInfo, Event
from agent.models.calls import current_run, steps_are_heard, told_to, within_privacy
from agent.models.protocol import Model
from agent.runtime.answer import Answer, Tokens
from agent.runtime.attempts import chosen, doubts, failure_text, passes, probability, sure
from agent.runtime.context import RunContext, unheard
from agent.runtime.preparation import Confirmed, RunFailed, Taught, opened, run_context
from agent.state import QueryPlan, QueryResult, Retry, Turn
from eval.databases.base import Database
from eval.databases.types import DatabaseError

if TYPE_CHECKING:
    from agent.conversations.turns import TurnEnd

__all__ = ["Answer", "Confirmed", "RunOptions", "Tokens", "run", "stream"]

log = logging.getLogger(__name__)

MAX_QUESTION = 20_000
"""Characters."""
GRACE_SECONDS = 5.0
"""Extra time after the budget for the summary, before the run is stopped."""
_TURN_SECONDS = 0.001
DROPPED = "All right, never mind that question."


class RunOptions(TypedDict, total=False):
    """What a run takes beside the question; what is left out, or None, is the value in the settings."""

    evidence: str
    """Free text that helps to interpret the question."""
    database: Any
    """A preset, a path, a URL or an open Database; the public `ask` and `run` take tables in memory, too."""
    model: str | Model | None
    """A name, `offline`, or a Model."""
    settings: Settings | None
    execute: bool
    """False: the SQL is written and checked, but not run."""
    conversation: Conversation | None
    """The thread whose next turn this is; it may end in `clarify`."""
    history: Sequence[Turn]
    """The earlier turns, where the caller keeps them itself, without a thread."""
    confirmed: Confirmed
    """Questions with SQL that people confirmed, to be shown as examples beside those of files."""
    taught: Taught
    """What words mean in this database, as people taught it."""


async def stream(question: str, **options: Unpack[RunOptions]) -> AsyncIterator[Event]:
    """Run a question and yield its events. Closing the iterator stops everything that the run has started.

    Ends with `answer` (or `error`, or both) and `done`.
    """
    _refuse_unknown(options)
    started = time.monotonic()
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    work = asyncio.create_task(_work(question, options, events.put_nowait))
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
    """Run a question to its end. A failure is an Answer of status `error`; only an unknown option raises TypeError."""
    _refuse_unknown(options)
    return await _work(question, options, unheard)


def _refuse_unknown(options: RunOptions) -> None:
    if unknown := sorted(options.keys() - RunOptions.__annotations__.keys()):
        known = ", ".join(RunOptions.__annotations__)
        raise TypeError(f"there is no option {', '.join(unknown)}; the options are {known}")


async def _work(question: str, options: RunOptions, emit: Callable[[Event], None]) -> Answer:
    """The run itself. Every failure is emitted as an `error` event and returned as an Answer of that status."""
    started = time.monotonic()
    run_id = current_run.set(current_run.get() or uuid.uuid4().hex)
    try:
        with _known_failures():
            config = options.get("settings") or settings()
            with _traced(emit, show_sql=config.privacy.log_sql) as listener:
                return await _answered(question, options, config, listener, started)
    except RunFailed as error:
        message = str(error)
        emit(ErrorEvent(data=ErrorInfo(kind=error.kind, message=message)))
        return Answer(
            question=question,
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
    """Turn every failure that can end a run early into RunFailed; a cancellation is passed on."""
    try:
        yield
    except RunFailed:
        raise
    except DatabaseError as error:
        raise RunFailed("database", str(error)) from error
    except ValidationError as error:
        raise RunFailed("settings", settings_problem(error)) from error
    except Exception as error:
        log.exception("A run failed inside")
        raise RunFailed("internal", f"Something went wrong inside: {type(error).__name__}.") from error


async def _answered(
    question: str, options: RunOptions, config: Settings, emit: Callable[[Event], None], started: float
) -> Answer:
    """Open the database and the model, run the graph, and emit the outcome."""
    if problem := question_problem(question):
        raise RunFailed("question", problem)
    database = await opened(options.get("database"), config.database)
    if isinstance(database, PersonalDatabase):
        await asyncio.to_thread(database.log_question, question)
        if hidden := await asyncio.to_thread(database.hidden_names, f"{question} {options.get('evidence', '')}"):
            return _not_visible(question, database, hidden, emit, started)
    context = await run_context(
        database,
        options.get("model"),
        config,
        execute=options.get("execute", True),
        confirmed=options.get("confirmed", ()),
        taught=options.get("taught", ()),
        emit=emit,
        started=started,
    )
    try:
        async with asyncio.timeout(context.limits.run_seconds + GRACE_SECONDS):
            with told_to(context.wrote):
                answer = await _finished(question.strip(), options, context, started)
    except TimeoutError as error:
        message = f"The time for this question ({context.limits.run_seconds:g} s) ran out."
        raise RunFailed("timeout", message) from error
    finally:
        await context.close()
    emit(AnswerEvent(data=answer))
    if answer.status == "error":
        emit(ErrorEvent(data=ErrorInfo(kind=answer.error_kind or "internal", message=answer.reason)))
    return answer


def _not_visible(
    question: str, database: Database, hidden: Sequence[str], emit: Callable[[Event], None], started: float
) -> Answer:
    """The answer to a question about what its person may not see; no model is asked."""
    text = f"Not visible to you: {', '.join(hidden)}."
    answer = Answer(
        question=question,
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


async def _finished(question: str, options: RunOptions, context: RunContext, started: float) -> Answer:
    """The graph's last state as an answer, alone or as a turn of a conversation."""
    evidence = options.get("evidence", "")
    if (conversation := options.get("conversation")) is not None:
        from agent.conversations.turns import take_turn

        context.load_schema()
        ended = await take_turn(question, conversation, context, evidence)
        answer = _answer_of_turn(question, ended, context, time.monotonic() - started)
        if answer.clarification:
            asked = answer.clarification.model_dump()
            context.emit(ClarifyEvent(data=ClarifyInfo(**asked, thread_id=conversation.thread_id)))
        return answer
    context.announce("schema_analyzer")
    context.load_schema()  # runs while the nodes are being imported
    given = fresh_turn(question, evidence, context.database, 0) | {"history": [*options.get("history", ())]}
    if steps_are_heard(context.privacy):
        graph = (await asyncio.to_thread(importlib.import_module, "agent.graph")).graph
        with within_privacy(context.privacy):
            final = await graph.ainvoke(given, context=context)
    else:  # the nodes alone: nobody listens to their inner steps, and nothing of them is kept
        if "agent.nodes.flow" not in sys.modules:
            await asyncio.to_thread(import_nodes)
        from agent.nodes.flow import walk

        final = await walk(given, context)
    return _answer_of(final, context, time.monotonic() - started)


def _answer_of(state: dict[str, Any], context: RunContext, seconds: float) -> Answer:
    plan: QueryPlan = state["plan"]
    results: list[QueryResult] = state.get("query_results", [])
    retries: list[Retry] = state.get("retries", [])
    retried = {(retry.task_id, retry.attempt): retry.category for retry in retries}
    best = chosen(plan, results)
    last = best[-1] if best else QueryResult(task_id="", attempt=0, sql="", status="error")
    threshold = context.threshold
    kind: str | None = None
    status: Literal["success", "doubtful", "abstained", "error"]
    if not best:
        status, kind = "error", "internal"
    elif last.status == "success":
        status = "success" if all(passes(r, threshold) and sure(r) for r in best) else "doubtful"
    elif last.failure and last.failure.kind == "abstained":
        status = "abstained"
    else:
        status = "error"
        kind = last.failure.kind if last.failure else "sql"
    told = [*doubts(best, threshold), *context.usage.warnings]
    database = context.database
    if last.sql and isinstance(database, PersonalDatabase) and (partly := database.partly_visible(last.sql)):
        told.append(f"Only the rows of {', '.join(partly)} that are visible to you were read.")
    return Answer(
        question=state["question"],
        status=status,
        sql=last.sql,
        columns=last.columns,
        units=last.units,
        rows=last.data,
        truncated=last.truncated,
        score=min((r.score for r in best), default=0.0),
        dimensions=last.eval_report.dimensions if last.eval_report else {},
        answer=state.get("final_answer", ""),
        abstained=status == "abstained",
        attempts=[r.model_copy(update={"retry_category": retried.get((r.task_id, r.attempt))}) for r in results],
        plan=plan,
        reason=last.reasoning if last.status == "success" else failure_text(last) if best else "",
        confidence=probability(last),
        relevance=state.get("answer_relevance_score", 0.0),
        doubts=told,
        not_understood=last.not_understood,
        alternatives=last.alternatives,
        error_kind=kind,
        reading=last.reading,
        left_out=last.left_out,
        read_as=state.get("read_as") or "",
        **_of_run(context, seconds),
    )


def _answer_of_turn(text_of_user: str, ended: TurnEnd, context: RunContext, seconds: float) -> Answer:
    """The answer to a text in a conversation, which may be only part of the question."""
    if ended.waiting is None and not ended.dropped:
        return _answer_of(ended.state, context, seconds).model_copy(update={"question": text_of_user})
    asked, text = ended.waiting, DROPPED
    if asked:
        text = "\n".join([asked.question, "", *(f"{n}. {option}" for n, option in enumerate(asked.options, 1))])
    return Answer(
        question=text_of_user,
        status="waiting" if asked else "abstained",
        abstained=asked is None,
        answer=text.strip(),
        reason=asked.question if asked else DROPPED,
        clarification=asked,
        **_of_run(context, seconds),
    )


def _of_run(context: RunContext, seconds: float) -> dict[str, Any]:
    """The fields of an answer that tell of its run."""
    usage = context.usage
    return {
        "seconds": round(seconds, 4),
        "tokens": Tokens(
            input=usage.input_tokens,
            output=usage.output_tokens,
            cached=usage.cached_tokens,
            calls=usage.calls,
            cost_usd=usage.cost_usd,
        ),
        "model": context.model.name,
        "database": context.database.name,
        "dialect": context.database.dialect,
        "executed": context.execute,
    }


def question_problem(question: str) -> str | None:
    """Why a question cannot be asked: it is empty or too long; None when it can."""
    if not question.strip():
        return "The question is empty."
    if len(question) > MAX_QUESTION:
        return f"The question has {len(question):,} characters; at most {MAX_QUESTION:,} are read."
    return None


def import_nodes() -> None:
    """Import what the first run would otherwise import, which takes a moment."""
    import agent.nodes.flow  # noqa: F401


def answer_many() -> None:
    """Set up a process that has imported what it needs, and will answer many questions.

    What is imported stays alive, so it is not looked through again and again, which costs a tenth of the time. A run
    makes tens of thousands of objects, nearly all freed by their counts: Python's 700 between two collections are for
    smaller programs. (Imports leave no garbage worth the tenth of a second that looking for it takes.) A thread that
    computes gives way to the event loop after a millisecond instead of five."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    sys.setswitchinterval(_TURN_SECONDS)
