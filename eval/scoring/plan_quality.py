"""Plan quality: the planner's confidence and the reasoning given.

`0.6 × confidence + 0.4 × reasoning`; without a known confidence 0.75 stands in. Reasoning is 1 when it names a table
or column of the query, 0.75 when there is some or none was asked for. A plan that ends in no table at all is worth 0.2.
"""

from __future__ import annotations

from eval.scoring.types import Case

UNKNOWN = 0.75


def plan_quality(case: Case) -> tuple[float, str]:
    """The dimension (0..1) and why it is not 1."""
    if not case.references.tables:
        return 0.2, "The plan leads to no table."
    confidence = UNKNOWN if case.plan_confidence is None else min(1.0, max(0.0, case.plan_confidence))
    reasoning = case.reasoning.casefold()
    names = (*case.references.tables, *(c for _, c in case.references.columns))
    grounded = any(name.casefold() in reasoning or name.casefold().replace("_", " ") in reasoning for name in names)
    value = 0.6 * confidence + 0.4 * (1.0 if reasoning and grounded else UNKNOWN)
    if case.plan_confidence is None:
        return value, "No confidence in the plan is known."
    return value, "" if value > 0.95 else f"The plan's confidence is {confidence:.2f}."
