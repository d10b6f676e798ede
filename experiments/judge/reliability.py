"""Reliability plots: how often answers of a stated probability are right, a small plot a source.

In: for each source the probabilities and labels of its answers. Out: a PNG file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.judge.fit_measures import calibration_error, reliability

_COLUMNS = 4
_SIDE = 2.2
"""Inches."""
_DOTS = 120
"""Per inch."""


def plot(sources: Mapping[str, tuple[Sequence[float], Sequence[bool]]], path: Path) -> None:
    """Write the plots of all sources. A dot is a tenth of the scale, as large as it has answers; its bar is the range
    of two standard errors, so a bar that meets the diagonal shows no fault."""
    from matplotlib.figure import Figure

    rows = math.ceil(len(sources) / _COLUMNS)
    figure = Figure(figsize=(_COLUMNS * _SIDE, rows * _SIDE), layout="tight")
    places = figure.subplots(rows, _COLUMNS, squeeze=False).flat
    for (name, (probabilities, labels)), place in zip(sources.items(), places, strict=False):
        place.plot((0, 1), (0, 1), color="0.7", linewidth=0.8)
        for b in reliability(probabilities, labels):
            error = 2 * math.sqrt(max(b.right * (1 - b.right), 0.25 / b.answers) / b.answers)
            place.errorbar(b.predicted, b.right, yerr=error, color="tab:blue", linewidth=0.8)
            place.scatter(b.predicted, b.right, s=4 + 60 * b.answers / len(labels), color="tab:blue")
        error = calibration_error(probabilities, labels)
        place.set_title(f"{name}\n{len(labels)} answers, ECE {error:.3f}", fontsize=8)
        place.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        place.tick_params(labelsize=7)
    for unused in places:
        unused.axis("off")
    figure.supxlabel("stated probability", fontsize=9)
    figure.supylabel("share of right answers", fontsize=9)
    figure.savefig(path, dpi=_DOTS, metadata={"Software": None})
