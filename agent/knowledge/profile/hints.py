"""Data notes for a model that writes SQL: the most useful lines of the profile, within a token budget.

In: a `Profile` computed in the current privacy mode, and how likely the question needs each column that the model sees.
Out: lines of text about the likely ones: first pitfalls, then the values and formats of text columns used in
predicates, then date ranges.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from agent.knowledge.profile.facts import Profile
from agent.knowledge.profile.sections import note
from agent.knowledge.schema_context import estimate_tokens, one_line, within_budget

TITLE = "Notes on the data:"
_LINE = 300
"""Maximum characters of one line."""
_VALUES = 12
"""Maximum distinct values of a column whose values are all listed."""


VALUED = 0.1
"""Least chance of a column whose values are listed: a word that is spelled as it is stored is worth most."""
NEEDED = 0.3
"""Least chance of a column, or a table, of which anything else is told."""


def hints(profile: Profile, likely: Mapping[tuple[str, str], float], budget: int) -> str:
    """The lines that fit `budget` tokens, under a title; empty if there are none. `likely`: the chance 0..1 that the
    question needs a column, by (table, column), or a table, by (table, "")."""
    tables = {table for (table, column), chance in likely.items() if not column and chance >= NEEDED}
    possible = {table for (table, column), chance in likely.items() if not column and chance >= VALUED}
    valued = frozenset(key for key, chance in likely.items() if key[1] and key[0] in possible and chance >= VALUED)
    needed = frozenset(key for key in valued if likely[key] >= NEEDED)
    lines = (f"- {one_line(line, _LINE)}" for line in _lines(profile, tables, needed, valued))
    kept = within_budget(lines, budget - estimate_tokens(TITLE) - 1)
    return "\n".join([TITLE, *kept]) if kept else ""


def _lines(
    profile: Profile, tables: Collection[str], needed: Collection[tuple[str, str]], valued: Collection[tuple[str, str]]
) -> Iterator[str]:
    facts = [c for c in profile.columns if (c.table, c.column) in needed]
    for pitfall in profile.guidance:
        if not pitfall.table or pitfall.table not in tables:
            continue
        if not pitfall.column:
            yield f"{pitfall.table}: {pitfall.text}"
        elif (pitfall.table, pitfall.column.split(", ")[0]) in needed:
            yield f"{pitfall.table}.{pitfall.column}: {pitfall.text}"
    for c in profile.columns:
        if (c.table, c.column) in valued and c.values and c.kind == "text" and len(c.values) <= _VALUES:
            yield f"{c.table}.{c.column}: {note(c, samples=0, values=_VALUES, cell=40)}"
    for c in facts:
        if c.formats and not c.values:
            form = c.formats[0]
            shown = form.name if form.share > 0.95 else f"{form.name} ({form.share:.0%})"
            written = shown + (f", {c.low} to {c.high}" if c.low is not None else f", e.g. {form.example}")
            yield f"{c.table}.{c.column}: {written}"
    for c in facts:
        if c.kind == "date" and c.low is not None:
            yield f"{c.table}.{c.column}: {c.low} to {c.high}"
    for pattern in profile.patterns:
        if pattern.table in tables and pattern.kind == "hierarchy":
            yield f"{pattern.table}: {pattern.text}"
