"""The figures of an ablation as SVG: rates with intervals, outcomes, and an amount for each question.

In: the results of each variant. Out: SVG text for `text2sql_lab.pages.page`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import quantiles

from eval.metrics.intervals import Rate
from experiments.ablation.outcomes import DIFFICULTIES, OUTCOMES
from experiments.ablation.statistics import figures
from experiments.ablation.variants import ItemResult
from text2sql_lab.pages.charts import colour, rates
from text2sql_lab.pages.svg import LETTER, Drawing, shortened

Results = Sequence[tuple[str, Sequence[ItemResult]]]
WIDTH, ROW = 760.0, 24.0
_NAME = 46
"""Letters of a name at most."""
_SHADES = ("s3", "s2", "s7", "s8")
"""The colours of `OUTCOMES`."""


def by_strategy(results: Results) -> str:
    """EX, and TS where there is one."""
    all_figures = [figures(name, items) for name, items in results]
    groups: list[tuple[str, Mapping[str, Rate]]] = [("EX", {_short(f.variant): f.ex for f in all_figures})]
    if any(f.ts for f in all_figures):
        groups.append(("TS", {_short(f.variant): f.ts for f in all_figures if f.ts}))
    return rates("EX and TS by strategy", groups, _NAME)


def funnel(results: Results) -> str:
    """VA, EM, EX and TS of each variant."""
    groups = []
    for name, items in results:
        f = figures(name, items)
        groups.append((name, {"VA": f.va, "EM": f.em, "EX": f.ex} | ({"TS": f.ts} if f.ts else {})))
    return rates("From valid to right", groups)


def by_difficulty(results: Results) -> str:
    """EX at each level of difficulty; empty where the results tell none."""
    known = {item.difficulty for _, items in results for item in items if item.difficulty}
    levels = sorted(known, key=lambda level: (DIFFICULTIES.index(level) if level in DIFFICULTIES else 99, level))
    groups = [(name, {level: _rate(items, level) for level in levels}) for name, items in results]
    return rates("EX by difficulty", groups) if levels else ""


def _rate(items: Sequence[ItemResult], level: str) -> Rate:
    here = [item for item in items if item.difficulty == level]
    return Rate(sum(item.ex for item in here), len(here))


def outcomes(results: Results) -> str:
    """What became of the answers, as parts of a bar."""
    left = _label_width(results)
    drawing = Drawing(WIDTH, len(results) * ROW + 4, "What became of the answers")
    span = WIDTH - left - 10
    for number, (name, items) in enumerate(results):
        x, y = left, number * ROW + 3
        counts = Counter(item.outcome for item in items)
        drawing.text(left - 8, y + 13, _short(name), "label", "end")
        for outcome, shade in zip(OUTCOMES, _SHADES, strict=True):
            share = counts[outcome] / max(1, len(items))
            drawing.bar(x, y, max(0.0, span * share - 1), ROW - 6, shade, f"{name}, {outcome}: {counts[outcome]}")
            if share > 0.06:
                drawing.text(x + span * share / 2, y + 13, str(counts[outcome]), "inside", "middle")
            x += span * share
    return drawing.render()


def amounts(title: str, results: Sequence[tuple[str, Sequence[float]]], unit: str) -> str:
    """The median of an amount a question, with the middle half of the questions as a line."""
    most = max((_quarters(values)[2] for _, values in results), default=0.0)
    if not most:
        return ""
    left = _label_width(results)
    span = WIDTH - left - 150
    drawing = Drawing(WIDTH, len(results) * ROW + 4, title)
    for number, (name, values) in enumerate(results):
        low, middle, high = _quarters(values)
        y = number * ROW + 3
        label = f"{middle:,.4g} {unit} ({low:,.4g} to {high:,.4g})"
        drawing.text(left - 8, y + 13, _short(name), "label", "end")
        drawing.bar(left, y, span * middle / most, ROW - 6, colour(number), f"{name}: {label}")
        drawing.line(left + span * low / most, y + 9, left + span * high / most, y + 9, "whisker")
        drawing.text(left + span * max(middle, high) / most + 8, y + 13, f"{middle:,.4g} {unit}", "tick")
    return drawing.render()


def legend(names: Sequence[str]) -> str:
    """Names beside the colours of their places; the names are safe HTML."""
    keys = "".join(f'<span><i class="key {colour(n)}"></i>{name}</span>' for n, name in enumerate(names))
    return f'<p class="legend">{keys}</p>'


def outcome_legend() -> str:
    pairs = zip(OUTCOMES, _SHADES, strict=True)
    keys = "".join(f'<span><i class="key {shade}"></i>{outcome}</span>' for outcome, shade in pairs)
    return f'<p class="legend">{keys}</p>'


def _quarters(values: Sequence[float]) -> tuple[float, float, float]:
    if len(values) < 2:
        one = values[0] if values else 0.0
        return one, one, one
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return low, middle, high


def _short(name: str) -> str:
    return shortened(name, _NAME)


def _label_width(results: Sequence[tuple[str, object]]) -> float:
    return min(_NAME, max([4, *(len(name) for name, _ in results)])) * LETTER + 14
