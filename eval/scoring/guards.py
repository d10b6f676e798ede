"""The guards: what a question's words say about the form of its query, as advice in words.

In: a `Case`. Out: the sentences that speak against the query, by guard. They are the evidence of the score, sorted by
what it guards; nothing is weighed here and no query is rewritten.
"""

from __future__ import annotations

from dataclasses import dataclass

from eval.scoring.evidence.features import observations
from eval.scoring.evidence.question_reading import Reading
from eval.scoring.types import Case

_NAMES = {
    "projection contract": "columns_fewer_than_listed columns_more_than_listed",
    "order and limit": "limit_differs limit_missing order_missing",
    "id columns": "key_returned",
    "minimal projection": "star_unasked",
    "intent": """
        count_missing aggregate_missing superlative_missing rank_direction_wrong group_missing order_direction_wrong
        distinct_missing negation_missing comparison_missing comparison_direction
    """,
    "literals": """
        quoted_missing number_missing text_against_number
        value_stored_otherwise value_stored_padded value_stored_elsewhere
    """,
}
GUARDS = {guard: tuple(names.split()) for guard, names in _NAMES.items()}
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
