"""Judge one answer against gold: run both, read-only and bounded; compute metrics, dimensions, mistakes and
differences.

In: a `JudgeRequest`. Out: a `Judgement`. Runs in a separate process (`eval.assessment.sandbox`). Gold is executed again
for each answer, and `at` reports which of the two is running.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from eval.assessment.records import Difference, Judgement, Mistake
from eval.assessment.taxonomy import mistakes
from eval.databases import Database, DatabaseError, ExecutionResult, Limits, open_database
from eval.databases.values import json_value
from eval.examination import Query, examine
from eval.metrics.comparison import same_result, same_set
from eval.metrics.items import compare_items, exact_match, executed, ves
from eval.metrics.suites import suite_databases
from eval.scoring import Score, score
from eval.scoring.dimensions import weights
from eval.sql import ParsedQuery, orders_rows, parse

WRONG_AT_MOST = 0.25
"""The highest overall score of a wrong answer, regardless of its other dimensions."""
ROWS = 1_000_000
BYTES = 64 * 1024 * 1024
CELL_BYTES = 8 * 1024 * 1024
_KEPT_OPEN = 8


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """The input for judging one answer; it is sent to the judging process."""

    target: str
    """Path or URL of the database, with credentials if it has any."""
    question: str
    golds: tuple[str, ...]
    """In the database's dialect; the first is the gold query, the others are also right."""
    sql: str
    reasoning: str
    preset: str = "default"
    seconds: float = 30.0
    """Timeout for each statement, in seconds."""
    features: tuple[str, ...] = ()
    """Forms of SQL in gold."""
    suite: tuple[Path, ...] = ()
    timed: bool = False
    """Whether to measure VES too."""

    @property
    def limits(self) -> Limits:
        return Limits(seconds=self.seconds, rows=ROWS, bytes=BYTES, cell_bytes=CELL_BYTES)


def judge(request: JudgeRequest, at: Callable[[str], None] = lambda _: None) -> Judgement:
    """Judge one answer. `at` is called with `gold`, `answer` and `suite` when each begins. Never raises for errors in
    SQL; a database that cannot be opened is a gold failure."""
    at("gold")
    unanswered = nothing_right(request)
    try:
        database = _opened(request.target)
        schema = database.schema()
    except DatabaseError as error:
        return replace(unanswered, ex=None, bird_ex=None, gold_error=str(error))
    gold, wanted = _run(request.golds[0], database, request.limits)
    at("answer")
    query = Query(request.question, request.sql, reasoning=request.reasoning)
    case = examine(query, database, schema=schema, limits=request.limits, send_unknown_names=True)
    outcome = case.result or ExecutionResult("error", error=case.verdict.reason)
    ordered = orders_rows(gold)
    right = same_result(wanted, outcome, ordered=ordered) if wanted.ok else None
    bird = same_set(wanted, outcome) if wanted.ok else None
    if right is False and outcome.ok:
        for other in request.golds[1:]:
            at("gold")
            alternative, result = _run(other, database, request.limits)
            if same_result(result, outcome, ordered=orders_rows(alternative)):
                gold, wanted, right = alternative, result, True
                break
    if not request.sql.strip():
        return replace(unanswered, ex=right, bird_ex=bird, gold_error=wanted.error, error=outcome.error)
    case = replace(case, gold=wanted if wanted.ok else None, gold_ordered=orders_rows(gold))
    scored = score(case, request.preset)
    dimensions = {**scored.dimensions, "correctness": float(right is True)}
    reasons: tuple[Mistake, ...] = ()
    if right is False:
        reasons = mistakes(case.parsed, case.verdict, case.references, outcome, gold, wanted, schema)
    at("suite")
    return Judgement(
        va=outcome.ok,
        em=right is not False and any(exact_match(g, request.sql, database.dialect) for g in request.golds),
        ex=right,
        bird_ex=bird,
        ts=_on_suite(request, database, right),
        ves=None if right is None or not request.timed else ves(gold, case.parsed, right, database, request.limits),
        gold_error=wanted.error,
        error=outcome.error,
        dimensions={name: round(value, 4) for name, value in dimensions.items()},
        notes=_notes(scored, right),
        overall=round(overall(dimensions, right=right is True, preset=request.preset), 4),
        mistakes=reasons,
        features=request.features,
        answer_ms=round(outcome.execution_time_ms, 3),
        difference=difference(wanted, outcome, ordered=ordered) if right is False and outcome.ok else None,
    )


def overall(dimensions: dict[str, float], *, right: bool, preset: str) -> float:
    """The weighted sum of the dimensions for a right answer. A wrong answer gets at most WRONG_AT_MOST: the weighted
    mean of the dimensions other than correctness, scaled to that maximum, because safe, fast and readable SQL for
    another question is worth little. Raises ValueError for an unknown preset."""
    by_name = weights(preset)
    if right:
        return sum(by_name[name] * value for name, value in dimensions.items())
    rest = {name: weight for name, weight in by_name.items() if name != "correctness"}
    return WRONG_AT_MOST * sum(w * dimensions[name] for name, w in rest.items()) / sum(rest.values())


def _run(sql: str, database: Database, limits: Limits) -> tuple[ParsedQuery, ExecutionResult]:
    parsed = _parsed(sql, database.dialect)
    return parsed, executed(parsed, database, limits)


_parsed = lru_cache(maxsize=512)(parse)
"""The query, parsed once: the same gold query comes with each participant. The tree is never changed."""


def _notes(scored: Score, right: bool | None) -> dict[str, str]:
    notes = {name: text for name, text in scored.notes.items() if name != "correctness"}
    if right is None:
        return {**notes, "correctness": "The gold query failed, so the answer cannot be judged."}
    return notes if right else {**notes, "correctness": "The result differs from the gold query's."}


def _on_suite(request: JudgeRequest, database: Database, right: bool | None) -> bool | None:
    """TS against each accepted gold: right on the database and on every replica. None without a suite."""
    if not request.suite:
        return None
    if not right:
        return False
    verdicts = (
        compare_items(g, request.sql, database, suite=suite_databases(request.suite), limits=request.limits).ts
        for g in request.golds
    )
    return any(verdicts)


def nothing_right(request: JudgeRequest) -> Judgement:
    """The judgement when there is no answer or judging failed: all 0, with the known facts about the task."""
    return Judgement(features=request.features, ts=False if request.suite else None)


_open: OrderedDict[str, Database] = OrderedDict()


def _opened(target: str) -> Database:
    """Open a database, or return this process's open one. Raises DatabaseError."""
    if target in _open:
        _open.move_to_end(target)
        return _open[target]
    database = _open[target] = open_database(target, isolation="none")  # this process is a child itself
    while len(_open) > _KEPT_OPEN:
        _open.popitem(last=False)[1].close()
    return database


SHOWN = 5
"""Rows of each kind."""
_LOOKED_AT = 20_000
"""Rows of each result that are compared for this; beyond them only the counts are reported."""
_CELL = 120
_COLUMNS = 12


def difference(gold: ExecutionResult, other: ExecutionResult, *, ordered: bool) -> Difference:
    expected, actual = (
        [tuple(map(_cell, row[:_COLUMNS])) for row in islice(r.rows, _LOOKED_AT)] for r in (gold, other)
    )
    missing, extra = _less(expected, actual), _less(actual, expected)
    return Difference(
        gold_columns=tuple(map(str, gold.columns[:_COLUMNS])),
        columns=tuple(map(str, other.columns[:_COLUMNS])),
        gold_rows=len(gold.rows),
        rows=len(other.rows),
        missing=missing,
        extra=extra,
        reordered=ordered and same_result(gold, other, ordered=False),
    )


def _less(these: list[tuple[Any, ...]], those: list[tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
    there = Counter(map(repr, those))
    missing = []
    for row in these:
        if there[key := repr(row)] > 0:
            there[key] -= 1
            continue
        missing.append(row)
        if len(missing) == SHOWN:
            break
    return tuple(missing)


def _cell(value: object) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(bytes(value)):,} bytes>"
    cell = json_value(value)
    if isinstance(cell, float):
        return float(f"{cell:.9g}")
    if isinstance(cell, list | dict):
        cell = str(cell)
    return cell[: _CELL - 1] + "…" if isinstance(cell, str) and len(cell) > _CELL else cell
