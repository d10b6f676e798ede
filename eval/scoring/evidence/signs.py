"""Which way each observation may speak: for the query, against it, or neither.

In: an observation's name. Out: 1, -1 or 0. The fit may not give a weight of the other sign, so that a sentence shown to
the user never says the opposite of what it weighs. What is neither (how hard the question is, how the query is built)
may weigh either way and is not shown.
"""

from __future__ import annotations

CONTEXT = frozenset(
    {
        "columns_unlinked",
        "count_over_join",
        "count_zero",
        "cut_at_limit",
        "distinct_unasked",
        "distinct_unasked_one_table",
        "empty_with_negation",
        "empty_with_text",
        "group_by_several",
        "grouped_by_key",
        "grouped_by_value",
        "having",
        "intersect_unasked",
        "joins",
        "key_beside_name",
        "membership_subquery",
        "negation_question",
        "pattern_unquoted",
        "set_operations",
        "several_values",
        "subqueries",
        "superlative_by_value",
        "superlative_of_count",
        "superlative_question",
        "text_conditions",
        "than_any",
        "union_unasked",
        "words_unused",
        "words_unused_count",
    }
)
_FOR = frozenset(
    {
        "candidates",
        "columns_as_listed",
        "count_from_column",
        "output_named",
        "rank_direction_right",
        "second_reading_agrees",
        "second_reading_by_another_way",
        "second_reading_empty_too",
        "second_reading_sure",
        "tables_linked",
    }
)


def sign(name: str) -> int:
    """1 where the observation can only speak for the query, -1 where only against it, 0 where it informs."""
    if name in CONTEXT:
        return 0
    return 1 if name in _FOR or name.endswith("_matched") else -1
