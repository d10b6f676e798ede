"""The small protocol that every model speaks: plan, write_sql, judge, summarize.

Two implementations: any OpenAI-compatible endpoint (`agent.models.openai`) and the built-in engine
(`agent.models.offline`). In: frozen requests, with text that `agent.knowledge` has already cleared for the privacy
mode. Out: typed replies with their `Usage`. A call that fails raises one of the `ModelError`s below, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from agent.state import Clarification, Clarified, QueryPlan, QueryResult, QueryTask, Turn
from eval.databases.base import Database
from eval.schema import Dialect, Schema


class ModelError(Exception):
    """A model call failed. The message is for the user and holds no key."""

    usage: Usage | None = None
    """What the failed call had consumed, where its model knows."""


class ModelAuthError(ModelError):
    """The key is wrong or lacks a right (401, 403). Not retried."""


class ModelRateLimited(ModelError):
    """Still refused (429) when the time allowed had passed."""


class ModelUnavailable(ModelError):
    """The endpoint could not be reached, or answered 5xx until the time allowed had passed."""


class ModelTimeout(ModelError):
    """No complete reply within the time allowed."""


class ModelReplyError(ModelError):
    """A reply came but is empty, cut off or not what was asked for, after the fallbacks."""


class ModelRefused(ModelError):
    """The endpoint rejected the request itself (400, 404: unknown model, prompt too long)."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one call, or a whole run, consumed. Add with `+`."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = 0.0
    """None: unknown, because a price is unknown. Unknown stays unknown when added."""
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class PlanRequest:
    question: str
    dialect: Dialect
    schema_context: str
    schema: Schema
    database: Database
    """For the offline engine, which looks values up; a remote model sees only `schema_context`."""
    history: tuple[Turn, ...] = ()
    """The earlier turns of the conversation, oldest first."""
    may_ask: bool = False
    """Whether a truly ambiguous question may be asked back instead of planned."""
    clarified: Clarified | None = None
    """What was asked back about this question, and what the user said to it."""


@dataclass(frozen=True, slots=True)
class SqlRequest:
    question: str
    task: QueryTask
    dialect: Dialect
    schema_context: str
    schema: Schema
    database: Database
    previous: tuple[QueryResult, ...] = ()
    """The chosen results of the tasks that this one depends on."""
    failed_sql: str = ""
    """The last attempt's SQL when this is a retry."""
    feedback: str = ""
    """The retry handler's feedback, to be put before the model verbatim."""
    attempt: int = 1
    variant: int = 0
    """Which of several candidates this is; all but 0 are to be written in another way."""
    glossary: str = ""
    """What the business words of the question mean, as text cleared for the privacy mode."""
    examples: str = ""
    """Verified questions with their SQL that are like this one, as text."""


@dataclass(frozen=True, slots=True)
class SqlReply:
    """A query, or (offline engine) the honest statement that there is none."""

    sql: str
    reasoning: str
    """For the remote model, its own reasoning; for the offline engine, the interpretation in plain words."""
    confidence: float | None = None
    """0..1 where the writer knows one."""
    abstained: bool = False
    """True when the writer says that it can't tell; `sql` is then empty and `reasoning` says why."""
    not_understood: tuple[str, ...] = ()
    """Words of the question that found no meaning."""
    alternatives: tuple[str, ...] = ()
    """Other questions or readings to offer ("did you mean …")."""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    question: str
    task: QueryTask
    sql: str
    columns: tuple[str, ...]
    preview: tuple[tuple[object, ...], ...]
    """At most 20 rows, JSON values."""
    rows_returned: int
    dialect: Dialect = "sqlite"


@dataclass(frozen=True, slots=True)
class Judgement:
    score: float
    """0..1: does the result answer the question."""
    reasoning: str
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    question: str
    plan: QueryPlan
    results: tuple[QueryResult, ...]
    """The chosen attempt of each task, in plan order."""
    doubts: tuple[str, ...] = ()
    """Sentences that the answer must state (score below the threshold, truncated rows, failed tasks)."""


@dataclass(frozen=True, slots=True)
class Summary:
    text: str
    """Markdown."""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class PlanReply:
    plan: QueryPlan
    usage: Usage = Usage()
    read_as: str = ""
    """What the question means on its own, where it leans on earlier turns; else empty."""
    clarification: Clarification | None = None
    """What to ask back first; only where the request allows it."""


@runtime_checkable
class Model(Protocol):
    """Async and cancellable: cancelling the awaiting task closes the connection to the endpoint."""

    name: str
    """As shown to people: `gpt-5`, or `offline`."""
    offline: bool

    async def plan(self, request: PlanRequest) -> PlanReply: ...

    async def write_sql(self, request: SqlRequest) -> SqlReply: ...

    async def judge(self, request: JudgeRequest) -> Judgement: ...

    async def summarize(self, request: SummaryRequest, on_text: Callable[[str], None] | None = None) -> Summary:
        """`on_text` receives the answer piece by piece as it is written; the pieces joined are `Summary.text`."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class StepRequest:
    """What to do next, for a model that works in steps with tools (`agent.react`)."""

    question: str
    task: QueryTask
    dialect: Dialect
    schema_context: str
    schema: Schema
    allowed: tuple[str, ...]
    """The tools that may be next."""
    steps: tuple[str, ...] = ()
    """What was done so far and what came of it, oldest first, each a text cleared for the privacy mode."""
    left: int = 1
    """Steps that the model may still take, this one counted."""
    glossary: str = ""
    """As of `SqlRequest`; so are the examples."""
    examples: str = ""


@dataclass(frozen=True, slots=True)
class StepReply:
    tool: str
    """As the model named it: perhaps none that is allowed, or none at all."""
    thought: str
    sql: str = ""
    usage: Usage = Usage()


@runtime_checkable
class Stepping(Protocol):
    """A model that can also work in steps. The built-in engine can't."""

    async def next_step(self, request: StepRequest) -> StepReply: ...


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """A query that ran, with what it returned, for its writer to accept or to revise."""

    question: str
    task: QueryTask
    dialect: Dialect
    schema_context: str
    schema: Schema
    sql: str
    columns: tuple[str, ...]
    preview: tuple[tuple[object, ...], ...]
    """At most 20 rows, JSON values."""
    rows_returned: int
    doubts: tuple[str, ...] = ()
    """What rules say against the query, as texts cleared for the privacy mode."""


@dataclass(frozen=True, slots=True)
class Review:
    accepted: bool
    reasoning: str
    sql: str = ""
    """The revised query, where it is not accepted."""
    usage: Usage = Usage()


@runtime_checkable
class Verifying(Protocol):
    """A model that can also look at a result. The built-in engine can't: its first reading is its best."""

    async def review(self, request: ReviewRequest) -> Review: ...


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What an OpenAI-compatible endpoint needs to know."""

    model: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    seconds: float = 120.0
    structured_output: str = "auto"
    price_input: float | None = None
    price_output: float | None = None
    prompt_log: str | None = None
    """Path of the file that keeps what was sent."""
