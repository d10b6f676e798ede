"""The statistics of an ablation: rates with intervals, and each variant against the first, question by question.

In: `ItemResult`s. Out: frozen numbers. A failure counts 0 in every rate. A question whose gold query fails counts as
wrong for every variant, and the report names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from eval.metrics.intervals import Rate, mcnemar_exact, paired_interval, percentile
from experiments.ablation.variants import ItemResult


@dataclass(frozen=True, slots=True)
class Figures:
    """One variant."""

    variant: str
    questions: int
    va: Rate
    em: Rate
    ex: Rate
    ts: Rate | None
    """None when no question has a test suite."""
    reported: Rate | None
    """EX as the recording reports it."""
    calls: float
    """Model calls per question, on average; the next three are averages too."""
    tokens: tuple[float, float] | None
    """Input and output; None when the endpoint reports none."""
    cost_usd: float | None
    seconds: float
    seconds_median: float
    seconds_p95: float
    first_word: tuple[float, float] | None
    """Seconds to the model's first word: median and 95th percentile; None where no model was called."""


def figures(variant: str, results: Sequence[ItemResult]) -> Figures:
    suites = [c for c in results if c.ts is not None]
    reported = [c for c in results if c.reported_ex is not None]
    counted = any(c.input_tokens or c.output_tokens for c in results)
    first = [c.first_word_seconds for c in results if c.first_word_seconds is not None]
    costs = [c.cost_usd for c in results if c.cost_usd is not None]
    return Figures(
        variant=variant,
        questions=len(results),
        va=_rate(results, lambda c: c.va),
        em=_rate(results, lambda c: c.em),
        ex=_rate(results, lambda c: c.ex),
        ts=_rate(suites, lambda c: bool(c.ts)) if suites else None,
        reported=_rate(reported, lambda c: bool(c.reported_ex)) if reported else None,
        calls=_mean([c.calls for c in results]),
        tokens=(_mean([c.input_tokens for c in results]), _mean([c.output_tokens for c in results]))
        if counted
        else None,
        cost_usd=sum(costs) / len(costs) if costs and len(costs) == len(results) else None,
        seconds=_mean([c.seconds for c in results]),
        seconds_median=percentile([c.seconds for c in results], 0.5),
        seconds_p95=percentile([c.seconds for c in results], 0.95),
        first_word=(percentile(first, 0.5), percentile(first, 0.95)) if first else None,
    )


def _rate(results: Sequence[ItemResult], right: Callable[[ItemResult], bool]) -> Rate:
    return Rate(sum(map(right, results)), len(results))


def _mean(numbers: Sequence[float]) -> float:
    return mean(numbers) if numbers else 0.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two variants on the questions that both answered."""

    first: str
    second: str
    questions: int
    only_first: int
    """Right for the first only."""
    only_second: int
    both: int

    @property
    def difference(self) -> float:
        """The second's rate minus the first's."""
        return (self.only_second - self.only_first) / self.questions if self.questions else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, Newcombe's for paired rates."""
        neither = self.questions - self.both - self.only_first - self.only_second
        return paired_interval(self.both, self.only_first, self.only_second, neither)

    @property
    def p(self) -> float:
        """McNemar's exact p-value for the hypothesis that both are equally good."""
        return mcnemar_exact(self.only_first, self.only_second)


def pair(
    first: Sequence[ItemResult],
    second: Sequence[ItemResult],
    right: Callable[[ItemResult], bool | None] = lambda c: c.ex,
) -> Pair:
    """Compare two variants by a metric; questions for which either has no value are left out."""
    there = {c.id: right(c) for c in second}
    pairs = [(a, b) for c in first if (a := right(c)) is not None and (b := there.get(c.id)) is not None]
    return Pair(
        first[0].variant if first else "",
        second[0].variant if second else "",
        len(pairs),
        sum(a and not b for a, b in pairs),
        sum(b and not a for a, b in pairs),
        sum(a and b for a, b in pairs),
    )


@dataclass(frozen=True, slots=True)
class Spread:
    """The rates of one variant over its seeds."""

    group: str
    seeds: int
    ex: tuple[float, float]
    """Mean and standard deviation (of a sample)."""
    ts: tuple[float, float] | None
    low: float
    high: float
    """The least and the greatest EX."""


def spreads(results: Sequence[tuple[str, Sequence[ItemResult]]], groups: Mapping[str, str]) -> list[Spread]:
    """The variants of which several seeds were run. `groups`: variant → what its seeds share."""
    by_name: dict[str, list[Figures]] = {}
    for name, items in results:
        by_name.setdefault(groups.get(name) or name, []).append(figures(name, items))
    several = {group: seeds for group, seeds in by_name.items() if len(seeds) > 1}
    return [_spread(group, seeds) for group, seeds in several.items()]


def _spread(group: str, seeds: Sequence[Figures]) -> Spread:
    ex = [f.ex.value for f in seeds]
    ts = [f.ts.value for f in seeds if f.ts]
    both = (mean(ts), stdev(ts)) if len(ts) > 1 else None
    return Spread(group, len(seeds), (mean(ex), stdev(ex)), both, min(ex), max(ex))
