"""The rules of wording, in the order in which they apply.

In: a question's text, and what is known of the database and the day. Out: the plain question to read, the shape of the
computation on its figures (`Shape`: a share, growth, a median), and notes on the assumptions made. No rule depends on a
particular schema: a phrase that needs a table, such as `repeat customers`, is changed only if the schema has one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agent.parser.wording import (
    ages,
    amounts,
    computations,
    dates,
    durations,
    events,
    file_figures,
    file_rows,
    people,
    period_comparison,
    purchases,
    rates,
    ratings,
    repeat_events,
    sentences,
    single_rows,
    slang,
)
from agent.parser.wording.lost_words import lost_words
from agent.parser.wording.rules import Known, Wording

_Rule = Callable[[str, Known], Wording | None]
_REPHRASED: tuple[_Rule, ...] = (
    sentences.largest_number, sentences.courtesy, sentences.purpose, sentences.not_a_single, sentences.signed_up_for,
    sentences.on_the_premises, sentences.the_business, sentences.with_us, people.customers, people.kinds_of_rows,
    sentences.broken_down, sentences.figures_by, sentences.rows_by, sentences.sorted_by, sentences.counted_before,
    ratings.how_rated, ratings.times_rated, dates.every_period, dates.month_of, dates.by_time_in_two,
    dates.amount_after_period, dates.trend, dates.most_at_time, dates.end_for_each, slang.mentioning,
    slang.person_names, slang.kinds, slang.signed_up, slang.short_name, slang.levels, slang.every_one,
    slang.rows_of_file, single_rows.of_row, single_rows.whole_row, single_rows.contents, single_rows.amount_of_row,
    single_rows.person_of_row, single_rows.agent_noun, people.who_supervises, slang.set_phrases, amounts.currency,
    amounts.of_all, purchases.ordered_when, purchases.top_spenders, purchases.people_and_spent,
    events.people_and_number, purchases.things_we_sell, purchases.rows_we_sell, events.listed_with,
    repeat_events.more_than_once, repeat_events.one_time, repeat_events.lapsed, repeat_events.churned,
    repeat_events.first_events, repeat_events.newcomers, amounts.amount_in_state, file_rows.rows_of_things,
    file_figures.how_much_of_column, file_figures.who_gave_most, file_rows.people_who_answered, file_rows.said_yes,
    file_figures.with_unit, file_figures.what_each_paid, file_figures.noun_of_file, file_rows.dated_by_column,
    file_figures.one_figure_of_two, file_figures.figure_of_rows, file_figures.people_counted,
    file_figures.what_one_paid, file_rows.month_of_part, file_figures.most_of_the_figure, file_figures.figure_of_value,
    file_figures.total_of_part, file_figures.how_much_of_named, file_figures.most_by_verb, file_figures.average_per_row,
    file_rows.is_flagged, amounts.what_we_did, amounts.paid_by, amounts.who_owes, amounts.total_value, amounts.total_of,
    amounts.amount_of_one, amounts.in_stock, amounts.signed, dates.counted_by_time, dates.older, people.bosses,
    people.boss_of, people.names_of_role, people.titles, events.who_did, events.with_and_without, slang.row_numbers,
    events.busiest, events.popular, ratings.rated, ratings.rated_under, amounts.by_what_they_paid,
    amounts.more_than_all, amounts.who_has_highest, amounts.who_did_most, dates.first_by_event, dates.longest_here,
    dates.when_it_was, dates.bounded, dates.last_rows, ages.passed_age, ages.stage_of_life, durations.duration,
    people.their_boss, people.whom, people.who_reports, people.reports, rates.rate, rates.share_in_state, ages.how_old,
    ages.birth_date, dates.first_thing, events.repeat_customers, events.in_both, events.then_not, events.never,
    events.how_often, events.at_all, events.acquired, purchases.spent, purchases.what_sells, events.who_registered,
    events.who_has_most, purchases.earns_most, purchases.who_spends, purchases.what_they_bought, events.counted,
    purchases.selling, purchases.units_sold, purchases.best, file_rows.rows_by_column, file_rows.by_part,
    file_rows.one_of_several, period_comparison.against_the_last, period_comparison.either_period,
)  # fmt: skip
"""Each applies to what those before it made of the text, until one gives a shape or a doubt."""
_COMPUTED: tuple[_Rule, ...] = (
    period_comparison.compared_periods, computations.how_many_on_average,
    computations.share, computations.growth, computations.change, computations.running, computations.order_value,
    computations.average_per, computations.median, computations.percentile, computations.busiest_time,
    computations.ordered,
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
