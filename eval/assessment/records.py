"""One answer: what the participant said (`Answer`), its score (`Judgement`), and both with their task (`TaskResult`).

In: nothing. Out: frozen values that cross process boundaries and that are written to and read from JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from eval.scoring import DIMENSIONS

Failure = Literal["", "unreachable", "timeout", "http_error", "unreadable", "too_large", "no_sql"]
"""Why there is no SQL; empty when there is some. `no_sql`: the participant said so itself, or sent an empty text."""

Category = Literal[
    "wrong_schema_linking",
    "wrong_column",
    "wrong_table",
    "erroneous_data_analysis",
    "incorrect_planning",
    "incorrect_data_calculation",
    "syntax",
    "condition_filter",
    "join",
    "incorrect_dialect_function_usage",
]

GROUPS: Mapping[str, tuple[Category, ...]] = {
    "schema": ("wrong_schema_linking", "wrong_column", "wrong_table"),
    "analysis": ("erroneous_data_analysis", "incorrect_planning", "incorrect_data_calculation"),
    "sql": ("syntax", "condition_filter", "join", "incorrect_dialect_function_usage"),
}
"""The error taxonomy."""


@dataclass(frozen=True, slots=True)
class Answer:
    sql: str = ""
    reasoning: str = ""
    failure: Failure = ""
    error: str = ""
    """Why there is no SQL, in words."""
    seconds: float = 0.0
    """From sending the request to receiving the whole reply."""
    confidence: float | None = None
    """0..1, if the participant reports it."""
    tokens: int | None = None
    """Tokens of all model calls together, if the participant reports them."""
    cost: float | None = None
    """In the participant's currency (usually US dollars), if the participant reports it."""
    note: str = ""
    """Harmless irregularities of the reply."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One way in which a wrong answer differs from gold."""

    category: Category
    reason: str


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of the two results, in JSON values; a few rows of each kind."""

    gold_columns: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    gold_rows: int = 0
    rows: int = 0
    missing: tuple[tuple[Any, ...], ...] = ()
    """Rows of gold that are missing from the answer."""
    extra: tuple[tuple[Any, ...], ...] = ()
    """Rows of the answer that are not in gold."""
    reordered: bool = False
    """The rows are the same, but in a different order."""


@dataclass(frozen=True, slots=True)
class Judgement:
    va: bool = False
    em: bool = False
    """Whether the texts are equal after normalisation; not checked when the rows differ."""
    ex: bool | None = False
    """None when gold itself fails: the answer counts as wrong, and the failure is reported separately."""
    bird_ex: bool | None = False
    ts: bool | None = None
    """None without a test suite. With one, it is False for every answer that is not right on every database, including
    a missing answer and a failed gold query."""
    ves: float | None = None
    gold_error: str | None = None
    error: str | None = None
    """Why the answer did not run."""
    dimensions: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(DIMENSIONS, 0.0))
    notes: Mapping[str, str] = field(default_factory=dict)
    """For each dimension, one sentence on why it is below 1."""
    overall: float = 0.0
    mistakes: tuple[Mistake, ...] = ()
    """The most serious first; empty for right answers and when there is no answer."""
    features: tuple[str, ...] = ()
    """Forms of SQL in gold."""
    answer_ms: float = 0.0
    difference: Difference | None = None
    """For wrong answers that ran."""

    @property
    def category(self) -> Category | None:
        return self.mistakes[0].category if self.mistakes else None

    @property
    def reason(self) -> str | None:
        """Why the answer is wrong: its most serious mistake, else why it did not run."""
        return self.mistakes[0].reason if self.mistakes else self.error


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One task of one participant: one line of results.jsonl."""

    participant: str
    task_id: str
    database: str
    dialect: str
    difficulty: str
    tags: tuple[str, ...]
    question: str
    gold: str
    answer: Answer
    judgement: Judgement

    @property
    def right(self) -> bool:
        return self.judgement.ex is True

    @property
    def key(self) -> tuple[str, str]:
        return self.participant, self.task_id

    def record(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> TaskResult:
        """Read a result from JSON. Raises ValueError for a record that is not a result."""
        return _reader().validate_python(record)


@cache
def _reader() -> TypeAdapter[TaskResult]:
    return TypeAdapter(TaskResult)
