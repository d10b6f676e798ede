"""A ladder for people: tables for the terminal, and the same as Markdown with the verdicts that differ.

In: a folder's rungs and what they climbed. Out: `rich` tables, or text. Databases' and models' text is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.ladder.figures import Figures, Pair, Rate, figures, pair
from agent.ladder.rungs import Climbed

if TYPE_CHECKING:
    from rich.table import Table

Climb = tuple[str, Sequence[Climbed]]
Rows = list[tuple[str, ...]]

_HEAD = ("strategy", "n", "VA", "EM", "EX (95 %)", "TS (95 %)", "calls", "tokens in/out", "$", "s, median")
_PAIRED = ("against the first", "EX difference (95 %)", "won", "lost", "p", "TS difference (95 %)", "p")


def rows(climbs: Sequence[Climb]) -> Rows:
    """The cells of the table of figures, behind its headings."""
    return [_HEAD, *(_row(figures(name, climbed)) for name, climbed in climbs)]


def paired_rows(climbs: Sequence[Climb]) -> Rows:
    """Each rung against the first, question by question."""
    if len(climbs) < 2:
        return []
    first = climbs[0][1]
    found: Rows = [_PAIRED]
    for name, climbed in climbs[1:]:
        by_ex = pair(first, climbed)
        by_ts = pair(first, climbed, lambda c: c.ts)
        suites = (_difference(by_ts), f"{by_ts.p:.2g}") if by_ts.questions else ("–", "–")
        found.append(
            (name, _difference(by_ex), str(by_ex.only_second), str(by_ex.only_first), f"{by_ex.p:.2g}", *suites)
        )
    return found


def reported_rows(climbs: Sequence[Climb]) -> Rows:
    """What a recording says of its own answers, beside what was measured here."""
    found: Rows = [("strategy", "EX reported", "EX measured", "verdicts that differ")]
    for name, climbed in climbs:
        told = figures(name, climbed).reported
        if told is not None:
            found.append((name, f"{told.value:.3f}", f"{figures(name, climbed).ex.value:.3f}", _differing(climbed)))
    return found if len(found) > 1 else []


def _differing(climbed: Sequence[Climbed]) -> str:
    ids = [c.id for c in climbed if c.reported_ex is not None and c.reported_ex != c.ex]
    return f"{len(ids)}: {', '.join(ids)}" if ids else "none"


def _row(f: Figures) -> tuple[str, ...]:
    tokens = f"{f.tokens[0]:,.0f} / {f.tokens[1]:,.0f}" if f.tokens else "–"
    cost = f"{f.cost_usd:.4f}" if f.cost_usd is not None and (f.cost_usd or not f.calls) else "–"
    suites = _rate(f.ts) if f.ts else "–"
    rates = (f"{f.va.value:.3f}", f"{f.em.value:.3f}", _rate(f.ex), suites)
    return (f.rung, str(f.questions), *rates, f"{f.calls:.1f}", tokens, cost, f"{f.seconds_median:.2f}")


def _rate(rate: Rate) -> str:
    low, high = rate.interval
    return f"{rate.value:.3f} ({low:.3f}-{high:.3f})"


def _difference(of: Pair) -> str:
    low, high = of.interval
    return f"{of.difference:+.3f} ({low:+.3f} to {high:+.3f})"


def tables(climbs: Sequence[Climb], notes: Sequence[str]) -> list[Table | str]:
    """What the terminal shows."""
    titled = (
        ("Strategies", rows(climbs)),
        ("Paired differences", paired_rows(climbs)),
        ("Against what the recording reports", reported_rows(climbs)),
    )
    return [*(_table(title, cells) for title, cells in titled if cells), *notes, *_failed_golds(climbs)]


def _table(title: str, cells: Rows) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for number, heading in enumerate(cells[0]):
        table.add_column(heading, justify="right" if number else "left", overflow="fold")
    for row in cells[1:]:
        table.add_row(*(Text(cell) for cell in row))
    return table


def markdown(climbs: Sequence[Climb], notes: Sequence[str]) -> str:
    """The same as a page."""
    lines = ["# Ladder", ""]
    for title, cells in (
        ("Strategies", rows(climbs)),
        ("Paired differences", paired_rows(climbs)),
        ("Against what the recording reports", reported_rows(climbs)),
    ):
        if cells:
            lines += [f"## {title}", "", *_markdown_table(cells), ""]
    lines += [note + "\n" for note in (*notes, *_failed_golds(climbs))]
    lines.append(
        "Rates count every question; a failure is 0. Intervals: Wilson for a rate, Newcombe's method 10 for a paired "
        "difference; p is McNemar's, exact. Figures after TS are means for one question, but for the seconds."
    )
    return "\n".join(lines) + "\n"


def _markdown_table(cells: Rows) -> list[str]:
    def line(row: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in row) + " |"

    marks = ["---", *["---:"] * (len(cells[0]) - 1)]
    return [line(cells[0]), "| " + " | ".join(marks) + " |", *map(line, cells[1:])]


def _failed_golds(climbs: Sequence[Climb]) -> list[str]:
    failed = sorted({c.id for _, climbed in climbs for c in climbed if c.gold_error})
    return [f"The gold query fails for {', '.join(failed)}; counted as wrong."] if failed else []
