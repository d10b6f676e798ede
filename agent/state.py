"""The state of a run: `AgentState`, and the typed values in its channels.

The nodes read the state and return the channels that they change; `query_results` accumulates.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import zip_longest
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from eval.errors import InputError

HISTORY_TURNS = 20
"""Maximum number of remembered turns of a conversation."""
MAX_TASKS = 8
"""Maximum number of tasks of a plan; no sensible question needs more."""

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
    in_english: str = ""
    """The question restated in English with its values as written, where it is in another language; else empty. The
    checks read it; the answer is in the question's language."""


class PlanInvalid(InputError):
    """The plan cannot be run; the message says why."""


def single_task_plan(question: str, confidence: float) -> QueryPlan:
    """The plan that asks the whole question in one query."""
    return QueryPlan(plan_type="single", confidence=confidence, tasks=[QueryTask(id="t1", description=question)])


def in_running_order(plan: QueryPlan) -> QueryPlan:
    """Check a plan and sort its tasks by dependency, keeping the given order otherwise. Raises PlanInvalid."""
    if not plan.tasks:
        raise PlanInvalid("the plan has no task")
    if len(plan.tasks) > MAX_TASKS:
        raise PlanInvalid(f"the plan has {len(plan.tasks)} tasks; at most {MAX_TASKS} are run")
    by_id = {task.id: task for task in plan.tasks}
    if len(by_id) != len(plan.tasks):
        raise PlanInvalid("two tasks of the plan have the same id")
    for task in plan.tasks:
        if not task.id.strip() or not task.description.strip():
            raise PlanInvalid("a task of the plan has no id or no description")
        for dependency in task.depends_on:
            if dependency not in by_id:
                raise PlanInvalid(f"task {task.id} depends on {dependency}, which is not in the plan")
    sorter = TopologicalSorter({task.id: task.depends_on for task in plan.tasks})
    try:
        sorter.prepare()
    except CycleError as error:
        raise PlanInvalid(f"tasks depend on each other in a circle: {' → '.join(error.args[1])}") from None
    ordered: list[QueryTask] = []
    while sorter.is_active():
        ready = set(sorter.get_ready())
        ordered += [task for task in plan.tasks if task.id in ready]
        sorter.done(*ready)
    kind = "single" if len(ordered) == 1 else "multi-sequential"
    return plan.model_copy(update={"tasks": ordered, "plan_type": kind})


class Relevance(_Value):
    """The judge's opinion of whether a result answers the question; 0.5 is neutral (no judge, or it failed)."""

    score: float = Field(0.5, ge=0.0, le=1.0)
    reasoning: str = ""
    weight: float = 0.15


class Evidence(_Value):
    """One observation for or against a query, as of `eval.scoring.Evidence`."""

    name: str
    supports: bool | None
    """True speaks for the query, False against it, None only informs."""
    weight: float
    text: str
    """One sentence for the user."""
    kind: str = "habit"


class Phantom(_Value):
    """A name in the query that the database does not have, or has more than once."""

    name: str
    nearest: list[str] = Field(default_factory=list)


class Hallucinations(_Value):
    tables: list[Phantom] = Field(default_factory=list)
    columns: list[Phantom] = Field(default_factory=list)
    functions: list[Phantom] = Field(default_factory=list)
    ambiguous: list[Phantom] = Field(default_factory=list)


class Analysis(_Value):
    """What a score rests on."""

    hallucinations: Hallucinations = Hallucinations()
    evidence: list[Evidence] = Field(default_factory=list)
    notes: dict[str, str] = Field(default_factory=dict)
    """By dimension: why it lost points."""


class EvalReport(_Value):
    overall: float
    overall_before_relevance: float
    dimensions: dict[str, float]
    """All seven, 0..1, by the contract's names."""
    probability: float | None = None
    """0..1: how likely the rows are right, from the evidence; None if there is no estimate."""
    relevance: Relevance = Relevance()
    analysis: Analysis = Analysis()
    vetoes: list[str] = Field(default_factory=list)


class Failure(_Value):
    """Why a run or one task cannot continue; a retry would not help."""

    kind: Literal["database", "model_auth", "model", "timeout", "abstained"]
    message: str


WITHOUT_MODEL = frozenset({"model_auth", "model", "timeout"})
"""The failures after which the built-in engine may still have an answer."""


def headers(columns: Sequence[str], units: Sequence[str]) -> list[str]:
    """The names of the columns, each with its unit where there is one."""
    return [f"{name} ({unit})" if unit else name for name, unit in zip_longest(columns, units[: len(columns)])]


LONGEST_TERM, LONGEST_MEANING = 100, 1_000
"""Characters."""
TermKind = Literal["word", "measure", "date", "amount", "hidden"]


class Term(_Value):
    """What somebody teaches of a database: what a word or a table's rows mean in it."""

    kind: TermKind = "word"
    term: str
    """`word`, `measure`: a word or phrase; `date`, `amount`, `hidden`: a table's name."""
    means: str
    """`word`: a table, `table.column`, or a condition with its columns written so; `measure`: a formula of aggregates;
    `date`, `amount`: the `table.column` that is meant where a question names none; `hidden`: the condition of the rows
    that no answer counts unless its question asks for them."""


class Choice(_Value):
    """Another query that may be meant; it is not run until it is asked for."""

    label: str
    sql: str
    teaches: Term | None = None
    """What would have to be taught for it to be the rule."""


class ReadingPart(_Value):
    """One clause of a query in words, with what may be meant in its place."""

    kind: Literal["step", "shown", "rows", "groups", "set", "order", "limit", "unused"]
    """`unused`: words of the question that no clause is about."""
    text: str
    others: list[Choice] = Field(default_factory=list)


class LeftOut(_Value):
    """Rows that do not enter a result, or enter it though they are marked as deleted."""

    kind: Literal["unknown", "figure", "group", "partner", "deleted", "tie", "currency"]
    count: int
    text: str
    open: bool = False
    """They are many, and left out for want of a date that the question does not name: another may be meant. Or amounts
    in several currencies are one figure."""
    others: list[Choice] = Field(default_factory=list)


class QueryResult(_Value):
    """One attempt at one task, scored. All of it is valid JSON."""

    task_id: str
    attempt: int
    """1 for the first attempt."""
    sql: str
    data: list[list[Any]] = Field(default_factory=list)
    """Rows in column order (JSON values), so that duplicate column names lose nothing."""
    columns: list[str] = Field(default_factory=list)
    units: list[str] = Field(default_factory=list)
    """What the values of each column are counted in, as the semantic model or the file says (empty text: unknown);
    empty where no column has a unit."""
    open_readings: list[str] = Field(default_factory=list)
    """What is open in how the columns that the query computes with were read from a file, or in which rows enter."""
    reading: list[ReadingPart] = Field(default_factory=list)
    """What the query says, clause by clause."""
    left_out: list[LeftOut] = Field(default_factory=list)
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
    """0..1, the writer's own confidence, if it has one."""
    not_understood: list[str] = Field(default_factory=list)
    alternatives: list[str] = Field(default_factory=list)
    guess: str = ""
    """The query that its writer would have given had it been surer; it was not run."""
    failure: Failure | None = None
    """Why a retry of this task is pointless, if it is."""
    replaces: list[int] = Field(default_factory=list)
    """Attempts to which this one was preferred in a comparison: other candidates, or the query that the model revised
    after it saw the rows."""
    agreeing: tuple[int, int] | None = None
    """(candidates with this result, candidates in all), where several were written."""
    verified: bool | None = None
    """Whether the model accepted the rows in its review; None if there was no review."""
    retry_category: RetryCategory | None = None
    """Why this attempt was retried, if it was."""
    verdict: str = ""
    """Whether it passes and how likely it is right, in the few words that every interface shows."""


class Retry(_Value):
    """A retried attempt, and the reason."""

    task_id: str
    attempt: int
    """The attempt that did not pass."""
    category: RetryCategory


class Draft(_Value):
    """The generator's output for the executor: SQL, or the reason why there is none."""

    sql: str = ""
    reasoning: str = ""
    confidence: float | None = None
    not_understood: list[str] = Field(default_factory=list)
    alternatives: list[str] = Field(default_factory=list)
    guess: str = ""
    error: str | None = None
    """The reply was unusable; a retry may succeed."""
    agreeing: tuple[int, int] | None = None
    """(candidates with the same result, candidates in all), where several were written."""
    rivals: list[Draft] = Field(default_factory=list)
    """The other candidates, where several were written and this one was chosen."""
    by_engine: bool = False
    """The built-in engine wrote it, beside a model; `confidence` is then calibrated."""
    estimate: float | None = None
    """0..1: that its result is right, where it was compared with others (`agent.candidates.live`)."""
    failure: Failure | None = None
    """No retry will produce SQL."""


class Clarification(_Value):
    """A question to the user that must be answered first, because the original question is ambiguous."""

    question: str
    options: list[str] = Field(default_factory=list)
    """Answers to choose from, at most a handful; the user may also use words of their own."""


class Clarified(_Value):
    """A clarification with the user's reply."""

    asked: Clarification
    reply: str


class Turn(_Value):
    """One earlier question of a conversation with its result, reduced to what a later question can refer to."""

    number: int
    asked: str
    """The question as the user put it."""
    question: str
    """Its standalone form; the same text if it referred to nothing earlier."""
    clarified: bool = False
    """A clarification was asked first; `asked` also holds the user's reply."""
    sql: str = ""
    """Empty if no query answered it."""
    answer: str = ""
    """Its first words."""
    columns: list[str] = Field(default_factory=list)
    rows: list[list[Any]] = Field(default_factory=list)
    """The first few, JSON values."""


def remembered(earlier: list[Turn], new: list[Turn]) -> list[Turn]:
    """The reducer of `history`: turns accumulate, and the oldest are forgotten. They may come as dicts from outside."""
    return [Turn.model_validate(turn) for turn in (*earlier, *new)][-HISTORY_TURNS:]


class Emptied:
    """A node's change to a channel that accumulates: what was in it goes."""


class AgentState(TypedDict, total=False):
    """LangGraph's state. Channels without a reducer hold the last value written.

    On a conversation's thread, `history` is kept from turn to turn; all other channels are reset for each turn.
    """

    question: str
    """As the user put it."""
    evidence: str
    """Free text given with the question to help interpret it; often empty."""
    read_as: str
    """The standalone form of the question, if that differs from its text; else empty."""
    turn: int
    """The number of this question in its conversation; 0 outside of one."""
    clarification: Clarification | None
    """The planner's clarification, until it has been answered."""
    clarified: Clarified | None
    dialect: str
    database: str
    schema_context: str
    plan: QueryPlan
    current_task: QueryTask
    draft: Draft
    """The generator's latest draft for the current task."""
    failure: Failure | None
    """Set when the run cannot continue (no database); later nodes then do nothing."""
    query_results: Annotated[list[QueryResult], operator.add]
    retry_count: int
    retry_feedback: str
    retries: Annotated[list[Retry], operator.add]
    """The retried attempts."""
    final_answer: str
    answer_relevance_score: float
    history: Annotated[list[Turn], remembered]
    """The earlier turns of the conversation, oldest first; this one's is added when it ends."""


def standalone(state: AgentState) -> str:
    """The question that everything after the planner works on."""
    return state.get("read_as") or state["question"]


def asked(state: AgentState) -> str:
    """The question for the current query: the whole question, or the current task's if the plan has several. It
    includes the evidence, because a query may use names that occur only there."""
    plan = state["plan"]
    question = (plan.in_english or standalone(state)) if len(plan.tasks) == 1 else state["current_task"].description
    return with_evidence(question, state.get("evidence", ""))


def with_evidence(question: str, evidence: str) -> str:
    """Question and evidence as one text, for prompts, linking and scoring."""
    return f"{question}\n\nEvidence: {evidence}" if evidence else question
