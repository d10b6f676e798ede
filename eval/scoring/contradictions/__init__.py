"""Contradictions: conflicts between question and query that a reader can check.

In: a question read against its query (`Reading`), and what was observed of it. Out: the sentence that each check
proves. A check says nothing where it cannot tell; what one proves makes an answer doubtful, and weighs as much as
labelled answers showed (`correctness.txt`). A new check is a function in the file of what it looks at and a line in
`CHECKS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from eval.language.lexicon import word_set
from eval.scoring.contradictions.comparisons import comparison_flipped, rank_from_behind
from eval.scoring.contradictions.figures import (
    FURTHER_SENTENCE,
    aggregate_differs,
    figure_missing,
    measure_not_summed,
)
from eval.scoring.contradictions.foreign_numbers import number_foreign, period_open, year_foreign, year_unused
from eval.scoring.contradictions.foreign_texts import (
    idle_condition,
    name_unused,
    never_true,
    value_foreign,
    value_named,
)
from eval.scoring.contradictions.missing_columns import (
    column_missing,
    companion_missing,
    figure_untold,
    figures_missing,
    group_not_shown,
    group_untold,
    half_a_name,
    thing_untold,
)
from eval.scoring.contradictions.shown import limit_unasked, order_wrong, superlative_unmet, unconditioned
from eval.scoring.evidence.familiarity import supposes
from eval.scoring.evidence.question_reading import Observation, Reading, Sentences

__all__ = ["CHECKS", "NAMES", "contradictions"]

_OBSERVED = word_set(
    """
    rank_direction_wrong order_direction_wrong order_reversed number_missing quoted_missing limit_differs
    aggregate_of_text aggregate_missing count_missing year_missing comparison_direction given_returned
    """
)
"""Observations that prove a conflict by themselves."""
_WRITTEN_DATE = re.compile(r"\d[-/]\d")

CHECKS: tuple[Callable[[Reading], Sentences], ...] = (
    limit_unasked,
    value_foreign,
    value_named,
    name_unused,
    never_true,
    idle_condition,
    number_foreign,
    year_foreign,
    year_unused,
    period_open,
    figure_missing,
    aggregate_differs,
    column_missing,
    companion_missing,
    half_a_name,
    group_untold,
    figures_missing,
    thing_untold,
    figure_untold,
    group_not_shown,
    measure_not_summed,
    order_wrong,
    comparison_flipped,
    rank_from_behind,
    superlative_unmet,
    unconditioned,
)
"""The checks that are more than an observation."""
NAMES = _OBSERVED | {check.__name__ for check in CHECKS}


def contradictions(reading: Reading, seen: Sequence[Observation]) -> dict[str, str]:
    """What is proved against a query: the first sentence of each check, by its name. `seen` is what was observed of the
    query, before it is scaled."""
    found: dict[str, str] = {}
    supposed = supposes(reading.case.question)
    if not supposed:
        proving = _proving(reading)
        found = {o.name: o.text for o in reversed(seen) if o.name in proving and o.text}
    for check in _IN_ANY_CASE if supposed else CHECKS:
        if sentence := next(check(reading), None):
            found[check.__name__] = sentence
    return found


_IN_ANY_CASE = (limit_unasked, never_true, idle_condition)
"""What is proved of a query whose question supposes something that is not in the data."""


def _proving(r: Reading) -> frozenset[str]:
    """The observations that prove a conflict of this query."""
    doubtful = set()
    numbers = (c for c in r.constants if c.operator in ("<", "<=", ">", ">="))
    one_direction = any(_NUMBER.fullmatch(c.value) for c in numbers) or not _AGE.search(r.question)
    if not one_direction:
        doubtful.add("comparison_direction")
    if _WRITTEN_DATE.search(r.question) or _EITHER_NUMBER.search(r.question):
        doubtful.add("number_missing")
    if r.tree.args.get("with_") or r.case.facts.window_functions:
        doubtful |= {"order_direction_wrong", "order_reversed"}
    if FURTHER_SENTENCE.search(r.question):
        doubtful.add("count_missing")
    if not _FIGURE_ASKED.search(r.question):
        doubtful.add("aggregate_missing")
    return _OBSERVED - doubtful


_EITHER_NUMBER = re.compile(r"\b\d+ or \d+\b")
_FIGURE_ASKED = re.compile(
    r"^(?:(?!\b(?:where|whose|with|who|that|which|if|has|have|exceeds?)\b).){0,80}"
    r"\b(?:averages?|avg|mean|totals?|sum|maximum|minimum)\b"
)
"""The word for the figure stands before the conditions."""


_AGE = re.compile(r"\b(?:old|older|young|younger|elder|senior|junior)\b")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
