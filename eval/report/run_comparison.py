"""Compare two runs: paired by task, with McNemar's test and the items on which they differ.

In: the results of two runs over the same tasks, of one participant each. Out: a `Comparison`, as Markdown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.assessment import Figures, TaskResult, figures
from eval.metrics.intervals import mcnemar_exact
from eval.report.markdown import beside_gold, md, md_table, rate_text


@dataclass(frozen=True, slots=True)
class Comparison:
    """The common tasks of two runs and where the runs differ."""

    first: str
    second: str
    figures: tuple[Figures, Figures]
    """Over the common tasks."""
    only_first: tuple[tuple[TaskResult, TaskResult], ...]
    """Tasks that only the first run got right, each with both results."""
    only_second: tuple[tuple[TaskResult, TaskResult], ...]
    unpaired: int
    """Tasks that only one of the two runs has; they are left out."""

    @property
    def p_value(self) -> float:
        """McNemar's exact test, two-sided: the p-value that both are equally good."""
        return mcnemar_exact(len(self.only_first), len(self.only_second))


def compare(first: str, a: Sequence[TaskResult], second: str, b: Sequence[TaskResult]) -> Comparison:
    """Pair two runs. Tasks match when id, question and gold are the same. Raises ValueError when the runs have no
    common task."""
    there = {(r.task_id, r.question, r.gold): r for r in b}
    pairs = [(r, there[key]) for r in a if (key := (r.task_id, r.question, r.gold)) in there]
    if not pairs:
        raise ValueError("the two runs have no task in common")
    return Comparison(
        first,
        second,
        (figures([x for x, _ in pairs]), figures([y for _, y in pairs])),
        tuple((x, y) for x, y in pairs if x.right and not y.right),
        tuple((x, y) for x, y in pairs if y.right and not x.right),
        len(a) + len(b) - 2 * len(pairs),
    )


def verdict(of: Comparison) -> str:
    text = f"{len(of.only_first)} tasks are right for {of.first} alone, {len(of.only_second)} for {of.second} alone"
    p = of.p_value
    sense = "unlikely to be chance" if p < 0.05 else "which may well be chance"
    return f"{text}: McNemar's p = {p:.3g}, {sense}."


def comparison_markdown(of: Comparison) -> str:
    rows: list[tuple[str, ...]] = [
        (what, rate_text(x), rate_text(y))
        for what, x, y in zip(("EX", "VA"), *((f.ex, f.va) for f in of.figures), strict=True)
    ]
    rows += [("seconds a task", *(f"{f.seconds_mean:.2f}" for f in of.figures))]
    rows += [("overall", *(f"{f.overall:.3f}" for f in of.figures))]
    lines = [f"# {md(of.first)} and {md(of.second)}", "", md(verdict(of), 500), ""]
    if of.unpaired:
        lines += [f"{of.unpaired} results are of tasks that the other run does not have; they are left out.", ""]
    lines += md_table(("", md(of.first), md(of.second)), rows)
    for name, pairs in ((of.first, of.only_first), (of.second, of.only_second)):
        lines += ["", f"## Right for {md(name)} alone: {len(pairs)}", ""]
        for x, y in pairs:
            lines.append(f"- {md(x.task_id)}: {md(x.question, 200)}")
            lines += beside_gold(x.gold, {of.first: x.answer.sql, of.second: y.answer.sql})
    return "\n".join(lines) + "\n"
