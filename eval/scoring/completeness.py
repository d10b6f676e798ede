"""Completeness: all rows and columns that the question asks for, nothing cut.

`1` less the cost of each sign that something is missing (the table below), at least 0. With gold: the share of gold's
rows that the result has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.scoring.evidence.reading import Observation
from eval.scoring.types import Case

COSTS = {
    "empty_result": 0.5,
    "all_null": 0.5,
    "truncated": 0.4,
    "null_column": 0.2,
    "columns_fewer_than_listed": 0.3,
    "name_not_returned": 0.2,
    "fewer_than_top": 0.2,
    "limit_unasked": 0.3,
    "group_missing": 0.3,
    "count_missing": 0.3,
    "group_single_row": 0.1,
    "named_table_unused": 0.1,
    "nothing_linked": 0.7,
}


def completeness(case: Case, seen: Sequence[Observation]) -> tuple[float, str]:
    """The dimension (0..1) and why it is not 1."""
    if case.result is None or not case.result.ok:
        return 0.0, "There is no result."
    if case.gold is not None:
        return _against_gold(case)
    return charged(COSTS, seen)


def charged(costs: Mapping[str, float], seen: Sequence[Observation]) -> tuple[float, str]:
    """1 less the cost of what was seen, and the dearest of it in words."""
    charges = [(costs[o.name] * min(1.0, o.value), o.text) for o in seen if o.name in costs]
    if not charges:
        return 1.0, ""
    return max(0.0, 1.0 - sum(cost for cost, _ in charges)), max(charges)[1]


def _against_gold(case: Case) -> tuple[float, str]:
    assert case.gold is not None
    assert case.result is not None
    wanted, got = len(case.gold.rows), len(case.result.rows)
    if case.gold.columns and len(case.result.columns) < len(case.gold.columns):
        return 0.5, f"{len(case.result.columns)} of {len(case.gold.columns)} columns."
    if got >= wanted:
        return 1.0, ""
    return got / wanted, f"{got} of {wanted} rows."
