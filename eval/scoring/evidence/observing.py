"""All evidence of a case, in a fixed order. A new kind of evidence is a file beside this one and a line here."""

from __future__ import annotations

from eval.scoring.evidence import (
    agreement,
    complexity,
    expected,
    form,
    joins,
    linking,
    literals,
    logic,
    projection,
    shape,
)
from eval.scoring.evidence.reading import Observation, Reading
from eval.scoring.expectation import Expectation
from eval.sql.walking import unchanging

KINDS = (form, logic, literals, shape, projection, linking, joins, agreement, complexity)


def observations(reading: Reading, learned: Expectation | None = None) -> tuple[Observation, ...]:
    """What is seen of a query that parses; empty for one that does not. `learned` stands in for the expectation that is
    shipped, where that has seen the very question."""
    if reading.case.parsed.tree is None:
        return ()
    with unchanging(reading.case.parsed.tree):
        seen = [seen for kind in KINDS for seen in kind.observe(reading)]
        return (*seen, *expected.observe(reading, learned))
