"""One answer: what the participant said (`Answer`), its score (`Judgement`), and both with their task (`TaskResult`).

In: nothing. Out: frozen values that cross process boundaries and that are written to and read from JSON. `figures`
computes the statistics of a participant, which the reports and the evaluator's artifact use: every task is in every
denominator, and every rate has Wilson's interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from statistics import fmean
from typing import Any, Literal

from pydantic import TypeAdapter

from eval.metrics.intervals import Rate
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


@dataclass(frozen=True, slots=True)
class Band:
    """A confidence band: the answers in it, and how many of them were right."""

    confidence: float
    """Mean, 0..1."""
    rate: Rate


@dataclass(frozen=True, slots=True)
class Figures:
    participant: str
    overall: float
    """Mean overall score, 0..1."""
    dimensions: dict[str, float]
    """Mean of each of the seven dimensions, 0..1; `correctness` is EX."""
    va: Rate
    em: Rate
    ex: Rate
    bird_ex: Rate
    ts: Rate | None
    """None without test suites; tasks without a suite are not counted."""
    ves: float | None
    by_difficulty: dict[str, Rate]
    by_feature: dict[str, Rate]
    failures: dict[str, int]
    """Tasks without an answer, by kind."""
    categories: dict[str, int]
    """Wrong answers by the category of their most serious mistake."""
    gold_failures: tuple[str, ...]
    """Ids of tasks whose gold query failed; they count as not right."""
    seconds_mean: float
    tokens: int | None
    """Sum over the answers that reported a value; None if none did."""
    cost: float | None
    calibration: tuple[Band, ...]
    """Empty when no confidence was reported."""
    calibration_error: float | None
    """Expected calibration error (ECE) over the bands, 0..1."""


def figures(results: Sequence[TaskResult]) -> Figures:
    """Compute the statistics of one participant. Raises ValueError when there are no results."""
    if not results:
        raise ValueError("there are no results to count")
    judged = [r.judgement for r in results]
    tried = [j.ts for j in judged if j.ts is not None]
    timed = [j.ves for j in judged if j.ves is not None]
    tokens = [r.answer.tokens for r in results if r.answer.tokens is not None]
    costs = [r.answer.cost for r in results if r.answer.cost is not None]
    bands = calibration(results)
    rated = sum(band.rate.total for band in bands)
    off = sum(band.rate.total * abs(band.confidence - band.rate.value) for band in bands)
    primary = Counter(category for r in results if (category := r.judgement.category))
    return Figures(
        participant=results[0].participant,
        overall=fmean(j.overall for j in judged),
        dimensions={name: fmean(j.dimensions[name] for j in judged) for name in DIMENSIONS},
        va=Rate(sum(j.va for j in judged), len(judged)),
        em=Rate(sum(j.em for j in judged), len(judged)),
        ex=_rate(results),
        bird_ex=Rate(sum(j.bird_ex is True for j in judged), len(judged)),
        ts=Rate(sum(tried), len(tried)) if tried else None,
        ves=sum(timed) / len(judged) if timed else None,
        by_difficulty=_by(results, lambda r: (r.difficulty or "unrated",)),
        by_feature=_by(results, lambda r: r.judgement.features),
        failures=dict(Counter(r.answer.failure for r in results if r.answer.failure)),
        categories={c: primary[c] for group in GROUPS.values() for c in group},
        gold_failures=tuple(r.task_id for r in results if r.judgement.gold_error is not None),
        seconds_mean=fmean(r.answer.seconds for r in results),
        tokens=sum(tokens) if tokens else None,
        cost=sum(costs) if costs else None,
        calibration=bands,
        calibration_error=off / rated if rated else None,
    )


def ranked(results: Iterable[TaskResult]) -> list[Figures]:
    """The statistics of each participant, the best overall score first."""
    by_name: dict[str, list[TaskResult]] = {}
    for result in results:
        by_name.setdefault(result.participant, []).append(result)
    return sorted(map(figures, by_name.values()), key=lambda f: (-f.overall, f.participant))


def _rate(results: Iterable[TaskResult]) -> Rate:
    rights = [r.right for r in results]
    return Rate(sum(rights), len(rights))


def _by(results: Iterable[TaskResult], keys: Callable[[TaskResult], Iterable[str]]) -> dict[str, Rate]:
    groups: dict[str, list[TaskResult]] = {}
    for result in results:
        for key in keys(result):
            groups.setdefault(key, []).append(result)
    order = ("easy", "simple", "medium", "moderate", "hard", "challenging", "extra", "enterprise")
    ranked = sorted(groups, key=lambda key: (order.index(key) if key in order else len(order), key))
    return {key: _rate(groups[key]) for key in ranked}


def calibration(results: Sequence[TaskResult]) -> tuple[Band, ...]:
    """The answers that report a confidence, in bands of width 0.1: mean confidence against the share of right
    answers."""
    by_band: dict[int, list[tuple[float, bool]]] = {}
    for result in results:
        confidence = result.answer.confidence
        if confidence is not None and not result.answer.failure:
            by_band.setdefault(min(9, int(confidence * 10)), []).append((confidence, result.right))
    return tuple(
        Band(fmean(c for c, _ in by_band[band]), Rate(sum(right for _, right in by_band[band]), len(by_band[band])))
        for band in sorted(by_band)
    )
