"""Questions an hour against workers as a picture: what was measured, and what follows from it on paper.

In: rates measured for a few workers, and the seconds that the driver spends on each question. Out: SVG text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MOST = 100
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 720, 380, 90, 50, 24, 24


@dataclass(frozen=True, slots=True)
class Measured:
    an_hour: Mapping[int, float]
    """Questions an hour by the number of workers."""
    serial: float
    """Seconds of the driver's processor time for a question: the part that more workers do not share."""

    def on_paper(self, workers: int) -> float:
        """Questions an hour with so many workers, each on a core of its own as fast as the measured one: the workers'
        time is divided by their number, and no question can pass faster than the driver hands it out."""
        alone = 3600 / self.an_hour[1]
        return 3600 / max(alone / workers, self.serial)


def svg(measured: Measured) -> str:
    top = _round_up(measured.on_paper(MOST))
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def at(workers: float, rate: float) -> str:
        return f"{_LEFT + wide * workers / MOST:.1f},{_TOP + high * (1 - rate / top):.1f}"

    paper = " ".join(at(n, measured.on_paper(n)) for n in range(1, MOST + 1))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        'font-size="12" role="img" aria-label="Questions an hour against workers">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
    ]
    for part in range(5):
        y = _TOP + high * (1 - part / 4)
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{top * part / 4:,.0f}</text>')
    for workers in (1, 20, 40, 60, 80, 100):
        x = _LEFT + wide * workers / MOST
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{workers}</text>')
    parts.append(f'<text x="{_LEFT + wide / 2}" y="{_HEIGHT - 12}" text-anchor="middle">workers</text>')
    parts.append(f'<text x="{_LEFT}" y="16">questions an hour</text>')
    parts.append(f'<polyline points="{paper}" fill="none" stroke="#2563eb" stroke-dasharray="6 4" stroke-width="2"/>')
    for workers, rate in measured.an_hour.items():
        across, down = at(workers, rate).split(",")
        parts.append(f'<circle cx="{across}" cy="{down}" r="4" fill="#111"/>')
    parts.append(
        f'<text x="{_WIDTH - _RIGHT}" y="16" text-anchor="end">● measured, '
        '<tspan fill="#2563eb">- - on paper</tspan></text>'
    )
    return "\n".join([*parts, "</svg>", ""])


def _round_up(value: float) -> float:
    step = float(10 ** (len(str(int(value))) - 1))
    return (int(value / step) + 1) * step
