"""The registry of doubts: each has a name, a check, the highest confidence that it leaves, a sentence and its choices.

In: a `View` of a reading. Out: a `Judgement`: the doubts raised, the gravest first. A check yields a `Finding` for each
cause. A doubt that rests on its choices is raised only where one of them returns other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from experiments.grammar_parser.plan.algebra import Select
from experiments.grammar_parser.trust.view import View

OPEN = 0.3
"""The highest confidence of a reading that leaves a decisive part of the question open: it is not answered."""
DOUBTFUL = 0.6
"""The highest confidence of a reading that assumes something: it is answered, and says what it assumed."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What else may be meant, for one click: another plan, and what tells it apart in a few words."""

    plan: Select
    label: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause of a doubt."""

    sentence: str
    choices: tuple[Choice, ...] = ()
    word: str = ""
    """The words of the question that it is about."""


Check = Callable[[View], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Doubt:
    """One reason to trust a reading less."""

    name: str
    cap: float
    check: Check
    rests_on_choices: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """The doubts about one reading with their causes, the gravest first."""

    raised: tuple[tuple[Doubt, Finding], ...] = ()

    @property
    def cap(self) -> float:
        return min((d.cap for d, _ in self.raised), default=1.0)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(d.name for d, _ in self.raised))

    @property
    def sentence(self) -> str:
        """The gravest doubt in words; empty where there is none."""
        return next((f.sentence for _, f in self.raised), "")

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What else may be meant, at most four."""
        return tuple({c.plan: c for _, f in self.raised for c in f.choices}.values())[:4]


DOUBTS: list[Doubt] = []


def doubt(name: str, cap: float, *, rests_on_choices: bool = False) -> Callable[[Check], Check]:
    """Register a check as a doubt."""

    def register(check: Check) -> Check:
        DOUBTS.append(Doubt(name, cap, check, rests_on_choices))
        return check

    return register


def judged(view: View) -> Judgement:
    """All doubts about a reading."""
    raised = []
    for each in DOUBTS:
        for finding in each.check(view):
            kept = tuple(c for c in finding.choices if c.plan != view.plan and not view.same_rows(c.plan))
            if kept or not each.rests_on_choices:
                raised.append((each, replace(finding, choices=kept)))
    return Judgement(tuple(sorted(raised, key=lambda pair: pair[0].cap)))
