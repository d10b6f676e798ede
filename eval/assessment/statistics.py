"""The statistics of a participant: every task is in every denominator, and every rate has Wilson's interval.

In: the results of one participant. Out: `Figures`, which the reports and the evaluator's artifact use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from eval.assessment.records import GROUPS, TaskResult
from eval.metrics.intervals import Rate
from eval.scoring import DIMENSIONS


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
