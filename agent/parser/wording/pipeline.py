"""The rules of wording, in the order in which they apply.

In: a question's text, and what is known of the database and the day. Out: the plain question to read, the shape of the
computation on its figures (`Shape`: a share, growth, a median), and notes on the assumptions made. No rule depends on a
particular schema: a phrase that needs a table, such as `who never ordered`, is changed only if the schema has one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agent.parser.wording import computations, durations, period_comparison, purchases, sentences, slang
from agent.parser.wording.lost_words import lost_words
from agent.parser.wording.rules import Known, Wording

_Rule = Callable[[str, Known], Wording | None]
_REPHRASED: tuple[_Rule, ...] = (
    sentences.largest_number, sentences.courtesy, sentences.not_a_single, sentences.rows_of_file,
    sentences.last_rows, sentences.still_out,
    computations.every_period, slang.person_names, slang.short_name, slang.set_phrases, purchases.currency,
    sentences.listed_with, purchases.in_stock, durations.duration, purchases.never, purchases.how_often,
    purchases.acquired, purchases.spent, purchases.best,
)  # fmt: skip
"""Each applies to what those before it made of the text, until one gives a shape or a doubt."""
_COMPUTED: tuple[_Rule, ...] = (
    period_comparison.compared_periods, computations.share, computations.ratio, computations.growth,
    computations.change,
    computations.order_value, computations.average_per, computations.median, computations.busiest_time,
)  # fmt: skip
"""The first that applies is the last."""


def worded(text: str, known: Known) -> Wording:
    """The plain question and its shape; the text itself when no rewrite is necessary."""
    plain = text.strip().rstrip("?!. ")
    wording = Wording(plain)
    for rule in _REPHRASED:
        wording = _then(wording, rule(wording.text, known))
        if wording.shape is not None or wording.doubt:
            return _accounted(text, wording)
    for rule in _COMPUTED:
        if (computed := rule(wording.text, known)) is not None:
            wording = _then(wording, replace(computed, text=slang.plain(computed.text)))
            break
    if wording.shape is None:
        wording = _then(wording, computations.compare(wording.text, known))
    return Wording(text) if wording.text == plain else _accounted(text, wording)


def _then(first: Wording, second: Wording | None) -> Wording:
    """What two rules make of a question, one after the other. A rule that leaves no words (`:D`) does not apply."""
    if second is None or not second.text.strip():
        return first
    return replace(second, notes=(*first.notes, *second.notes), guessed=first.guessed or second.guessed)


def _accounted(text: str, wording: Wording) -> Wording:
    return replace(wording, lost=lost_words(text, wording))
