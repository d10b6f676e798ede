"""Compare two runs: paired by task, with McNemar's test and the items on which they differ.

In: the results of two runs over the same tasks, of one participant each. Out: a `Comparison`, as Markdown or a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.assessment import Figures, TaskResult, figures
from eval.metrics.intervals import mcnemar_exact
from eval.report.charts import percent, rates
from eval.report.escape import esc, md
from eval.report.html import rate_text
from eval.report.markdown import md_table
from eval.report.page import document, figure, table


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
    """The result of the test, in a sentence."""
    text = f"{len(of.only_first)} tasks are right for {of.first} alone, {len(of.only_second)} for {of.second} alone"
    p = of.p_value
    sense = "unlikely to be chance" if p < 0.05 else "which may well be chance"
    return f"{text}: McNemar's p = {p:.3g}, {sense}."


def comparison_markdown(of: Comparison) -> str:
    """The comparison as Markdown."""
    rows: list[tuple[str, ...]] = [
        (what, rate_text(x), rate_text(y))
        for what, x, y in zip(("EX", "VA"), *((f.ex, f.va) for f in of.figures), strict=True)
    ]
    rows += [("seconds a task", *(f"{f.seconds_mean:.2f}" for f in of.figures))]
    rows += [("overall", *(f"{f.overall:.3f}" for f in of.figures))]
    lines = [f"# {md(of.first)} and {md(of.second)}", "", md(verdict(of), 500), "", *_left_out(of)]
    lines += md_table(("", md(of.first), md(of.second)), rows)
    for name, pairs in ((of.first, of.only_first), (of.second, of.only_second)):
        lines += ["", f"## Right for {md(name)} alone: {len(pairs)}", ""]
        lines += [f"- {md(x.task_id)}: {md(x.question, 200)}" for x, _ in pairs]
    return "\n".join(lines) + "\n"


def comparison_html(of: Comparison) -> str:
    """The comparison as a self-contained page."""
    named = list(zip((of.first, of.second), of.figures, strict=True))
    rows = [
        [esc(name), f"{f.overall:.3f}", rate_text(f.ex), percent(f.va.value), f"{f.seconds_mean:.2f}"]
        for name, f in named
    ]
    body = [
        f"<h1>{esc(of.first)} and {esc(of.second)}</h1><p>{esc(verdict(of))}</p>",
        "".join(f"<p class=dim>{esc(line)}</p>" for line in _left_out(of) if line),
        table(("run", "overall", "EX (95 % interval)", "VA", "s a task"), rows, {1, 2, 3, 4}),
        '<h2>By difficulty</h2><div class="legend">'
        + "".join(f'<span><span class="key s{n}"></span>{esc(name)}</span>' for n, (name, _) in enumerate(named, 1))
        + "</div>",
        figure("EX with its 95 % interval", rates("EX by difficulty", [(n, f.by_difficulty) for n, f in named])),
        "<h2>By form of SQL</h2>",
        figure("EX with its 95 % interval", rates("EX by form of SQL", [(n, f.by_feature) for n, f in named])),
    ]
    for name, pairs in ((of.first, of.only_first), (of.second, of.only_second)):
        body.append(f"<h2>Right for {esc(name)} alone ({len(pairs)})</h2>")
        body += [_pair(of, x, y) for x, y in pairs]
    return document(f"{of.first} and {of.second}", body)


def _left_out(of: Comparison) -> list[str]:
    if not of.unpaired:
        return []
    return [f"{of.unpaired} results are of tasks that the other run does not have; they are left out.", ""]


def _pair(of: Comparison, x: TaskResult, y: TaskResult) -> str:
    level = f'<span class="tag">{esc(x.difficulty)}</span> ' if x.difficulty else ""
    return (
        f"<details><summary>{level}{esc(x.question)}</summary><div><h3>Gold</h3><pre>{esc(x.gold)}</pre>"
        f'<div class="pair"><div><h3>{esc(of.first)}</h3><pre>{esc(x.answer.sql) or "(no SQL)"}</pre>{_why(x)}</div>'
        f"<div><h3>{esc(of.second)}</h3><pre>{esc(y.answer.sql) or '(no SQL)'}</pre>{_why(y)}</div></div>"
        "</div></details>"
    )


def _why(r: TaskResult) -> str:
    reason = r.judgement.reason
    return f'<p class="bad">{esc(reason)}</p>' if reason and not r.right else ""
