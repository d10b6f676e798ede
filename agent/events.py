"""The one vocabulary of what happens in a run; the command line, SSE, A2A and the page all speak it.

Each event is one JSON object with an `event` field (valid JSON always). `done` is always the last.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.state import Clarification, QueryPlan, QueryResult, RetryCategory


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)


class StepTokens(_Event):
    """What the model calls of one step consumed."""

    input: int
    output: int


class NodeEvent(_Event):
    """A node of the graph started or finished."""

    event: Literal["node"] = "node"
    node: str
    status: Literal["running", "done"]
    elapsed_ms: float | None = None
    """Time the node took, once done."""
    task_id: str | None = None
    attempt: int | None = None
    tokens: StepTokens | None = None
    """Once done; None where no model was called."""


class SchemaTokens(_Event):
    """What the parts of the text cost in which a model sees a database, by our own estimate."""

    structure: int
    notes: int
    values: int
    whole_structure: int
    """Of the structure if all of it were shown."""
    tables_shown: int
    columns_shown: int


class SchemaInfo(_Event):
    dialect: str
    database: str
    tables: int
    columns: int
    fingerprint: str
    tokens: SchemaTokens | None = None
    """None where no model at an endpoint is asked."""


class SchemaEvent(_Event):
    event: Literal["schema"] = "schema"
    data: SchemaInfo


class PlanEvent(_Event):
    event: Literal["plan"] = "plan"
    data: QueryPlan


class QueryResultEvent(_Event):
    """One attempt, scored; `data` is the QueryResult with `relevance` lifted to its top as the contract has it."""

    event: Literal["query_result"] = "query_result"
    data: dict[str, Any]

    @classmethod
    def of(cls, result: QueryResult) -> QueryResultEvent:
        data = result.model_dump(mode="json")
        report = result.eval_report
        data["relevance"] = report.relevance.model_dump(mode="json") if report else None
        return cls(data=data)


class RetryInfo(_Event):
    task_id: str
    attempt: int
    """The attempt that will now be made, 2 or more."""
    category: RetryCategory
    feedback: str


class RetryEvent(_Event):
    event: Literal["retry"] = "retry"
    data: RetryInfo


class StepInfo(_Event):
    task_id: str
    attempt: int
    number: int
    """1 for the first step of the attempt."""
    tool: str
    """As the model named it, which may be no tool at all."""
    thought: str = ""
    sql: str = ""
    """The query that the step wrote; else empty."""
    ok: bool
    observation: str = ""
    """What came of it, as the model is told."""
    elapsed_ms: float


class StepEvent(_Event):
    """A model that works in steps (`react`) took one, or one followed from it."""

    event: Literal["step"] = "step"
    data: StepInfo


class TokenEvent(_Event):
    """A piece of the answer as it is written."""

    event: Literal["token"] = "token"
    data: str


class ClarifyInfo(Clarification):
    """What is asked back; the next question on the thread answers it."""

    thread_id: str = ""


class ClarifyEvent(_Event):
    """The question is ambiguous, and the run waits for what the user says to it; `answer` and `done` follow."""

    event: Literal["clarify"] = "clarify"
    data: ClarifyInfo


class AnswerEvent(_Event):
    """`data` is the final `Answer` of `agent.runner`, as a JSON object; it holds at least `final_answer`."""

    event: Literal["answer"] = "answer"
    data: dict[str, Any]


class ErrorInfo(_Event):
    message: str
    kind: str = "internal"
    """Stable: `database`, `model_auth`, `model`, `timeout`, `cancelled`, `question`, `busy`, `state`, `internal`."""


class ErrorEvent(_Event):
    event: Literal["error"] = "error"
    data: ErrorInfo


class DoneInfo(_Event):
    elapsed: float
    """Seconds."""


class DoneEvent(_Event):
    event: Literal["done"] = "done"
    data: DoneInfo


Event = Annotated[
    NodeEvent
    | SchemaEvent
    | PlanEvent
    | QueryResultEvent
    | RetryEvent
    | StepEvent
    | TokenEvent
    | ClarifyEvent
    | AnswerEvent
    | ErrorEvent
    | DoneEvent,
    Field(discriminator="event"),
]
