"""Draws the chart of a kept answer as a PNG, with matplotlib where it is installed.

In: a kept answer with its rows. Out: the picture, or None where the answer is kept as a table. A text of the rows is
never read as a formula.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from agent.server.documents import cell_text
from agent.store.records import KeptRecord

BARS = 30
SERIES = 12
_LABEL = 28


def can_draw() -> bool:
    return find_spec("matplotlib") is not None


def drawn(answer: KeptRecord) -> bytes | None:
    """Takes up to a second the first time. Blocks."""
    rows = answer.result.rows if answer.result else []
    kind, x, y, series = (answer.chart.get(name, -1) for name in ("kind", "x", "y", "series"))
    there = rows and 0 <= x < len(rows[0]) and 0 <= y < len(rows[0]) and series < len(rows[0])
    if kind not in ("bar", "column", "line", "area", "scatter") or not there:
        return None
    from matplotlib.figure import Figure

    groups = _groups(rows, x, y, series, answer.chart.get("order", "given"), kind in ("bar", "column"))
    places = {
        label: place for place, label in enumerate(dict.fromkeys(at for points in groups.values() for at, _ in points))
    }
    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    axes = figure.subplots()
    width = 0.8 / max(1, len(groups))
    for number, (name, points) in enumerate(groups.items()):
        at = [places[label] for label, _ in points]
        values = [value for _, value in points]
        shifted = [place + (number - (len(groups) - 1) / 2) * width for place in at]
        label = _text(name)
        if kind == "bar":
            axes.barh(shifted, values, width, label=label)
        elif kind == "column":
            axes.bar(shifted, values, width, label=label)
        elif kind == "scatter":
            axes.scatter(at, values, label=label)
        else:
            axes.plot(at, values, label=label)
            if kind == "area":
                axes.fill_between(at, values, alpha=0.25)
    step = max(1, len(places) // (BARS if kind == "bar" else 10))
    marks = [(place, _text(label)) for label, place in places.items() if place % step == 0]
    columns = [_text(name) for name in (answer.result.columns if answer.result else [])]
    if kind == "bar":
        axes.set_yticks([place for place, _ in marks], [text for _, text in marks])
        axes.invert_yaxis()
        axes.set_xlabel(columns[y])
    else:
        axes.set_xticks([place for place, _ in marks], [text for _, text in marks], rotation=30, ha="right")
        axes.set_ylabel(columns[y])
    axes.set_title(_text(answer.title, 80))
    if len(groups) > 1:
        axes.legend()
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that its font does not have are boxes
        figure.savefig(file, format="png")
    return file.getvalue()


def _groups(
    rows: Sequence[Sequence[Any]], x: int, y: int, series: int, order: str, few: bool
) -> dict[str, list[tuple[str, float]]]:
    """The points of each series, by its name, in the order that was kept."""
    chosen = [row for row in rows if isinstance(row[y], int | float) and not isinstance(row[y], bool)]
    if order in ("largest", "smallest"):
        chosen.sort(key=lambda row: row[y], reverse=order == "largest")
    elif order == "name":
        chosen.sort(key=lambda row: cell_text(row[x]))
    groups: dict[str, list[tuple[str, float]]] = {}
    for row in chosen[:BARS] if few and series < 0 else chosen:
        name = cell_text(row[series]) if series >= 0 else ""
        if name in groups or len(groups) < SERIES:
            groups.setdefault(name, []).append((cell_text(row[x]), row[y]))
    return groups


def _text(text: str, most: int = _LABEL) -> str:
    """At most so many characters, none of which begins a formula."""
    return (text if len(text) <= most else text[: most - 1] + "…").replace("$", r"\$")
