"""The guards: what a question's words say about the form of its query, as advice in words.

In: a `Case`. Out: the sentences that speak against the query, by guard. They are the evidence of the score, sorted by
what it guards; nothing is weighed here and no query is rewritten.
"""

from __future__ import annotations

from dataclasses import dataclass

from eval.scoring.evidence.features import observations
from eval.scoring.evidence.question_reading import Reading
from eval.scoring.types import Case

GUARDS: dict[str, tuple[str, ...]] = {
    "projection contract": (
        "columns_fewer_than_listed",
        "columns_more_than_listed",
        "output_order_differs",
        "name_not_returned",
    ),
    "order and limit": ("limit_unasked", "order_unasked", "limit_differs", "limit_missing", "order_missing"),
    "id columns": ("key_returned", "key_not_returned", "number_for_name"),
    "minimal projection": (
        "star_unasked",
        "ranking_value_returned",
        "ranking_count_shown",
        "filtered_value_returned",
    ),
    "intent": (
        "count_missing",
        "count_unasked",
        "count_distinct_missing",
        "aggregate_missing",
        "aggregate_unasked",
        "superlative_missing",
        "rank_direction_wrong",
        "group_missing",
        "group_unasked",
        "order_direction_wrong",
        "distinct_missing",
        "negation_missing",
        "negation_unasked",
        "both_missing",
        "comparison_missing",
        "comparison_direction",
        "bound_direction",
        "bound_strictness",
    ),
    "literals": (
        "quoted_missing",
        "number_missing",
        "name_missing",
        "value_foreign",
        "number_foreign",
        "text_against_number",
        "value_stored_otherwise",
        "value_stored_padded",
        "value_stored_elsewhere",
    ),
}
"""Guard → the observations of `eval.scoring.evidence` that it is made of."""


@dataclass(frozen=True, slots=True)
class Advice:
    guard: str
    observation: str
    text: str


def advice(case: Case) -> tuple[Advice, ...]:
    """What the guards say against a query, in the order of `GUARDS`; empty where they are content, or where the query
    does not parse. The query need not have run."""
    texts = {o.name: o.text for o in observations(Reading(case))}
    return tuple(
        Advice(guard, name, text) for guard, names in GUARDS.items() for name in names if (text := texts.get(name))
    )
