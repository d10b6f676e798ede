"""The events of a run; the command line, SSE, A2A and the page all use them.

Each event is one valid JSON object with an `event` field. `done` is always the last.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_serializer

from agent.runtime.answer import Answer
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
    problem: str = ""
    """Once done: what did not work in this step, which went on without it; empty where all did."""


class ProgressInfo(_Event):
    node: str
    tokens: int
    """Pieces of streams, which are tokens with all servers but a few; once the step is done, its own event has them as
    the server counts."""


class ProgressEvent(_Event):
    """How much the model has written so far in a step that runs, about once a second."""

    event: Literal["progress"] = "progress"
    data: ProgressInfo


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
    """One attempt, scored. On the wire, `relevance` is lifted to the top of `data`, as the contract has it."""

    event: Literal["query_result"] = "query_result"
    data: QueryResult

    @field_serializer("data")
    def _wire(self, result: QueryResult) -> dict[str, Any]:
        report = result.eval_report
        return result.model_dump() | {"relevance": report.relevance.model_dump() if report else None}


class RetryInfo(_Event):
    task_id: str
    attempt: int
    """The attempt that will now be made, 2 or more."""
    category: RetryCategory
    feedback: str


class RetryEvent(_Event):
    event: Literal["retry"] = "retry"
    data: RetryInfo


class RevisionInfo(_Event):
    task_id: str
    attempt: int
    """The attempt that the revised query becomes."""
    revises: int
    """The attempt whose rows the model saw."""
    reasoning: str


class RevisionEvent(_Event):
    """The model looked at its rows and wrote another query. It is no retry: the attempt before may have passed."""

    event: Literal["revision"] = "revision"
    data: RevisionInfo


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
    """A model that works in steps (`react`) took one, or one followed from it; or a cascade knows more than before:
    what the engine reads, what is wrong with a query."""

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


class ResumedInfo(_Event):
    step: str
    """The first step that the interrupted run did not end."""


class ResumedEvent(_Event):
    """The run goes on where an interrupted one ended; the steps before `step`, and their model calls, are its own."""

    event: Literal["resumed"] = "resumed"
    data: ResumedInfo


class AnswerEvent(_Event):
    """The finished answer. On the wire `data` also has `final_answer`, and its attempts have no rows: those went out
    with their own events."""

    event: Literal["answer"] = "answer"
    data: Answer

    @field_serializer("data")
    def _wire(self, answer: Answer) -> dict[str, Any]:
        return {"final_answer": answer.answer} | answer.model_dump(exclude={"attempts": {"__all__": {"data"}}})


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
    | ProgressEvent
    | SchemaEvent
    | PlanEvent
    | QueryResultEvent
    | RetryEvent
    | RevisionEvent
    | StepEvent
    | TokenEvent
    | ClarifyEvent
    | ResumedEvent
    | AnswerEvent
    | ErrorEvent
    | DoneEvent,
    Field(discriminator="event"),
]
