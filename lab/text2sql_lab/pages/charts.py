"""The charts of a page: rates with intervals, accuracy against time or cost.

In: figures of the participants, in the order of their colours. Out: SVG text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from eval.metrics.intervals import Rate
from eval.report import percent
from text2sql_lab.pages.svg import LETTER, Drawing, shortened

WIDTH = 760.0
_BAR = 13.0
_GAP = 9.0
_VALUE = 118.0


def colour(place: int) -> str:
    """The class of the n-th participant. The style sheet has eight; beyond that, colours repeat."""
    return f"s{place % 8 + 1}"


def rates(title: str, groups: Sequence[tuple[str, Mapping[str, Rate]]], letters: int = 30) -> str:
    """Bars of rates by category, one colour per participant, with 95 % intervals. `groups`: name and rates of each;
    `letters`: the most that are shown of a category."""
    keys = list(dict.fromkeys(key for _, by in groups for key in by))
    left = min(letters, max([4, *map(len, keys)])) * LETTER + 14
    span = WIDTH - left - _VALUE
    row = _BAR * len(groups) + _GAP
    drawing = Drawing(WIDTH, len(keys) * row + 26, title)
    bottom = len(keys) * row
    for tick in range(0, 101, 20):
        x = left + span * tick / 100
        drawing.line(x, 0, x, bottom, "grid")
        drawing.text(x, bottom + 16, f"{tick} %", "tick", "middle")
    for number, key in enumerate(keys):
        top = number * row + _GAP / 2
        drawing.text(left - 8, top + _BAR * len(groups) / 2 + 4, shortened(key, letters), "label", "end")
        for place, (name, by) in enumerate(groups):
            rate = by.get(key)
            if rate is None:
                continue
            y = top + place * _BAR
            low, high = rate.interval
            label = f"{percent(rate.value)} ({rate.right}/{rate.total})"
            title_ = f"{name}, {key}: {label}, 95 % interval {percent(low)} to {percent(high)}"
            drawing.bar(left, y, span * rate.value, _BAR - 2, colour(place), title_)
            middle = y + (_BAR - 2) / 2
            drawing.line(left + span * low, middle, left + span * high, middle, "whisker")
            for end in (low, high):
                drawing.line(left + span * end, middle - 3, left + span * end, middle + 3, "whisker")
            drawing.text(left + span + 8, y + _BAR - 3.5, label, "tick")
    return drawing.render()


def against(participants: Sequence[tuple[str, Rate, float | None]], what: str) -> str:
    """Accuracy (EX, with its interval) against a figure such as seconds per task; one dot for each participant that has
    it."""
    points = [(place, name, ex, x) for place, (name, ex, x) in enumerate(participants) if x is not None]
    if not points:
        return ""
    highest = max(x for *_, x in points)
    power = 10.0 ** math.floor(math.log10(highest)) if highest > 0 else 1.0
    # the next 1, 2 or 5 times a power of ten, so that ticks are round
    most = next(factor * power for factor in (1, 2, 5, 10) if highest * 1.05 <= factor * power or factor == 10)
    drawing, at = _square(f"Accuracy against {what}", what, most)
    labels: list[tuple[float, float, float]] = []
    for place, name, ex, x in points:
        low, high = ex.interval
        label = f"{name}: {percent(ex.value)} at {x:.3g} {what}"
        drawing.line(*at(x, low), *at(x, high), f"{colour(place)} stem")
        left, top = at(x, ex.value)
        drawing.dot(left, top, 6, colour(place), label)
        text = f"{shortened(name, 24)}, {percent(ex.value)}"
        end, wide = x > most * 0.6, len(text) * LETTER
        begin = left - 11 - wide if end else left + 11
        while any(abs(top - y) < 13 and begin < x2 and x1 < begin + wide for x1, x2, y in labels):
            top += 13  # names must not cover each other
        labels.append((begin, begin + wide, top))
        drawing.text(left - 11 if end else left + 11, top + 4, text, "label", "end" if end else "start")
    return drawing.render()


def _square(title: str, across: str, most: float) -> tuple[Drawing, Callable[[float, float], tuple[float, float]]]:
    """Axes: a figure from 0 to `most` on the horizontal axis, a share from 0 to 1 on the vertical one."""
    left, top, wide, high = 58.0, 12.0, 470.0, 290.0
    drawing = Drawing(left + wide + 40, top + high + 44, title)

    def at(x: float, share: float) -> tuple[float, float]:
        return left + wide * min(1.0, x / most), top + high * (1 - share)

    for step in range(6):
        share = step / 5
        x, y = at(most * share, share)
        drawing.line(left, y, left + wide, y, "grid")
        drawing.text(left - 8, y + 4, f"{100 * share:.0f} %", "tick", "end")
        drawing.line(x, top, x, top + high, "grid")
        drawing.text(x, top + high + 16, f"{most * share:.3g}", "tick", "middle")
    drawing.text(left + wide / 2, top + high + 36, across, "label", "middle")
    return drawing, at
