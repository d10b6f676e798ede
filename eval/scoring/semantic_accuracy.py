"""Semantic accuracy: the question's intent, literals and units are the query's.

`1` less the cost of each sign that they are not (the table below), at least 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.scoring.completeness import charged
from eval.scoring.evidence.reading import Observation
from eval.scoring.types import Case

COSTS = {
    "nothing_linked": 1.0,
    "tables_unlinked": 0.3,
    "count_missing": 0.4,
    "count_several_rows": 0.3,
    "aggregate_missing": 0.3,
    "superlative_missing": 0.4,
    "rank_direction_wrong": 0.4,
    "limit_differs": 0.3,
    "group_missing": 0.2,
    "order_missing": 0.3,
    "order_direction_wrong": 0.3,
    "distinct_missing": 0.2,
    "negation_missing": 0.4,
    "negation_by_row": 0.2,
    "negation_unasked": 0.2,
    "both_missing": 0.3,
    "comparison_missing": 0.2,
    "comparison_direction": 0.4,
    "quoted_missing": 0.4,
    "number_missing": 0.3,
    "name_missing": 0.1,
    "value_foreign": 0.2,
    "number_foreign": 0.2,
    "more_rows_than_tables": 0.3,
    "cartesian": 0.5,
}


def semantic_accuracy(case: Case, seen: Sequence[Observation]) -> tuple[float, str]:
    """The dimension (0..1) and why it is not 1."""
    if case.parsed.tree is None or not case.references.tables:
        return 0.0, "The query speaks of nothing that the question asks about."
    return charged(COSTS, seen)
