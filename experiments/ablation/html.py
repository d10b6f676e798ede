"""The report of an ablation as one page: figures, tables, and every question with gold and the replies.

In: the results of each variant. Out: HTML without scripts or external resources. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.ablation.charts import (
    amounts,
    by_difficulty,
    by_strategy,
    funnel,
    legend,
    outcome_legend,
    outcomes,
)
from experiments.ablation.report import EXPLANATION, VariantResults, sections
from experiments.ablation.variants import ItemResult
from text2sql_lab.pages.page import document, figure, table
from text2sql_lab.pages.svg import esc

_SHOWN = 4_000
"""Characters of a reply."""
_NEAR = "<p class=dim>A near miss: gold's rows but for repeats, or the columns of one are among the other's.</p>"
_INTERVALS = "With 95 % Wilson intervals; questions in brackets"


def page(results: Sequence[VariantResults], groups: Mapping[str, str], notes: Sequence[str]) -> str:
    """The whole page."""
    names = legend([esc(name) for name, _ in results])
    tokens = [(name, [float(c.input_tokens + c.output_tokens) for c in items]) for name, items in results]
    seconds = [(name, [c.seconds for c in items]) for name, items in results]
    suites = any(c.ts is not None for _, items in results for c in items)
    body = [
        "<h1>Ablation</h1>",
        *(f"<p>{esc(note)}</p>" for note in notes),
        "<h2>EX by strategy</h2>",
        legend(["EX", "TS"]) if suites else "",
        figure(_INTERVALS, by_strategy(results)),
        "<h2>From valid to right</h2>",
        names,
        figure(
            "VA: it runs. EM: gold's own text. EX: gold's result. TS: gold's result on every replica.", funnel(results)
        ),
        "<h2>What became of the answers</h2>",
        outcome_legend(),
        figure("", outcomes(results)) if all(c.outcome for _, items in results for c in items) else "",
        _NEAR,
        *_difficulty(results, names),
        *_amounts("Tokens a question", amounts("Tokens a question", tokens, "tokens")),
        *_amounts("Seconds a question", amounts("Seconds a question", seconds, "s")),
    ]
    for title, cells in sections(results, groups):
        rows = [[esc(cell) for cell in row] for row in cells[1:]]
        body += [f"<h2>{esc(title)}</h2>", table([esc(c) for c in cells[0]], rows, set(range(1, len(cells[0]))))]
    body += [f"<p class=dim>{esc(EXPLANATION)}</p>", "<h2>The questions</h2>", *_questions(results)]
    return document("Ablation", body)


def _difficulty(results: Sequence[VariantResults], names: str) -> list[str]:
    drawing = by_difficulty(results)
    return ["<h2>Right by difficulty</h2>", names, figure(_INTERVALS, drawing)] if drawing else []


def _amounts(title: str, drawing: str) -> list[str]:
    caption = "Median; the line holds the middle half of the questions"
    return [f"<h2>{title}</h2>", figure(caption, drawing)] if drawing else []


def _questions(results: Sequence[VariantResults]) -> list[str]:
    """Each question once, the most often failed first, with what each variant made of it."""
    by_question: dict[str, list[tuple[str, ItemResult]]] = {}
    for name, items in results:
        for item in items:
            by_question.setdefault(item.id, []).append((name, item))
    order = sorted(by_question.values(), key=lambda answers: sum(item.ex for _, item in answers))
    return [_question(answers) for answers in order]


def _question(answers: Sequence[tuple[str, ItemResult]]) -> str:
    one, right = answers[0][1], sum(item.ex for _, item in answers)
    style = "good" if right == len(answers) else "bad" if not right else "dim"
    parts = [f"<p class=dim>gold</p><pre>{esc(one.gold_sql)}</pre>"]
    for name, item in answers:
        verdict = item.outcome or ("exact" if item.ex else "not exact")
        shown = "good" if item.ex else "bad"
        why = f" – {esc(item.error[:300])}" if item.error else ""
        parts.append(f'<p><span class="{shown}">{esc(verdict)}</span> {esc(name)}{why}</p>')
        parts.append(f"<pre>{esc(item.sql) or '(no query)'}</pre>")
        if item.raw and item.raw.strip() != item.sql.strip():
            parts.append(f"<p class=dim>reply, as it came</p><pre>{esc(item.raw[:_SHOWN])}</pre>")
    title = f'<b class="{style}">{right} of {len(answers)}</b> {esc(one.question or one.id)}'
    tags = f' <span class="tag">{esc(one.difficulty)}</span>' if one.difficulty else ""
    return f"<details><summary>{title}{tags}</summary><div>{''.join(parts)}</div></details>"
