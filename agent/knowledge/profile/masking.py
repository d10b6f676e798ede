"""A column's facts without any value of its rows, for the privacy mode `masked`.

In: `ColumnFacts`. Out: the same with counts, kinds and the names of formats alone.
"""

from __future__ import annotations

from dataclasses import replace

from agent.knowledge.privacy import HIDDEN
from agent.knowledge.profile.facts import ColumnFacts, Counted


def without_values(facts: ColumnFacts) -> ColumnFacts:
    """What is left when nothing may show that stands in a row, or was computed from single rows."""
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
