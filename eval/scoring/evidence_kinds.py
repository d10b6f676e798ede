"""What kind of evidence each observation is, and which way it may count.

In: an observation's name. Out: its `Kind`, and the sign that its fitted weight may have. Kinds:

- `contradiction`: a conflict between question, query, data and schema that a reader can check. It counts on every
  database, and only contradictions may be given to a model as feedback. A name that begins with `PROVED` is one that
  leaves no other reading (`eval.scoring.contradictions`): it makes an answer doubtful, whatever speaks for it.
- `agreement`: other queries for the same question return the same rows, or other ones.
- `confirmation`: a part of the question that has its form in the query.
- `habit`: how queries for such questions are usually written. It counts only where the question and the query resemble
  those that the habits were learned from (`eval.scoring.evidence.familiarity`).
- `context`: how hard the question is. It is a habit without a direction and is never shown.

The sign is fixed so that a sentence shown to the user never says the opposite of what it weighs.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from eval.language.lexicon import word_set

Kind = Literal["contradiction", "agreement", "confirmation", "habit", "context"]

_NAMES: Mapping[Kind, str] = {
    "contradiction": """
        aggregate_missing all_null cartesian comparison_direction comparison_missing
        count_missing count_several_rows distinct_missing double_negation empty_result extreme_of_other_column
        fewer_than_top group_missing group_single_row join_off_keys limit_differs
        limit_missing negation_missing denied_value_kept bare_beside_total given_returned
        nothing_found_respelled nothing_linked null_column number_missing order_direction_wrong order_missing
        other_table_named quoted_missing rank_direction_wrong repeated_rows repeated_rows_joined
        superlative_missing text_against_number truncated ungrouped_output value_stored_elsewhere
        value_stored_otherwise value_stored_padded aggregate_of_key aggregate_of_text and_before_or
        average_multiplied compared_with_null count_of_outer_rows
        limit_without_order not_in_nulls outer_join_undone share_not_divided sum_multiplied versions_counted
        whole_number_division window_not_partitioned year_missing zero_in_average
        value_missing order_reversed
    """,
    "agreement": """
        candidates empty_beside_second_reading more_rows_than_second_reading second_reading_agrees
        second_reading_differs second_reading_empty_too second_reading_narrower
        second_reading_ordered_otherwise second_reading_reordered second_reading_sure second_reading_wider
        zero_beside_second_reading
    """,
    "confirmation": "number_matched quoted_matched",
    "context": """
        columns_unlinked count_over_join count_zero cut_at_limit familiar empty_with_negation
        grouped_by_value pattern_unquoted than_any words_unused words_unused_count table_only_joined
    """,
}
PROVED = "proved_"
HABITS: tuple[Kind, ...] = ("habit", "context")
_KINDS: Mapping[str, Kind] = MappingProxyType({n: kind for kind, names in _NAMES.items() for n in names.split()})
_AGREEING = word_set("candidates second_reading_agrees second_reading_empty_too second_reading_sure")


def kind_of(name: str) -> Kind:
    """The kind of an observation. One that is not listed is a confirmation if it ends in `_matched`, else a habit."""
    if name.startswith(PROVED):
        return "contradiction"
    return _KINDS.get(name, "confirmation" if name.endswith("_matched") else "habit")


def sign(name: str) -> int:
    """1 where the observation can only speak for the query, -1 where only against it, 0 where it informs."""
    kind = kind_of(name)
    if kind == "context":
        return 0
    return 1 if kind == "confirmation" or name in _AGREEING else -1
