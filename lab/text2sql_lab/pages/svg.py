"""The few shapes that the charts use, as SVG text for an HTML page.

In: coordinates in pixels from the top left. Out: a `Drawing` that renders itself. Colours are classes of the page's
style sheet, so that a chart follows the light and dark theme. Every text is escaped here.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Literal

from eval.report import visible

LETTER = 6.7
"""Width in pixels of an average letter of the charts' font, used to measure labels."""


@dataclass
class Drawing:
    """An SVG picture of a given size."""

    width: float
    height: float
    label: str
    """A description of the picture, for readers who cannot see it."""
    parts: list[str] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{style}"/>')

    def bar(self, x: float, y: float, width: float, height: float, style: str, title: str = "") -> None:
        size = f'x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{height:.1f}"'
        self.parts.append(f'<rect {size} rx="2" class="{style}">{_title(title)}</rect>')

    def dot(self, x: float, y: float, radius: float, style: str, title: str = "") -> None:
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="{style}">{_title(title)}</circle>'
        )

    def text(
        self, x: float, y: float, text: str, style: str = "", anchor: Literal["start", "middle", "end"] = "start"
    ) -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{style}">{esc(text)}</text>')

    def render(self) -> str:
        box = f'viewBox="0 0 {self.width:.0f} {self.height:.0f}"'
        size = f'style="max-width:{self.width:.0f}px"'
        return f'<svg {box} {size} role="img" aria-label="{esc(self.label)}">{"".join(self.parts)}</svg>'


def esc(text: object) -> str:
    """Escape for the inside of an element or of a quoted attribute."""
    return html.escape(visible(text), quote=True)


def _title(text: str) -> str:
    return f"<title>{esc(text)}</title>" if text else ""


def shortened(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1] + "…"
