"""The statistics of a replay: questions with their attempts, each known to be right or wrong → counts and tables.

In: `Replayed` questions. Out: `Tally`s and tables for a terminal. Every question is in every denominator; those whose
gold query fails are counted as wrong and named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from eval.metrics.intervals import Rate, mcnemar_exact

if TYPE_CHECKING:
    from rich.table import Table

_DIFFICULTIES = ("easy", "medium", "hard", "extra")


@dataclass(frozen=True, slots=True)
class Attempt:
    sql: str
    right: bool
    passed: bool
    """The gate accepted it."""
    score: float
    retried_for: str | None
    """The category of the feedback for its retry; None when it was not retried."""


@dataclass(frozen=True, slots=True)
class Replayed:
    id: str
    database: str
    difficulty: str
    gold_ran: bool
    attempts: tuple[Attempt, ...]
    final_sql: str
    final_right: bool
    status: str
    """As in `agent.runner.Answer`."""
    reason: str
    """Why there is no answer, for status `error`."""
    seconds: float

    @property
    def first_right(self) -> bool:
        return bool(self.attempts) and self.attempts[0].right

    @property
    def first_passed(self) -> bool:
        return bool(self.attempts) and self.attempts[0].passed

    @property
    def retries(self) -> int:
        """Attempts made again with feedback. Further candidates and revisions are attempts, but not retries."""
        return sum(attempt.retried_for is not None for attempt in self.attempts)

    def line(self) -> dict[str, Any]:
        """As a JSON object."""
        return {**asdict(self), "first_right": self.first_right, "retries": self.retries}


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over some questions. A rate is a count divided by `questions` unless stated otherwise."""

    questions: int
    first_right: int
    final_right: int
    any_right: int
    """At least one attempt is right: the upper bound for choosing among the attempts made."""
    retries: int
    retried: int
    """Questions with at least one retry."""
    repaired: int
    """First attempt wrong, final answer right."""
    spoiled: int
    """First attempt right, final answer wrong."""
    right_rejected: int
    """First attempts that were right but did not pass; of `first_right`."""
    wrong_passed: int
    """First attempts that were wrong and passed; of `questions - first_right`."""
    errors: int
    gold_failed: int

    @property
    def p(self) -> float:
        """McNemar's exact p-value for the hypothesis that first and final answers are equally good."""
        return mcnemar_exact(self.spoiled, self.repaired)


def tally(items: Sequence[Replayed]) -> Tally:
    return Tally(
        questions=len(items),
        first_right=sum(i.first_right for i in items),
        final_right=sum(i.final_right for i in items),
        any_right=sum(any(a.right for a in i.attempts) for i in items),
        retries=sum(i.retries for i in items),
        retried=sum(i.retries > 0 for i in items),
        repaired=sum(i.final_right and not i.first_right for i in items),
        spoiled=sum(i.first_right and not i.final_right for i in items),
        right_rejected=sum(i.first_right and not i.first_passed for i in items),
        wrong_passed=sum(i.first_passed and not i.first_right for i in items),
        errors=sum(i.status == "error" for i in items),
        gold_failed=sum(not i.gold_ran for i in items),
    )


def by_difficulty(items: Sequence[Replayed]) -> dict[str, list[Replayed]]:
    """Easy first; other levels of a benchmark follow, by name."""
    names = {i.difficulty for i in items}
    ordered = [*(d for d in _DIFFICULTIES if d in names), *sorted(names - set(_DIFFICULTIES))]
    return {name: [i for i in items if i.difficulty == name] for name in ordered}


@dataclass(frozen=True, slots=True)
class Category:
    """The outcome of the attempts that were retried with one kind of feedback."""

    retries: int
    needless: int
    """The attempt that was retried was right."""
    next_right: int
    """The next attempt was right."""


def by_category(items: Sequence[Replayed]) -> dict[str, Category]:
    counts: dict[str, Counter[str]] = {}
    for item in items:
        for attempt, following in zip(item.attempts, item.attempts[1:], strict=False):
            if attempt.retried_for is not None:
                count = counts.setdefault(attempt.retried_for, Counter())
                count.update(retries=1, needless=attempt.right, next_right=following.right)
    ordered = sorted(counts.items(), key=lambda entry: -entry[1]["retries"])
    return {name: Category(c["retries"], c["needless"], c["next_right"]) for name, c in ordered}


def tables(items: Sequence[Replayed]) -> Iterator[Table | str]:
    """All output of a replay, ready to be printed."""
    groups = {**by_difficulty(items), "all": list(items)} if len(by_difficulty(items)) > 1 else {"all": list(items)}
    tallies = {name: tally(group) for name, group in groups.items()}
    yield _table(
        "Right answers (EX, 95 % intervals) and what the retries cost",
        ("questions", "n", "attempt 1", "final answer", "repaired", "spoiled", "retries"),
        [
            (
                name,
                t.questions,
                Rate(t.first_right, t.questions),
                Rate(t.final_right, t.questions),
                t.repaired,
                t.spoiled,
                t.retries,
            )
            for name, t in tallies.items()
        ],
    )
    yield _table(
        "The gate on first attempts",
        ("questions", "right, rejected", "share of right", "wrong, passed", "share of wrong"),
        [
            (
                name,
                t.right_rejected,
                Rate(t.right_rejected, t.first_right),
                t.wrong_passed,
                Rate(t.wrong_passed, t.questions - t.first_right),
            )
            for name, t in tallies.items()
        ],
    )
    if categories := by_category(items):
        yield _table(
            "Retries by category",
            ("category", "retries", "of a right answer", "next one right"),
            [(name, c.retries, c.needless, c.next_right) for name, c in categories.items()],
        )
    whole = tallies["all"]
    yield (
        f"{whole.retried} of {whole.questions} questions retried. First against final: p = {whole.p:.3g} (McNemar)."
        f" Some attempt right: {Rate(whole.any_right, whole.questions)}."
    )
    if whole.errors:
        yield f"{whole.errors} questions ended in an error, and count as wrong."
    if failed := [i.id for i in items if not i.gold_ran]:
        yield f"The gold query fails for {', '.join(failed)}; counted as wrong."


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else "left")
    for row in rows:
        table.add_row(*map(str, row))
    return table
