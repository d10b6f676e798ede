"""All evidence of a case, in a fixed order. A new kind of evidence is a file beside this one and a line here."""

from __future__ import annotations

from eval.scoring.evidence import agreement, complexity, form, joins, linking, literals, logic, projection, shape
from eval.scoring.evidence.reading import Observation, Reading

KINDS = (form, logic, literals, shape, projection, linking, joins, agreement, complexity)


def observations(reading: Reading) -> tuple[Observation, ...]:
    """What is seen of a query that parses; empty for one that does not."""
    if reading.case.parsed.tree is None:
        return ()
    return tuple(seen for kind in KINDS for seen in kind.observe(reading))
