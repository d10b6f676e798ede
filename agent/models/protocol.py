"""The small protocol that every model speaks: plan, write_sql, judge, summarize.

Two implementations: any OpenAI-compatible endpoint (`agent.models.openai`) and the built-in engine
(`agent.models.offline`). In: frozen requests, with text that `agent.knowledge` has already cleared for the privacy
mode. Out: typed replies with their `Usage`. A call that fails raises one of the `ModelError`s below, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from agent.state import QueryPlan, QueryResult, QueryTask
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
class ModelSettings:
    """What an OpenAI-compatible endpoint needs to know."""

    model: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    seconds: float = 120.0
    structured_output: str = "auto"
    price_input: float | None = None
    price_output: float | None = None
