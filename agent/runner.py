"""One question, start to end: the door behind every door.

In: a question, a database, a model. Out: typed events as they happen (`stream`), or the finished `Answer` (`run`).
The graph is compiled once a process. A run has a total time budget; whoever stops listening stops the run, its model
calls and its SQL. Nothing raises out of here but cancellation: what fails becomes an `error` event, and `done` is
always last.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.config import Settings, settings, settings_problem
from agent.context import RunContext
from agent.conversations.conversation import Conversation
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
    RetryEvent,
)
from agent.knowledge.privacy import private
from agent.models.prompt_log import current_run
from agent.models.protocol import Model, Usage
from agent.state import AgentState, Clarification, QueryPlan, QueryResult, RetryCategory
from eval.databases.base import Database, DatabaseError

if TYPE_CHECKING:
    from agent.knowledge.memory import Memory

log = logging.getLogger(__name__)

Confirmed = Sequence[tuple[str, str]]
"""(question, SQL) pairs."""

MAX_QUESTION = 20_000
"""Characters."""

GRACE_SECONDS = 5.0
"""After the budget, for the summary of what was found, before the run is cut off."""


class Tokens(BaseModel):
    model_config = ConfigDict(frozen=True)

    input: int = 0
    output: int = 0
    cached: int = 0
    calls: int = 0
    cost_usd: float | None = None
    """None: unknown, because no price is configured."""


class Answer(BaseModel):
    """What came of a question. The first fields are the contract's; all of it is valid JSON."""

    model_config = ConfigDict(frozen=True)

    question: str
    status: Literal["success", "doubtful", "abstained", "error", "waiting"]
    """`doubtful`: there are rows, but the score is below the threshold, or the reading is unsure. `waiting`: something
    is asked back (`clarification`), and the next question of the conversation answers it."""
    sql: str = ""
    """The SQL behind the answer; of the last task when there are several."""
    columns: list[str] = Field(default_factory=list)
    rows: list[list[Any]] = Field(default_factory=list)
    truncated: bool = False
    score: float = 0.0
    dimensions: dict[str, float] = Field(default_factory=dict)
    answer: str = ""
    abstained: bool = False
    attempts: list[QueryResult] = Field(default_factory=list)
    plan: QueryPlan | None = None
    seconds: float = 0.0
    tokens: Tokens = Tokens()
    model: str = ""
    reason: str = ""
    """Why there is no answer, or how the SQL was arrived at."""
    database: str = ""
    dialect: str = ""
    confidence: float | None = None
    """0..1: how likely the rows are right. The offline engine's own calibrated figure where it answered, else the
    score's estimate from the evidence; None where nothing can be said."""
    relevance: float = 0.0
    doubts: list[str] = Field(default_factory=list)
    not_understood: list[str] = Field(default_factory=list)
    alternatives: list[str] = Field(default_factory=list)
    error_kind: str | None = None
    """As in an `error` event, when status is `error`."""
    read_as: str = ""
    """What the question was taken to mean on its own, where it leaned on earlier turns; else empty."""
    clarification: Clarification | None = None
    """What is asked back, when status is `waiting`."""


async def stream(
    question: str,
    *,
    database: str | Database | None = None,
    model: str | Model | None = None,
    settings: Settings | None = None,
    execute: bool = True,
    conversation: Conversation | None = None,
    confirmed: Confirmed = (),
) -> AsyncIterator[Event]:
    """Run a question and yield what happens. Closing the iterator stops everything that the run has started.

    `database`: a preset, a path, a URL or an open Database; `model`: a name, `offline`, or a Model. None means what
    the settings say. `execute=False`: the SQL is written and checked, but not sent. `conversation`: the thread whose
    next turn this is; it may end in `clarify`. `confirmed`: questions with SQL that people held right, to be shown as
    examples beside those of files. Ends with `answer` (or `error`, or both) and `done`.
    """
    started = time.monotonic()
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    work = asyncio.create_task(
        _work(question, database, model, settings, events.put_nowait, execute, conversation, confirmed)
    )
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


async def run(
    question: str,
    *,
    database: str | Database | None = None,
    model: str | Model | None = None,
    settings: Settings | None = None,
    execute: bool = True,
    conversation: Conversation | None = None,
    confirmed: Confirmed = (),
) -> Answer:
    """Run a question to its end. Never raises: a failure is an Answer of status `error`."""
    return await _work(question, database, model, settings, _ignore, execute, conversation, confirmed)


def _ignore(_: Event) -> None:
    """Nobody listens."""


async def _work(
    question: str,
    database: str | Database | None,
    model: str | Model | None,
    config: Settings | None,
    emit: Callable[[Event], None],
    execute: bool,
    conversation: Conversation | None = None,
    confirmed: Confirmed = (),
) -> Answer:
    """The run itself. Every failure is emitted as an `error` event and returned as an Answer of that status."""
    started = time.monotonic()
    owned: Model | None = None
    run_id = current_run.set(current_run.get() or uuid.uuid4().hex)

    def failed(kind: str, message: str) -> Answer:
        emit(ErrorEvent(data=ErrorInfo(kind=kind, message=message)))
        seconds = round(time.monotonic() - started, 4)
        return Answer(
            question=question, status="error", answer=message, reason=message, error_kind=kind, seconds=seconds
        )

    try:
        config = config or settings()
        if problem := _question_problem(question):
            return failed("question", problem)
        opened = await _opened(database, config)
        chosen_model, owned = await _chosen_model(model, config)
        chosen_model = private(chosen_model, config.privacy)
        context = RunContext(opened, chosen_model, config, emit, deadline=started + config.run_seconds, execute=execute)
        context.memory = await asyncio.to_thread(_memory, config, confirmed)
        recorder = _Recorder(emit)
        async with asyncio.timeout(config.run_seconds + GRACE_SECONDS):
            if conversation is None:
                context.announce("schema_analyzer")
                context.load_schema()  # runs while the graph is still being imported
                context.emit = recorder
                graph = await _graph()
                state: AgentState = {
                    "question": question.strip(),
                    "dialect": opened.dialect,
                    "database": opened.url,
                    "query_results": [],
                }
                final = await graph.ainvoke(state, context=context)
                answer = _answer(final, context, recorder.retries, time.monotonic() - started)
            else:
                context.load_schema()
                context.emit = recorder
                ended = await take_turn(question.strip(), conversation, context)
                seconds = time.monotonic() - started
                answer = _answer_of_turn(question.strip(), ended, context, recorder.retries, seconds)
                if answer.clarification:
                    asked = answer.clarification.model_dump()
                    emit(ClarifyEvent(data=ClarifyInfo(**asked, thread_id=conversation.thread_id)))
        emit(AnswerEvent(data={"final_answer": answer.answer, **_without_repeats(answer)}))
        if answer.status == "error":
            emit(ErrorEvent(data=ErrorInfo(kind=answer.error_kind or "internal", message=answer.reason)))
        return answer
    except TurnRefused as error:
        return failed(error.kind, str(error))
    except DatabaseError as error:
        return failed("database", str(error))
    except ValidationError as error:
        return failed("settings", settings_problem(error))
    except MemoryUnusable as error:
        return failed("settings", str(error))
    except TimeoutError:
        return failed("timeout", f"The time for this question ({config.run_seconds if config else 0:g} s) ran out.")
    except Exception as error:
        log.exception("A run failed inside")
        return failed("internal", f"Something went wrong inside: {type(error).__name__}.")
    finally:
        current_run.reset(run_id)
        if owned is not None:
            await owned.close()


def _question_problem(question: str) -> str | None:
    if not question.strip():
        return "The question is empty."
    if len(question) > MAX_QUESTION:
        return f"The question has {len(question):,} characters; at most {MAX_QUESTION:,} are read."
    return None


async def _opened(database: str | Database | None, config: Settings) -> Database:
    if isinstance(database, Database):
        return database
    from agent.catalogue import resolve_database

    return await asyncio.to_thread(resolve_database, database, config)


async def _chosen_model(model: str | Model | None, config: Settings) -> tuple[Model, Model | None]:
    """The model to use, and the same again if this run has to close it."""
    if model is not None and not isinstance(model, str):
        return model, None
    from agent.catalogue import resolve_model

    made = await asyncio.to_thread(resolve_model, model, config)
    return made, made


class MemoryUnusable(Exception):
    """The files of examples or of the glossary cannot be used; the message names each line and reason."""


def _memory(config: Settings, confirmed: Confirmed) -> Memory | None:
    """What a team knows of its database; None where it keeps nothing. Raises MemoryUnusable."""
    if not (config.examples or config.glossary or confirmed):
        return None
    from agent.knowledge.memory import BadMemory, Example, load_memory

    try:
        kept = load_memory(config.examples, config.glossary)
    except BadMemory as error:
        raise MemoryUnusable(str(error)) from None
    return kept.with_examples([Example(question, sql) for question, sql in confirmed])


async def _graph() -> Any:
    """The compiled graph; its import takes more than a second the first time, so it happens off the loop."""
    return await asyncio.to_thread(_import_graph)


def _import_graph() -> Any:
    from agent.graph import graph

    return graph


class _Recorder:
    """Passes events on and remembers why attempts were retried."""

    def __init__(self, emit: Any) -> None:
        self._emit = emit
        self.retries: dict[tuple[str, int], RetryCategory] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, RetryEvent):
            self.retries[event.data.task_id, event.data.attempt - 1] = event.data.category
        self._emit(event)


def _answer(
    state: dict[str, Any], context: RunContext, retries: dict[tuple[str, int], RetryCategory], seconds: float
) -> Answer:
    from agent.attempts import chosen, doubts, failure_text, passes, sure

    plan: QueryPlan = state["plan"]
    results: list[QueryResult] = state.get("query_results", [])
    best = chosen(plan, results)
    last = best[-1] if best else None
    threshold = context.settings.score_threshold
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
        rows=last.data if last else [],
        truncated=last.truncated if last else False,
        score=min((r.score for r in best), default=0.0),
        dimensions=report.dimensions if report else {},
        answer=state.get("final_answer", ""),
        abstained=status == "abstained",
        attempts=[r.model_copy(update={"retry_category": retries.get((r.task_id, r.attempt))}) for r in results],
        plan=plan,
        seconds=round(seconds, 4),
        tokens=_tokens(context.usage),
        model=context.model.name,
        reason=(last.reasoning if last and last.status == "success" else failure_text(last) if last else ""),
        database=context.database.name,
        dialect=context.database.dialect,
        confidence=_confidence(last, context.model.offline),
        relevance=state.get("answer_relevance_score", 0.0),
        doubts=list(doubts(best, threshold)),
        not_understood=last.not_understood if last else [],
        alternatives=last.alternatives if last else [],
        error_kind=kind,
        read_as=state.get("read_as") or "",
    )


def _answer_of_turn(
    said: str,
    ended: TurnEnd,
    context: RunContext,
    retries: dict[tuple[str, int], RetryCategory],
    seconds: float,
) -> Answer:
    """The answer to the words said in a conversation, which may not be the whole question."""
    if ended.waiting is None and not ended.dropped:
        return _answer(ended.state, context, retries, seconds).model_copy(update={"question": said})
    asked = ended.waiting
    text = (
        "\n".join([asked.question, "", *(f"{n}. {option}" for n, option in enumerate(asked.options, 1))])
        if asked
        else DROPPED
    )
    return Answer(
        question=said,
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


def _confidence(shown: QueryResult | None, offline: bool) -> float | None:
    if shown is None:
        return None
    report = shown.eval_report
    if offline or report is None or report.probability is None:
        return shown.confidence
    return round(report.probability, 4)


def _tokens(usage: Usage) -> Tokens:
    return Tokens(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cached=usage.cached_tokens,
        calls=usage.calls,
        cost_usd=usage.cost_usd,
    )


def _without_repeats(answer: Answer) -> dict[str, Any]:
    """The answer as an event: the rows of each attempt have been sent with its own event already."""
    return answer.model_dump(mode="json", exclude={"attempts": {"__all__": {"data"}}})
