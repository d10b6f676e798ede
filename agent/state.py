"""What a run knows: `AgentState`, and the typed values that its channels hold.

The nodes read the state and return the channels that they change; `query_results` accumulates.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, Literal, TypedDict

from pydantic import BaseModel, ConfigDict, Field

HISTORY_TURNS = 20
"""Turns of a conversation that are remembered."""

PlanType = Literal["single", "multi-sequential"]
ResultStatus = Literal["success", "failed", "error"]
RetryCategory = Literal["execution_error", "hallucination", "safety", "relevance", "empty_result", "generic"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class QueryTask(_Value):
    """One question that one SQL statement answers."""

    id: str
    description: str
    sql: str = ""
    depends_on: list[str] = Field(default_factory=list)


class QueryPlan(_Value):
    """How the question is answered: one task, or several in dependency order."""

    plan_type: PlanType
    confidence: float = Field(ge=0.0, le=1.0)
    tasks: list[QueryTask]


class Relevance(_Value):
    """The judge's opinion of whether a result answers the question; 0.5 is neutral (no judge, or it failed)."""

    score: float = Field(0.5, ge=0.0, le=1.0)
    reasoning: str = ""
    weight: float = 0.15


class EvalReport(_Value):
    overall: float
    overall_before_relevance: float
    dimensions: dict[str, float]
    """All seven, 0..1, by the contract's names."""
    probability: float | None = None
    """0..1: how likely the rows are right, from the evidence; None where nothing can be said."""
    relevance: Relevance = Relevance()
    analysis: dict[str, Any] = Field(default_factory=dict)
    """`hallucinations` {tables, columns, functions, ambiguous: [{name, nearest}]} and
    `evidence` (`eval.scoring.Evidence` as objects)."""
    vetoes: list[str] = Field(default_factory=list)


class Failure(_Value):
    """Why a run, or one task, cannot go on; trying again would not help."""

    kind: Literal["database", "model_auth", "model", "timeout", "abstained"]
    message: str


class QueryResult(_Value):
    """One attempt at one task, scored. All of it is valid JSON."""

    task_id: str
    attempt: int
    """1 for the first attempt."""
    sql: str
    data: list[list[Any]] = Field(default_factory=list)
    """Rows in column order (JSON values), so that duplicate column names lose nothing."""
    columns: list[str] = Field(default_factory=list)
    rows_returned: int = 0
    truncated: bool = False
    execution_time_ms: float = 0.0
    score: float = 0.0
    eval_report: EvalReport | None = None
    status: ResultStatus
    """`success`: ran; `failed`: refused or abstained before running; `error`: the database or model failed."""
    error: str | None = None
    reasoning: str = ""
    """How the SQL was arrived at, as its writer says."""
    confidence: float | None = None
    """0..1, the writer's own, where it has one."""
    not_understood: list[str] = Field(default_factory=list)
    alternatives: list[str] = Field(default_factory=list)
    failure: Failure | None = None
    """Why trying this task again is pointless, if it is."""
    replaces: list[int] = Field(default_factory=list)
    """Attempts that this one was preferred to when all of them were known: other candidates, or the query that the
    model revised after it saw the rows."""
    agreeing: tuple[int, int] | None = None
    """(candidates with this result, candidates in all), where several were written."""
    verified: bool | None = None
    """Whether the model accepted the rows after it saw them; None where it was not asked."""
    retry_category: RetryCategory | None = None
    """Why this attempt was retried, once it was."""


class Draft(_Value):
    """What the generator hands to the executor: SQL, or why there is none."""

    sql: str = ""
    reasoning: str = ""
    confidence: float | None = None
    not_understood: list[str] = Field(default_factory=list)
    alternatives: list[str] = Field(default_factory=list)
    error: str | None = None
    """The reply could not be used; another try may do better."""
    agreeing: tuple[int, int] | None = None
    """(candidates with the same result, candidates in all), where several were written."""
    rivals: list[Draft] = Field(default_factory=list)
    """The other candidates, where several were written and this one was chosen."""
    failure: Failure | None = None
    """There will be no SQL, however often it is tried."""


class Clarification(_Value):
    """What has to be asked back before a question can be answered, because it means one of several things."""

    question: str
    options: list[str] = Field(default_factory=list)
    """Answers to choose from, at most a handful; the user may also use words of their own."""


class Clarified(_Value):
    """A clarification with what the user said to it."""

    asked: Clarification
    reply: str


class Turn(_Value):
    """One earlier question of a conversation with what came of it, cut to what a later one may refer to."""

    number: int
    asked: str
    """The question as the user put it."""
    question: str
    """What it means on its own; the same where it leaned on nothing."""
    clarified: bool = False
    """Something was asked back first; `asked` holds what was said to it, too."""
    sql: str = ""
    """Empty where no query answered it."""
    answer: str = ""
    """Its first words."""
    columns: list[str] = Field(default_factory=list)
    rows: list[list[Any]] = Field(default_factory=list)
    """The first few, JSON values."""


def remembered(earlier: list[Turn], new: list[Turn]) -> list[Turn]:
    """The reducer of `history`: turns accumulate, and the oldest are forgotten."""
    return [*earlier, *new][-HISTORY_TURNS:]


class AgentState(TypedDict, total=False):
    """LangGraph's state. Channels without a reducer hold the last value written.

    On a conversation's thread, `history` lives on from turn to turn; all other channels begin anew with each.
    """

    question: str
    """As the user put it."""
    read_as: str
    """What the question means on its own, where that differs from its words; else empty."""
    turn: int
    """The number of this question in its conversation; 0 outside of one."""
    clarification: Clarification | None
    """What the planner wants to ask back, until it has been answered."""
    clarified: Clarified | None
    dialect: str
    database: str
    schema_context: str
    plan: QueryPlan
    current_task: QueryTask
    draft: Draft
    """The generator's last word on the current task."""
    failure: Failure | None
    """Set when nothing further can work (no database); the nodes after it only pass through."""
    query_results: Annotated[list[QueryResult], operator.add]
    retry_count: int
    retry_feedback: str
    final_answer: str
    answer_relevance_score: float
    history: Annotated[list[Turn], remembered]
    """The earlier turns of the conversation, oldest first; this one's is added when it ends."""


def standalone(state: AgentState) -> str:
    """The question that everything after the planner works on."""
    return state.get("read_as") or state["question"]


def asked(state: AgentState) -> str:
    """What the current query has to answer: the whole question, or its task's where the plan has several."""
    return standalone(state) if len(state["plan"].tasks) == 1 else state["current_task"].description
