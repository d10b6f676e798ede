"""Doubts: named reasons to trust a reading less, each with how sure it may still be and how it is told.

A rule states a doubt by its name (`Draft.doubt`), `confidence` weighs and caps it, `doubts` puts it into words. A new
one is a line here, and the rule that states it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from agent.runtime.probability import DOUBTFUL
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
