"""Draws the losses of a training run as an SVG file that needs no style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from eval.report.svg import Drawing

__all__ = ["loss_svg"]

WIDTH, HEIGHT, LEFT, BOTTOM = 640.0, 280.0, 52.0, 34.0
_STYLE = (
    "<style>text{font:12px sans-serif;fill:#5b6675}.path{stroke:#2f6fb7;stroke-width:1.5}.grid{stroke:#d9dee5}</style>"
)


def loss_svg(curve: Sequence[tuple[int, float]]) -> str:
    """`curve`: steps with their mean loss in nats per token of the reply."""
    drawing = Drawing(WIDTH, HEIGHT, "Loss of the replies over the steps of training", [_STYLE])
    highest = max((loss for _, loss in curve), default=1.0) or 1.0
    last = max((step for step, _ in curve), default=1) or 1

    def place(step: int, loss: float) -> tuple[float, float]:
        return LEFT + step / last * (WIDTH - LEFT - 16), HEIGHT - BOTTOM - loss / highest * (HEIGHT - BOTTOM - 20)

    for loss in (0.0, highest / 2, highest):
        x, y = place(0, loss)
        drawing.line(x, y, WIDTH - 16, y, "grid")
        drawing.text(x - 6, y + 4, f"{loss:.2f}", "tick", "end")
    drawing.text(LEFT, HEIGHT - 10, "step 0", "tick")
    drawing.text(WIDTH - 16, HEIGHT - 10, str(last), "tick", "end")
    for (step, loss), (after, then) in pairwise(curve):
        drawing.line(*place(step, loss), *place(after, then), "path")
    return drawing.render().replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"
