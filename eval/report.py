"""Reports of a run, for people: `summary.md`, `results.csv`, and a comparison of two runs.

In: results (`eval.assessment.TaskResult`) and the run's settings. Out: text. Everything from a model or a database is
escaped: `md` shows any text as it is and without effect, so with no markup, no control character and no mark that
changes the writing direction; in CSV, a text that a spreadsheet would read as a formula gets an apostrophe in front.
Two runs over the same tasks, of one participant each, are compared in pairs, with McNemar's test.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.assessment import Figures, TaskResult, figures, ranked
from eval.metrics.intervals import Rate, mcnemar_exact
from eval.scoring import DIMENSIONS

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]|~$])")
_BEGINNING = re.compile(r"^(\d*)([#+.)-])")
"""Markers of a heading or of a list item, also inside another item."""


def visible(text: object) -> str:
    """Show control characters as their escapes."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", str(text))


def md(text: object, longest: int = 300) -> str:
    """Escape for one cell or one line of Markdown."""
    flat = " ".join(visible(text).split())
    short = flat if len(flat) <= longest else flat[: longest - 1] + "…"
    return html.escape(_BEGINNING.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", short)), quote=False)


_FAILURES = 25


def summary_markdown(settings: Mapping[str, Any], results: Sequence[TaskResult]) -> str:
    """The whole text, with a line feed at its end."""
    participants = ranked(results)
    lines = ["# Text-to-SQL benchmark", ""]
    if missing := unfinished(settings, results):
        lines += [f"**{missing}**", ""]
    lines += [f"- {md(a)}: {md(b)}" for a, b in settings_lines(settings)]
    lines += ["", *_ranking(participants)]
    if participants:
        levels = [f.by_difficulty for f in participants]
        lines += ["", "## EX by difficulty", "", *_by(participants, "difficulty", levels)]
        lines += ["", "## EX by form of SQL", "", *_by(participants, "form", [f.by_feature for f in participants])]
        lines += ["", "## Mistakes", "", *_mistakes(participants)]
        rows = ((md(f.participant), *(f"{value:.2f}" for value in f.dimensions.values())) for f in participants)
        dimensions = md_table(("participant", *(name.replace("_", " ") for name in participants[0].dimensions)), rows)
        lines += ["", "## Dimensions, mean over all tasks", "", *dimensions]
        failed = sorted({task for f in participants for task in f.gold_failures})
        if failed:
            lines += ["", f"Gold failed for {len(failed)} tasks, which count as wrong: {md(', '.join(failed))}."]
        for f in participants:
            lines += ["", *_wrong(f, [r for r in results if r.participant == f.participant and not r.right])]
    return "\n".join(lines) + "\n"


def settings_lines(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The settings that a reader needs to interpret the figures."""
    samples = settings.get("samples") or 0
    return [
        ("Tasks", f"{settings.get('task_count', '?')} from {settings.get('source', '?')}"),
        ("Weights", str(settings.get("preset", "default"))),
        ("Examples given to participants", "none"),
        ("Rows of tables given to participants", f"{samples} of each" if samples else "none"),
        ("Seconds for a reply", f"{settings.get('timeout', 0):g}"),
        ("Seconds for a statement", f"{settings.get('sql_seconds', 0):g}"),
    ]


def unfinished(settings: Mapping[str, Any], results: Sequence[TaskResult]) -> str:
    """A sentence if there are fewer results than planned, else nothing."""
    planned = settings.get("task_count", 0) * len(settings.get("participants", []))
    if not isinstance(planned, int) or len(results) >= planned:
        return ""
    return f"Not finished: {len(results)} of {planned} results. The figures cover only those."


def figures_lines(results: Sequence[TaskResult]) -> list[str]:
    """One line per participant, as plain text for a terminal."""
    lines = []
    for f in ranked(results):
        kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in f.failures.items())
        figures = f"{visible(f.participant)}: EX {rate_text(f.ex)}; overall {f.overall:.3f}"
        lines.append(figures + (f"; no answer: {kinds}" if kinds else ""))
    return lines


def _ranking(participants: Sequence[Figures]) -> list[str]:
    head = ("participant", "overall", "EX (95 % interval)", "VA", "BIRD", "TS", "VES", "no answer", "s a task")
    return md_table(
        (*head, "tokens", "cost", "calibration error"),
        (
            (
                md(f.participant),
                f"{f.overall:.3f}",
                rate_text(f.ex),
                percent(f.va.value),
                percent(f.bird_ex.value),
                percent(f.ts.value) if f.ts else "–",
                f"{f.ves:.2f}" if f.ves is not None else "–",
                str(sum(f.failures.values())),
                f"{f.seconds_mean:.2f}",
                f"{f.tokens:,}" if f.tokens is not None else "–",
                f"{f.cost:.4g}" if f.cost is not None else "–",
                f"{f.calibration_error:.3f}" if f.calibration_error is not None else "–",
            )
            for f in participants
        ),
    )


def _by(participants: Sequence[Figures], what: str, rates: Sequence[Mapping[str, Rate]]) -> list[str]:
    keys = list(dict.fromkeys(key for by in rates for key in by))
    rows = ((md(key), *(rate_text(by[key]) if key in by else "–" for by in rates)) for key in keys)
    return md_table((what, *(md(f.participant) for f in participants)), rows)


def _mistakes(participants: Sequence[Figures]) -> list[str]:
    categories = [c for c in participants[0].categories if any(f.categories[c] for f in participants)]
    if not categories:
        return ["None."]
    rows = ((md(c), *(str(f.categories[c]) for f in participants)) for c in categories)
    return md_table(("category", *(md(f.participant) for f in participants)), rows)


def _wrong(of: Figures, wrong: Sequence[TaskResult]) -> list[str]:
    lines = [f"## Wrong answers of {md(of.participant)}: {len(wrong)}", ""]
    for r in wrong[:_FAILURES]:
        reason = r.judgement.gold_error or r.judgement.reason
        lines.append(f"- {md(r.task_id)}: {md(r.question, 160)} {md(reason or '', 200)}".rstrip())
        lines += beside_gold(r.gold, {"answer": r.answer.sql})
    if len(wrong) > _FAILURES:
        lines.append(f"- and {len(wrong) - _FAILURES} more, in results.csv; the rows that differ are in results.jsonl")
    return lines


def md_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of cells that are already safe."""
    return [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]


def beside_gold(gold: str, answers: Mapping[str, str]) -> list[str]:
    queries = {"gold": gold, **answers}
    return [f"  - {md(name)}: {md(sql, 500) or 'no SQL'}" for name, sql in queries.items()]


def percent(value: float) -> str:
    """`82.0 %`; `0 %` and `100 %` when exact."""
    rounded = round(100 * value, 1)
    return f"{rounded:.0f} %" if rounded in (0, 100) else f"{rounded:.1f} %"


def rate_text(rate: Rate) -> str:
    """`82.0 % (75.1 to 87.3 %), 123/150`."""
    low, high = rate.interval
    return f"{percent(rate.value)} ({percent(low).removesuffix(' %')} to {percent(high)}), {rate.right}/{rate.total}"


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


_FORMULA = tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20")


def results_csv(results: Iterable[TaskResult]) -> str:
    rows = [_row(result) for result in results]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["participant"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _row(r: TaskResult) -> Mapping[str, Any]:
    judged, answer = r.judgement, r.answer
    row = {
        "participant": r.participant,
        "task_id": r.task_id,
        "database": r.database,
        "dialect": r.dialect,
        "difficulty": r.difficulty,
        "tags": ", ".join(r.tags),
        "question": r.question,
        "sql": answer.sql,
        "va": judged.va,
        "em": judged.em,
        "ex": judged.ex,
        "bird_ex": judged.bird_ex,
        "ts": judged.ts,
        "ves": judged.ves,
        "overall": judged.overall,
        **{name: judged.dimensions[name] for name in DIMENSIONS},
        "failure": answer.failure,
        "error": judged.error or answer.error,
        "gold_error": judged.gold_error,
        "category": judged.category,
        "seconds": round(answer.seconds, 3),
        "execution_time_ms": judged.answer_ms,
        "confidence": answer.confidence,
        "tokens": answer.tokens,
        "cost": answer.cost,
    }
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: object) -> object:
    """A value that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA) else value
