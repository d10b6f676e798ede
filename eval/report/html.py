"""The HTML report of one run: each participant's scores, breakdowns and cost, and every wrong answer next to gold.

In: the run's settings and results. Out: one self-contained page. docs/benchmark.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eval.assessment import Figures, TaskResult, ranked
from eval.assessment.types import Difference
from eval.metrics.intervals import Rate
from eval.report.charts import against, calibration, colour, percent, rates, taxonomy
from eval.report.escape import esc
from eval.report.page import document, figure, table

SHOWN = 400
"""Wrong answers of one participant that are shown in full; the others are in results.jsonl."""


def report_html(settings: Mapping[str, Any], results: Sequence[TaskResult]) -> str:
    """The page. If there are fewer results than tasks, the page says so."""
    participants = ranked(results)
    body = [_opening(settings, results), _ranking(participants)]
    if participants:
        legend = _legend(participants)
        body += [
            "<h2>Accuracy by difficulty</h2>",
            legend,
            figure(_INTERVALS, rates("EX by difficulty", [(f.participant, f.by_difficulty) for f in participants])),
            "<h2>Accuracy by form of SQL</h2>",
            "<p class=dim>Forms that the gold query has; a task counts under each of its forms.</p>",
            legend,
            figure(_INTERVALS, rates("EX by form of SQL", [(f.participant, f.by_feature) for f in participants])),
            "<h2>Mistakes</h2>",
            "<p class=dim>Each wrong answer once, under its most important difference from gold.</p>",
            legend,
            figure("", taxonomy(participants)),
            _unanswered(participants),
            "<h2>Time and cost against accuracy</h2>",
            '<div class="pair">',
            figure("", against(participants, lambda f: f.seconds_mean, "seconds a task (mean)")),
            figure("", against(participants, lambda f: f.cost, "cost of the run")) or _NO_COST,
            "</div>",
            _calibration(participants, legend),
            _gold_failures(participants),
            *(_wrong_answers(f, [r for r in results if r.participant == f.participant]) for f in participants),
        ]
    return document("Text-to-SQL benchmark", body)


_INTERVALS = "EX with its 95 % Wilson interval; tasks in brackets"
_NO_COST = "<p class=dim>No answer reported its cost.</p>"


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


def _opening(settings: Mapping[str, Any], results: Sequence[TaskResult]) -> str:
    lines = "".join(f"<tr><th>{esc(a)}</th><td>{esc(b)}</td></tr>" for a, b in settings_lines(settings))
    missing = unfinished(settings, results)
    warning = f'<p class="bad">{missing}</p>' if missing else ""
    return f'<h1>Text-to-SQL benchmark</h1>{warning}<table class="facts">{lines}</table>'


def _ranking(participants: Sequence[Figures]) -> str:
    if not participants:
        return "<p>There are no results.</p>"
    rows = []
    for place, f in enumerate(participants):
        low, high = f.ex.interval
        rows.append(
            [
                f"{_key(place)}{esc(f.participant)}",
                f"{f.overall:.3f}",
                percent(f.ex.value),
                f"{percent(low)} to {percent(high)}",
                f"{f.ex.right}/{f.ex.total}",
                percent(f.va.value),
                percent(f.bird_ex.value),
                percent(f.ts.value) if f.ts else "–",
                f"{f.ves:.2f}" if f.ves is not None else "–",
                str(sum(f.failures.values())),
                f"{f.seconds_mean:.2f}",
                f"{f.tokens:,}" if f.tokens is not None else "–",
                f"{f.cost:.4g}" if f.cost is not None else "–",
            ]
        )
    heads = ("participant", "overall", "EX", "95 % interval", "right", "VA", "BIRD", "TS", "VES", "no answer")
    body = table((*heads, "s a task", "tokens", "cost"), rows, set(range(1, 13)))
    by = [
        [f"{_key(n)}{esc(f.participant)}", *(f"{v:.2f}" for v in f.dimensions.values())]
        for n, f in enumerate(participants)
    ]
    names = [name.replace("_", " ") for name in participants[0].dimensions]
    return (
        f"<h2>Ranking</h2>{body}<p class=dim>EX: the same rows as gold. VA: it runs. A task without an answer, and one "
        "whose gold fails, counts as wrong. The overall score is the weighted sum of the dimensions for a right "
        "answer; a wrong one has 0.25 at most.</p>"
        f"<h3>Dimensions, mean over all tasks</h3>{table(('participant', *names), by, set(range(1, 8)))}"
    )


def _calibration(participants: Sequence[Figures], legend: str) -> str:
    drawn = calibration(participants)
    if not drawn:
        return "<h2>Confidence</h2><p class=dim>No answer reported a confidence.</p>"
    errors = ", ".join(
        f"{esc(f.participant)} {f.calibration_error:.3f}" for f in participants if f.calibration_error is not None
    )
    return (
        f"<h2>Confidence</h2><p class=dim>How often answers are right, by the confidence that they reported. On the "
        f"line, confidence equals accuracy. Calibration error (ECE): {errors}.</p>{legend}" + figure("", drawn)
    )


def _unanswered(participants: Sequence[Figures]) -> str:
    """Tasks without an answer, by kind; these are not mistakes in SQL."""
    kinds = sorted({kind for f in participants for kind in f.failures})
    if not kinds:
        return ""
    heads = ("no answer", *(esc(kind.replace("_", " ")) for kind in kinds))
    rows = [
        [f"{_key(place)}{esc(f.participant)}", *(f"{f.failures.get(kind, 0)}" for kind in kinds)]
        for place, f in enumerate(participants)
    ]
    return table(heads, rows, set(range(1, len(heads))))


def _gold_failures(participants: Sequence[Figures]) -> str:
    failed = sorted({task for f in participants for task in f.gold_failures})
    if not failed:
        return ""
    tasks = ", ".join(map(esc, failed[:100]))
    return f"<h2>Gold queries that failed</h2><p>{len(failed)} tasks, which count as wrong: {tasks}.</p>"


def _wrong_answers(of: Figures, results: Iterable[TaskResult]) -> str:
    wrong = [r for r in results if not r.right]
    if not wrong:
        return f"<h2>Wrong answers of {esc(of.participant)}</h2><p>None.</p>"
    more = f"<p class=dim>{len(wrong) - SHOWN} more are in results.jsonl.</p>" if len(wrong) > SHOWN else ""
    entries = "".join(_entry(r) for r in wrong[:SHOWN])
    return f"<h2>Wrong answers of {esc(of.participant)} ({len(wrong)})</h2>{entries}{more}"


def _entry(r: TaskResult) -> str:
    judged = r.judgement
    if judged.gold_error is not None:
        kind = "gold failed"
    elif r.answer.failure:
        kind = r.answer.failure.replace("_", " ")
    else:
        kind = (judged.category or "wrong").replace("_", " ")
    reasons = "".join(
        f"<li><span class=dim>{esc(m.category.replace('_', ' '))}:</span> {esc(m.reason)}</li>" for m in judged.mistakes
    )
    problem = judged.gold_error or judged.error
    level = f'<span class="tag">{esc(r.difficulty)}</span> ' if r.difficulty else ""
    return (
        f'<details><summary>{level}<span class="tag">{esc(kind)}</span> {esc(r.question)}</summary><div>'
        f'<p class="dim">{esc(r.task_id)}, {esc(r.database)} on {esc(r.dialect)}; {r.answer.seconds:.2f} s</p>'
        f'<div class="pair"><div><h3>Gold</h3><pre>{esc(r.gold)}</pre></div>'
        f"<div><h3>Answer</h3><pre>{esc(r.answer.sql) or '(no SQL)'}</pre></div></div>"
        + (f'<p class="bad">{esc(problem)}</p>' if problem else "")
        + (f"<ul>{reasons}</ul>" if reasons else "")
        + (difference_html(judged.difference) if judged.difference else "")
        + (f'<p class="dim">It said: {esc(r.answer.reasoning[:600])}</p>' if r.answer.reasoning else "")
        + "</div></details>"
    )


def difference_html(gap: Difference) -> str:
    """Rows that only one of the two results has."""
    counts = f"Gold has {gap.gold_rows:,} rows, the answer {gap.rows:,}."
    if gap.reordered:
        return f"<p>{counts} They are the same rows in another order.</p>"
    parts = [f"<p>{counts}</p>"]
    for what, style, columns, rows in (
        ("Only in gold", "good", gap.gold_columns, gap.missing),
        ("Only in the answer", "bad", gap.columns, gap.extra),
    ):
        if rows:
            shown = table([esc(c) for c in columns], [[_cell(v) for v in row] for row in rows])
            parts.append(f'<div><h3 class="{style}">{what}</h3>{shown}</div>')
    return parts[0] + f'<div class="pair">{"".join(parts[1:])}</div>'


def _cell(value: Any) -> str:
    return '<span class="dim">NULL</span>' if value is None else esc(value)


def _legend(participants: Sequence[Figures]) -> str:
    if len(participants) == 1:
        return ""
    entries = "".join(f"<span>{_key(n)}{esc(f.participant)}</span>" for n, f in enumerate(participants))
    return f'<div class="legend">{entries}</div>'


def _key(place: int) -> str:
    return f'<span class="key {colour(place)}"></span>'


def rate_text(rate: Rate) -> str:
    """`82.0 % (75.1 to 87.3 %), 123/150`."""
    low, high = rate.interval
    return f"{percent(rate.value)} ({percent(low).removesuffix(' %')} to {percent(high)}), {rate.right}/{rate.total}"
