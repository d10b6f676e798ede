"""What is known of one answer: what the participant said (`Answer`), what it is worth (`Judgement`), both with their
task (`TaskResult`).

In: nothing. Out: frozen values that cross processes and that are written to and read from JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

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
    """What a participant said to one task."""

    sql: str = ""
    reasoning: str = ""
    failure: Failure = ""
    error: str = ""
    """In words, why there is no SQL."""
    seconds: float = 0.0
    """From the request to the whole reply."""
    confidence: float | None = None
    """0..1, where the participant gives it."""
    tokens: int | None = None
    """Of all model calls together, where the participant gives it."""
    cost: float | None = None
    """In the participant's currency (US dollars by custom), where it gives it."""
    note: str = ""
    """What was odd about the reply and did no harm."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One way in which a wrong answer differs from gold."""

    category: Category
    reason: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the two results part, in JSON values; a few rows of each kind."""

    gold_columns: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    gold_rows: int = 0
    rows: int = 0
    missing: tuple[tuple[Any, ...], ...] = ()
    """Rows of gold that the answer lacks."""
    extra: tuple[tuple[Any, ...], ...] = ()
    """Rows of the answer that gold lacks."""
    reordered: bool = False
    """The same rows in another order than gold's."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one answer is worth."""

    va: bool = False
    em: bool = False
    """Equal text after normalisation; not looked at where the rows are others."""
    ex: bool | None = False
    """None when gold itself fails: it counts as not right, and is reported apart."""
    bird_ex: bool | None = False
    ts: bool | None = None
    """None without a test suite; with one, whatever is not right on every database is False, no answer and a failed
    gold among them."""
    ves: float | None = None
    gold_error: str | None = None
    error: str | None = None
    """Why the answer did not run."""
    dimensions: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(DIMENSIONS, 0.0))
    notes: Mapping[str, str] = field(default_factory=dict)
    """By dimension, one sentence on why it is not 1."""
    overall: float = 0.0
    mistakes: tuple[Mistake, ...] = ()
    """The weightiest first; empty for right answers and where there is no answer."""
    features: tuple[str, ...] = ()
    """Forms of SQL that gold has."""
    gold_ms: float = 0.0
    answer_ms: float = 0.0
    difference: Difference | None = None
    """For wrong answers that ran."""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """One task, one participant: one line of results.jsonl."""

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

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> TaskResult:
        """Back from JSON. Raises TypeError or KeyError for a record that is none."""
        judged = dict(record["judgement"])
        gap = judged["difference"]
        judged["difference"] = (
            None
            if gap is None
            else Difference(
                tuple(gap["gold_columns"]),
                tuple(gap["columns"]),
                gap["gold_rows"],
                gap["rows"],
                tuple(tuple(row) for row in gap["missing"]),
                tuple(tuple(row) for row in gap["extra"]),
                gap["reordered"],
            )
        )
        judged["mistakes"] = tuple(Mistake(**m) for m in judged["mistakes"])
        judged["features"] = tuple(judged["features"])
        return TaskResult(
            **{
                **record,
                "tags": tuple(record["tags"]),
                "answer": Answer(**record["answer"]),
                "judgement": Judgement(**judged),
            }
        )
