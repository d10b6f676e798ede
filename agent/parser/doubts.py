"""Doubts: named reasons to trust a reading less, each with how sure it may still be and how it is told.

A rule states a doubt by its name (`Draft.doubt`), `confidence` weighs and caps it. A new one is a line here, and the
rule that states it. In: a reading that is not sure, and the next best one if there is one. Out: one sentence for the
user, that names the assumption and the alternative in the words of the schema.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import NamedTuple

from agent.knowledge.vocabulary import ColumnWord, split_name
from agent.parser.abstention import least_certain
from agent.parser.coverage import names_in
from agent.parser.interpretation import Query
from agent.parser.joins import JoinPlan
from agent.parser.question import LinkedQuestion, Mention
from agent.parser.state import Draft
from agent.runtime.probability import DOUBTFUL
from eval.language.inflection import light_stem
from eval.language.lexicon import word_set

NEVER_SURE = 0.3
"""The highest confidence of a reading that leaves a decisive part of the question open."""


class Doubt(NamedTuple):
    most: float = 1.0
    """The highest confidence of a reading with this doubt; 1 where only its learned weight counts."""
    sentence: str = ""
    """What was assumed, and what to ask if something else is meant; where empty, the reading's weakest word is told."""


_DECISIVE = word_set(
    "date_averaged number_not_shown text_compared rate_open age_order_open only_named_value_shown only_dates_shown "
    "share_open value_of_pieces second_amount_open total_of_a_rank own_rows_counted hour_of_a_day how_often_open "
    "date_as_text rank_open superlative_open adjective_without_column unit_unknown stock_open number_without_column "
    "period_open negation_open value_beside_list comparison_open or_open aggregate_open"
)
"""Doubts that leave a decisive part of the question open."""
_ASSUMED = word_set(
    "wording_guessed qualifier_by_synonym qualifier_open date_ambiguous measure_ambiguous value_fuzzy "
    "place_or_time_open similar_word column_of_many literal_unknown column_context group_open group_without_aggregate "
    "who_is_no_person"
)
"""Doubts of what was assumed."""
_WEIGHED = word_set(
    "and_read_as_or both_same_column column_ambiguous column_partial column_unused count_open entity_guessed "
    "literal_without_column only_similar_words order_open pattern_column_guessed period_cut_to_year shown_by_default "
    "table_ambiguous value_ambiguous value_other_column yes_or_no_compared"
)
"""Doubts of which only the learned weight counts."""
DOUBTS = MappingProxyType(
    {
        "share_of_part": Doubt(
            DOUBTFUL,
            "the percentages are of all such rows together; ask for a rate (“cancellation rate by …”) if the "
            "share within each group is meant",
        ),
        "count_or_amount": Doubt(DOUBTFUL, "rows are counted; ask for “total amount” if their amount is meant"),
        "amount_listed": Doubt(DOUBTFUL, "the amounts are listed; ask for their “total” if that is meant"),
        "one_rating_of_many": Doubt(DOUBTFUL, "the single highest value ranks; ask for the average if that is meant"),
        "kinds_counted_together": Doubt(
            DOUBTFUL, "both kinds are counted together; ask for each alone, or “per” kind, if that is meant"
        ),
        "popularity_guessed": Doubt(
            sentence="popularity is the number of rows that refer to it; name what to count if another measure is meant"
        ),
        "amount_guessed": Doubt(
            sentence="the number is compared with the main amount; name the column if another one is meant"
        ),
        "price_of_each_row": Doubt(
            DOUBTFUL, "each row is taken as sold once, at its price; name the column if another amount is meant"
        ),
        "unit_assumed": Doubt(DOUBTFUL, "the unit is assumed; name the unit that the column is in"),
        "versions_open": Doubt(
            DOUBTFUL, "each row is one version of a thing; say “current” or name a date if one version of each is meant"
        ),
        "second_question_open": Doubt(
            DOUBTFUL, "only the first of two questions is answered; ask the second one by itself"
        ),
        "idle_table": Doubt(
            DOUBTFUL, "rows are kept that belong to something named by a similar word; leave that word out if not meant"
        ),
        "route_open": Doubt(DOUBTFUL, "what you name is linked in several ways; name the one that is meant"),
        "deed_of_rows": Doubt(
            DOUBTFUL, "the date says when they were recorded, not when they did it; name another date if one is meant"
        ),
        "mass_counted": Doubt(DOUBTFUL, "rows are counted; ask for the total of a column by its name if that is meant"),
        "kinds_counted": Doubt(DOUBTFUL, "different kinds are counted; ask for the number of rows if these are meant"),
        "pieces_or_rows": Doubt(DOUBTFUL, "rows are counted; ask for the quantity by its name if the pieces are meant"),
        "days_of_a_kind": Doubt(
            DOUBTFUL, "rows are counted, whatever their length; ask for the total days if these are meant"
        ),
        "only_open": Doubt(
            DOUBTFUL, "“only” is not read as “and nothing else”; ask for those without the others if that is meant"
        ),
        "absence_guessed": Doubt(
            sentence="“never” is taken as no related row; name what is missing if something else is meant"
        ),
        **dict.fromkeys(_DECISIVE, Doubt(NEVER_SURE)),
        **dict.fromkeys(_ASSUMED, Doubt(DOUBTFUL)),
        **dict.fromkeys(_WEIGHED, Doubt()),
    }
)
"""Where several have a sentence, the first one here is told."""


MARK = "in doubt: "
"""Starts the sentence at the end of an interpretation."""


def doubt_sentence(q: LinkedQuestion, draft: Draft, plans: list[JoinPlan], other: Query | None) -> str:
    """What the reading assumed, with the alternative where one is known."""
    repeated = summed_repeatedly(draft.query, plans[-1]) if plans else ""
    if repeated:
        rows = q.vocabulary.tables[repeated]
        return f"the whole amount of each {' '.join(rows.words)} is counted for everything that it is joined with"
    if draft.guess:
        return draft.guess
    if draft.rivals:
        return _asked_again(draft.rivals[0])
    if "qualifier_by_synonym" in draft.doubts:
        note = next((n for n in draft.notes if n.startswith("“")), "")
        if match := re.match(r"(“[^”]+”): (.+)", note):
            return f"{match[1]} is assumed to mean {match[2]}, a similar word; ask with the data's own word if not"
    for name, stated in DOUBTS.items():
        if stated.sentence and name in draft.doubts:
            return stated.sentence
    if other is not None and (rival := _difference(draft.query, other, q)):
        return _asked_again(rival)
    if "entity_guessed" in draft.doubts and draft.entities:
        about = q.vocabulary.tables[draft.entities[0]].plural
        return f"the question is taken to be about {about}; name what you want listed if not"
    # The first item that is only similar to a stored value
    values = ((i, x.mention.values[:1]) for i, x in enumerate(q.items) if q.sorts[i] == "value" and x.mention)
    fuzzy = next((i for i, hits in values if hits and hits[0].score < 0.85), None)
    if "value_fuzzy" in draft.doubts and fuzzy is not None:
        return (
            f"“{q.items[fuzzy].lower}” is taken as {_meaning(q, draft.query, fuzzy)}; write the value in quotes if not"
        )
    # The item that names a column of the query least exactly; None if all names are exact
    named = ((i, x.mention) for i, x in enumerate(q.items) if q.sorts[i] == "column" and x.mention is not None)
    scores = [(used[1], i) for i, mention in named if (used := _column_used(mention, draft.query)) is not None]
    score, weakest = min(scores, default=(1.0, 0))
    i = weakest if score < 0.95 else None
    if i is not None and not _is_name(q.items[i].lower, column := _meaning(q, draft.query, i)):
        return f"“{q.items[i].lower}” is taken as {column}; ask with the column's name if another one is meant"
    # The tables that link those of the question, where it names none of them
    between = [t for t in (plans[-1].tables if plans else ()) if t not in draft.query.tables]
    if between and len(draft.query.tables) > 1:
        ends = " and ".join(q.vocabulary.tables[t].plural for t in draft.query.tables[:2])
        path = " and ".join(q.vocabulary.tables[t].plural for t in between[:3])
        return f"{ends} are linked through {path}; name the link if another one is meant"
    word = least_certain(q, draft)
    meanings = (_meaning(q, draft.query, i) for i, item in enumerate(q.items) if item.lower == word)
    meaning = next(filter(None, meanings), "")
    if not meaning or _is_name(word, meaning):
        return "the words are clear, how they belong together is not; compare what is shown with what you mean"
    return f"“{word}” is taken as {meaning}; ask with the name that you mean if not"


def summed_repeatedly(query: Query, plan: JoinPlan) -> str:
    """The table whose amounts are added up once for each row of another (`revenue by product` from the totals of whole
    orders); empty where there is none."""
    summed = (e.tables[0] for e in query.expressions() if e.function == "sum" and e.tables)
    return next((table for table in summed if plan.multiplies(table)), "")


def _is_name(said: str, name: str) -> bool:
    """Whether words are a table's or column's own name, or stand in it, which leaves no doubt of it."""
    own = name.rpartition(".")[2]
    parts = {light_stem(w.lower()) for w in (*split_name(own), *re.findall(r"[^\W\d_]+", own))}
    return {light_stem(w) for w in said.split()} <= parts


def _meaning(q: LinkedQuestion, query: Query, i: int) -> str:
    """What item i is taken as: a stored value, a table, a column or a measure; empty if it names none."""
    mention, sort = q.items[i].mention, q.sorts[i]
    if mention is None:
        return ""
    if sort == "value" and mention.values:
        return f"the stored value “{mention.values[0].value}” of {mention.values[0].column}"
    if sort == "table":
        return q.table_of(i)
    if sort == "column" and mention.columns:
        return (_column_used(mention, query) or mention.columns[0])[0].name
    # The columns of the first figure: `orders.total`, `order_items.price × quantity`
    figures = (e for e in (*query.select, *query.ordered_by()) if e.function and e.column and sort == "measure")
    return next((f"{'.'.join(e.column or ())}{f' × {e.factor[1]}' if e.factor else ''}" for e in figures), "")


def _asked_again(sentence: str) -> str:
    return f"{sentence}; ask again with that name if it is meant"


def _difference(query: Query, other: Query, q: LinkedQuestion) -> str:
    """`repairs.cost is used; bikes.purchase_price would be another choice`."""
    (tables, columns), (other_tables, other_columns) = names_in(query), names_in(other)
    used = sorted(columns - other_columns)
    instead = sorted(other_columns - columns)
    if len(used) >= 1 and len(instead) >= 1:
        apart = used[0][0] != instead[0][0]
        names = [f"{t}.{c}" if apart else c for t, c in (used[0], instead[0])]
        return f"{names[0]} is used; {names[1]} would be another choice"
    added = sorted(other_tables - tables)
    if added:
        return f"{q.vocabulary.tables[added[0]].plural} would be another choice of what to look at"
    return ""


def _column_used(mention: Mention, query: Query) -> tuple[ColumnWord, float] | None:
    """The likeliest column of a mention that is in the query, with its score."""
    _, used = names_in(query)
    return next((pair for pair in mention.columns if pair[0].key in used), None)
