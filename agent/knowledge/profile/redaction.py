"""Removes all row values from a column's facts, for the privacy mode `masked`.

In: `ColumnFacts`. Out: the same facts with only counts, kinds and the names of formats.
"""

from __future__ import annotations

from dataclasses import replace

from agent.knowledge.privacy import HIDDEN
from agent.knowledge.profile.facts import ColumnFacts, Counted


def without_values(facts: ColumnFacts) -> ColumnFacts:
    """The facts without row values and without anything computed from single rows."""
    missing = sum(v.rows for v in facts.null_likes)
    return replace(
        facts,
        samples=(),
        values=(),
        low=None,
        high=None,
        mean=None,
        formats=tuple(replace(f, example=HIDDEN) for f in facts.formats),
        null_likes=(Counted(HIDDEN, missing),) if missing else (),
    )
