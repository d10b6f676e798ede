"""The protocol that every model implements: plan, write_sql, judge, summarize.

Two implementations: any OpenAI-compatible endpoint (`agent.models.openai`) and the built-in parser (`agent.parser`).
In: frozen requests that hold text and typed values, never a connection; `agent.knowledge` has cleared their text for
the privacy mode. Out: typed replies with their `Usage`. A failed call raises one of the `ModelError`s below and nothing
else. `Capabilities` describes what a model can do beyond the four calls.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from agent.state import Clarification, Clarified, QueryPlan, QueryResult, QueryTask, Turn
from eval.errors import Text2SQLError
from eval.schema import Dialect, Schema

if TYPE_CHECKING:
    from eval.databases.types import ExecutionResult


class ModelError(Text2SQLError):
    """A model call failed. The message is for the user and holds no key."""

    usage: Usage | None = None
    """The usage of the failed call, if its model knows it."""
    final: bool = False
    """True if every other call would fail in the same way: the key is refused, or the model or address does not
    exist."""
    kind: Literal["model_auth", "model"] = "model"
    """As in `Failure`."""


class ModelAuthError(ModelError):
    """The key is wrong or lacks a right (401, 403). Not retried."""

    kind = "model_auth"


class ModelRateLimited(ModelError):
    """The rate limit (429) still applied when the time allowed had passed."""


class ModelUnavailable(ModelError):
    """The endpoint could not be reached, or answered 5xx until the time allowed had passed."""


class ModelTimeout(ModelError):
    """No complete reply within the time allowed."""


class ModelReplyError(ModelError):
    """A reply came, but even after the fallbacks it is empty, cut off or not in the requested form."""


class ModelRefused(ModelError):
    """The endpoint rejected the request itself (400, 404: unknown model)."""


class PromptTooLong(ModelRefused):
    """The prompt does not fit the context of the model's server."""

    sizes: tuple[int, int] | None = None
    """(tokens of the prompt, tokens that fit), if the server tells them."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The consumption of one call or a whole run. Add with `+`."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = 0.0
    """None: unknown, because a price is unknown. A sum with an unknown cost is unknown."""
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    """Notes about the calls for the user, as sentences."""

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            self.seconds + other.seconds,
            tuple(dict.fromkeys((*self.warnings, *other.warnings))),
        )


@dataclass(frozen=True, slots=True)
class PlanRequest:
    question: str
    dialect: Dialect
    schema_context: str
    schema: Schema
    evidence: str = ""
    """Free text given with the question to help interpret it (evidence)."""
    history: tuple[Turn, ...] = ()
    """The earlier turns of the conversation, oldest first."""
    write_sql: bool = False
    """Whether a plan of one task must include its query (`QueryTask.sql`)."""
    may_ask: bool = False
    """Whether the model may ask for clarification of a truly ambiguous question instead of planning it."""
    clarified: Clarified | None = None
    """The clarification asked about this question, with the user's reply."""
    ran: dict[str, ExecutionResult] = field(default_factory=dict, repr=False, compare=False)
    """By their SQL, the complete results of statements that this run has sent. A model that sends some adds to it."""
    translate: bool = False
    """Whether the plan must restate the question in English (`QueryPlan.in_english`)."""


@dataclass(frozen=True, slots=True)
class TaskContext:
    """What all requests about the query of one task tell."""

    question: str
    task: QueryTask
    dialect: Dialect
    schema_context: str
    schema: Schema
    _: KW_ONLY
    instructions: str = ""
    """Instructions of a kit, which follow the rules of the prompt; like examples, they may quote values."""


@dataclass(frozen=True, slots=True)
class WritingContext(TaskContext):
    """What the writer of a query is told, whether it writes it at once or in steps."""

    _: KW_ONLY
    evidence: str = ""
    """As of `PlanRequest`."""
    glossary: str = ""
    """The meaning of the question's business terms, as text cleared for the privacy mode."""
    examples: str = ""
    """Similar verified questions with their SQL, as text."""
    analysis: str = ""
    """What a kit's analysis says about the database; it holds values."""


@dataclass(frozen=True, slots=True)
class SqlRequest(WritingContext):
    previous: tuple[QueryResult, ...] = ()
    """The chosen results of the tasks that this one depends on."""
    failed_sql: str = ""
    """The SQL of the last attempt, on a retry."""
    feedback: str = ""
    """The retry handler's feedback, to be shown to the model verbatim."""
    attempt: int = 1
    variant: int = 0
    """The number of this candidate among several; all except 0 must be written in a different way."""
    definitions: tuple[str, ...] = ()
    """The glossary for the parser, one statement per term: `big spenders refers to segment = 'A'`. Not cleared for a
    mode."""
    verified: tuple[tuple[str, str], ...] = ()
    """All verified questions of this database with their SQL, for the parser. Not cleared for a mode."""
    short: bool = False
    """Whether the prompt begins with what all questions to the database share, and the reply is the query alone."""
    periods: tuple[str, ...] = ()
    """Of a short prompt: what the question's relative periods are today, one sentence each."""
    exchange: tuple[tuple[str, str], ...] = ()
    """Of a cascade: the queries that were not right yet, each with what is wrong with it, cleared for the mode."""
    ran: dict[str, ExecutionResult] = field(default_factory=dict, repr=False, compare=False)
    """As of `PlanRequest`."""


@dataclass(frozen=True, slots=True)
class SqlReply:
    """A query, or the statement that there is none (`abstained`)."""

    sql: str
    reasoning: str
    """For the remote model, its own reasoning; for the offline engine, the interpretation in plain words."""
    confidence: float | None = None
    """0..1, if the writer knows one."""
    abstained: bool = False
    """True when the writer says that it cannot write the query; `sql` is then empty and `reasoning` says why."""
    not_understood: tuple[str, ...] = ()
    """Words of the question that could not be interpreted."""
    alternatives: tuple[str, ...] = ()
    """Other questions or readings to offer ("did you mean …")."""
    usage: Usage = Usage()
    guess: str = ""
    """When it abstains: the query that it would have written, for a person to judge; it is not run."""
    by_engine: bool = False
    """The built-in engine wrote it, beside a model; `confidence` is then calibrated."""
    logprobs: tuple[float, ...] = ()
    """Of the tokens that the model wrote, where its server tells them."""
    refused: bool = False
    """Abstained because the question asks for no rows: a change of data, a forecast, small talk."""


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
    """0..1: how well the result answers the question."""
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
    """The standalone form of a question that refers to earlier turns; else empty."""
    clarification: Clarification | None = None
    """The clarification to ask first; only if the request allows it."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Differences between kinds of models; the defaults describe a model at an endpoint."""

    remote: bool = True
    """Requests leave this process, so privacy modes apply, and the database has to be described in text."""
    samples: bool = True
    """Repeated requests can give different queries, so several candidates are useful."""
    calibrated: bool = False
    """Its confidence is a calibrated probability."""
    exact_summaries: bool = False
    """Its summaries contain only values from the results, so their numbers need no check."""
    second_opinion: bool = True
    """The built-in parser interprets the question independently of it, so the parser's reading counts as evidence."""


@runtime_checkable
class Model(Protocol):
    """Async and cancellable: cancelling the awaiting task closes the connection to the endpoint."""

    name: str
    """The display name: `gpt-5`, or `offline`."""
    capabilities: Capabilities

    async def plan(self, request: PlanRequest) -> PlanReply: ...

    async def write_sql(self, request: SqlRequest) -> SqlReply: ...

    async def judge(self, request: JudgeRequest) -> Judgement: ...

    async def summarize(self, request: SummaryRequest, on_text: Callable[[str], None] | None = None) -> Summary:
        """`on_text` receives the answer piece by piece as it is written; the pieces joined are `Summary.text`."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class StepRequest(WritingContext):
    """The request for the next step of a model that works in steps with tools (`agent.react`)."""

    allowed: tuple[str, ...]
    """The tools allowed next."""
    steps: tuple[str, ...] = ()
    """The steps so far with their results, oldest first, each a text cleared for the privacy mode."""
    left: int = 1
    """Number of steps left for the model, including this one."""


@dataclass(frozen=True, slots=True)
class StepReply:
    tool: str
    """The tool as the model named it: it may be disallowed or empty."""
    thought: str
    sql: str = ""
    usage: Usage = Usage()


@runtime_checkable
class Stepping(Protocol):
    """A model that can also work in steps. The built-in engine cannot."""

    async def next_step(self, request: StepRequest) -> StepReply: ...


@runtime_checkable
class Bounded(Protocol):
    """A model whose server reads only so much. The built-in engine has no such bound."""

    @property
    def schema_tokens(self) -> int | None:
        """Tokens of a schema, by our estimate, that are known to fit; None: no prompt was too long yet."""

    def learn_schema_tokens(self, tokens: int) -> None: ...


@dataclass(frozen=True, slots=True)
class ReviewRequest(TaskContext):
    """A query that ran, with its result, for its writer to accept or revise."""

    sql: str
    columns: tuple[str, ...]
    preview: tuple[tuple[object, ...], ...]
    """At most 20 rows, JSON values."""
    rows_returned: int
    doubts: tuple[str, ...] = ()
    """Rule-based objections to the query, as texts cleared for the privacy mode."""
    round: int = 0
    """How many reviews of this task came before; later ones are sampled at a higher temperature."""


@dataclass(frozen=True, slots=True)
class Review:
    accepted: bool
    reasoning: str
    sql: str = ""
    """The revised query, if the query is not accepted."""
    usage: Usage = Usage()


@runtime_checkable
class Verifying(Protocol):
    """A model that can also review a result. The built-in engine cannot: its first reading is its best."""

    async def review(self, request: ReviewRequest) -> Review: ...


class Meter(Protocol):
    """Counts the requests that a model at an endpoint sends, retries included."""

    def before_call(self) -> None:
        """Called before each request. May raise a ModelError, and then it is not sent."""

    def after_call(self, dollars: float, *, sent: bool) -> None:
        """Called when its reply is there, or it has failed. `sent` is False if it was given up before it left."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    model: str
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None
    seconds: float = 120.0
    """How long the server may be silent, waits included."""
    structured_output: Literal["auto", "json_schema", "json_object", "prompt"] = "auto"
    price_input: float | None = None
    price_output: float | None = None
    prompt_log: str | None = None
    """Path of the prompt log."""
    reasoning_effort: str | None = None
    temperature: float = 0.0
    """Of calls that would else have 0."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Additional fields of each request."""
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    requests_per_minute: int = 0
    """Requests of one process, or of all workers of a cluster, in a minute; 0: no limit of ours."""
    served: Callable[[], Awaitable[tuple[str, str]]] | None = None
    """Gives address and key of a server that is started when it is needed, in place of the two above."""
