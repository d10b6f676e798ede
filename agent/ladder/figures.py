"""The figures of a ladder: rates with intervals, and each rung against the first, question by question.

In: `Climbed` questions. Out: frozen numbers. A failure counts 0 in every rate; a question whose gold query fails is
wrong for everybody and is named in the report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, median

from agent.ladder.rungs import Climbed
from eval.metrics.intervals import mcnemar_exact, paired_interval, wilson_interval


@dataclass(frozen=True, slots=True)
class Rate:
    right: int
    of: int

    @property
    def value(self) -> float:
        return self.right / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, Wilson."""
        return wilson_interval(self.right, self.of)


@dataclass(frozen=True, slots=True)
class Figures:
    """One rung."""

    rung: str
    questions: int
    va: Rate
    em: Rate
    ex: Rate
    ts: Rate | None
    """None where no question has a test suite."""
    reported: Rate | None
    """EX as the recording reports it."""
    calls: float
    """Of the model, for one question, on average; so are the next three."""
    tokens: tuple[float, float] | None
    """In and out; None where the endpoint reports none."""
    cost_usd: float | None
    seconds: float
    seconds_median: float


def figures(rung: str, climbed: Sequence[Climbed]) -> Figures:
    suites = [c for c in climbed if c.ts is not None]
    told = [c for c in climbed if c.reported_ex is not None]
    counted = any(c.input_tokens or c.output_tokens for c in climbed)
    costs = [c.cost_usd for c in climbed if c.cost_usd is not None]
    return Figures(
        rung=rung,
        questions=len(climbed),
        va=_rate(climbed, lambda c: c.va),
        em=_rate(climbed, lambda c: c.em),
        ex=_rate(climbed, lambda c: c.ex),
        ts=_rate(suites, lambda c: bool(c.ts)) if suites else None,
        reported=_rate(told, lambda c: bool(c.reported_ex)) if told else None,
        calls=_mean([c.calls for c in climbed]),
        tokens=(_mean([c.input_tokens for c in climbed]), _mean([c.output_tokens for c in climbed]))
        if counted
        else None,
        cost_usd=sum(costs) / len(costs) if costs and len(costs) == len(climbed) else None,
        seconds=_mean([c.seconds for c in climbed]),
        seconds_median=median([c.seconds for c in climbed]) if climbed else 0.0,
    )


def _rate(climbed: Sequence[Climbed], right: Callable[[Climbed], bool]) -> Rate:
    return Rate(sum(map(right, climbed)), len(climbed))


def _mean(numbers: Sequence[float]) -> float:
    return mean(numbers) if numbers else 0.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rungs on the questions that both have."""

    first: str
    second: str
    questions: int
    only_first: int
    """Right for the first alone."""
    only_second: int
    both: int

    @property
    def difference(self) -> float:
        """How much the second's rate is above the first's."""
        return (self.only_second - self.only_first) / self.questions if self.questions else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, Newcombe's for paired rates."""
        neither = self.questions - self.both - self.only_first - self.only_second
        return paired_interval(self.both, self.only_first, self.only_second, neither)

    @property
    def p(self) -> float:
        """McNemar's exact p-value that both are equally good."""
        return mcnemar_exact(self.only_first, self.only_second)


def pair(
    first: Sequence[Climbed], second: Sequence[Climbed], right: Callable[[Climbed], bool | None] = lambda c: c.ex
) -> Pair:
    """Compare two rungs by a metric; questions for which either has none are left out."""
    there = {c.id: right(c) for c in second}
    pairs = [(a, b) for c in first if (a := right(c)) is not None and (b := there.get(c.id)) is not None]
    return Pair(
        first[0].rung if first else "",
        second[0].rung if second else "",
        len(pairs),
        sum(a and not b for a, b in pairs),
        sum(b and not a for a, b in pairs),
        sum(a and b for a, b in pairs),
    )
