"""All evidence of a case, in a fixed order. A new kind of evidence is a file beside this one and a line here."""

from __future__ import annotations

from dataclasses import replace

from eval.scoring.evidence import agreement, form, joins, literals, logic, pitfalls, projection, schema_linking, shape
from eval.scoring.evidence.familiarity import clarity, familiarity, reach, supposes
from eval.scoring.evidence.question_reading import Observation, Reading
from eval.sql.traversal import unchanging

KINDS = (form, logic, pitfalls, literals, shape, projection, schema_linking, joins, agreement)


def unscaled(reading: Reading) -> tuple[Observation, ...]:
    """What every kind of evidence sees, before familiarity scales it; empty for a query that does not parse."""
    if reading.case.parsed.tree is None:
        return ()
    with unchanging(reading.tree):
        return tuple(o for kind in KINDS for o in kind.observe(reading))


def observations(reading: Reading, plain: tuple[Observation, ...] | None = None) -> tuple[Observation, ...]:
    """The same, each value scaled by how far it reaches (`familiarity`). `plain` is what `unscaled` has returned."""
    if reading.case.parsed.tree is None:
        return ()
    with unchanging(reading.tree):
        familiar, clear = familiarity(reading), clarity(reading)
        seen = list(unscaled(reading) if plain is None else plain)
        if familiar:
            seen.append(Observation("familiar", 1.0))
        supposed = supposes(reading.case.question)
        scaled = ((o, reach(o.name, familiar, clear, supposed=supposed)) for o in seen)
        return tuple(replace(o, value=o.value * scale) for o, scale in scaled if scale > 0)
