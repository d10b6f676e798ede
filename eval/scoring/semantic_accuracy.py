"""Semantic accuracy: the question's intent, literals and units are the query's.

`1` less what each sign that they are not costs (`eval.scoring.penalties`), at least 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.language.lexicon import word_set
from eval.scoring.evidence.question_reading import Observation
from eval.scoring.penalties import charged
from eval.scoring.types import Case

SIGNS = word_set(
    """
    nothing_linked count_missing count_several_rows aggregate_missing superlative_missing rank_direction_wrong
    limit_differs group_missing order_missing order_direction_wrong distinct_missing negation_missing
    comparison_missing comparison_direction quoted_missing number_missing value_foreign
    number_foreign cartesian other_table_named
    text_against_number double_negation extreme_of_other_column year_missing sum_multiplied
    share_not_divided versions_counted limit_without_order
    """
)
"""Observations that say that the query means something else."""


def semantic_accuracy(case: Case, seen: Sequence[Observation]) -> tuple[float, str]:
    """The dimension (0..1) and why it is not 1."""
    if case.parsed.tree is None or not case.references.tables:
        return 0.0, "The query speaks of nothing that the question asks about."
    return charged(SIGNS, seen)
