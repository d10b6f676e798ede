"""Ratings: the best rated products, shops rated under 3.5, people with at least 5 ratings."""

from __future__ import annotations

import re

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.persons import personal
from agent.parser.wording.rules import Known, Wording, rule
from eval.language.inflection import lemma
from eval.language.numbers import SMALL_NUMBERS


def _ratings(known: Known) -> list[ColumnWord]:
    return [c for c in known.figures() if c.words[-1] in ("rating", "star", "score")]


_BEST = r"^(?:(?:(?:what|which) (?:is|are)|show(?: me)?|list) )?(?:the |our )?(?P<end>lowest|highest|best|worst|top)"


@rule(
    rf"{_BEST}[- ]rated (?P<x>(?:[a-z]+ )?[a-z]+)(?P<rest>)$",
    rf"{_BEST}[- ]rated (?P<x>[a-z]+)(?P<rest> (?:in|from|of) .+)$",
    r"^(?:(?:what|which) (?:is|are) )?(?:the |our )?(?P<x>[a-z]+) with the (?P<end>best|worst) "
    r"(?:reviews|ratings)(?P<rest>)$",
)
def rated(match: re.Match[str], known: Known) -> Wording | None:
    """`best rated products` as `products with the highest average rating`, where others rate them."""
    noun = match["x"].split()[-1]
    table, ratings = known.table(noun), _ratings(known)
    if table is None or len(ratings) != 1:
        return None
    end = "lowest" if match["end"].lower() in ("lowest", "worst") else "highest"
    average = "average " if ratings[0].table != table.name else ""
    several = "10 " if average and table.plural == noun.lower() else ""
    return Wording(f"{several}{match['x']}{match['rest']} with the {end} {average}{' '.join(ratings[0].words)}")


@rule(
    r"\b(?P<x>[a-z]+s) (?:(?:that|which|who) )?(?:(?:is|are|was|were) )?(?:scoring|scored|rated|averaging) "
    r"(?P<cmp>under|below|above|over|at least|less than|lower than|better than|worse than|higher than|more than) "
    r"(?P<n>\d(?:\.\d+)?)(?: (?:stars|points))?(?: on average)?",
    r"\b(?P<x>[a-z]+s) (?:(?:that|which) )?(?:with|have|having) (?:an? )?(?:star )?(?:rating|score)(?: of)? "
    r"(?P<cmp>under|below|above|over|at least|at most|less than|lower than|higher than|more than|better than) "
    r"(?P<n>\d(?:\.\d+)?)(?: (?:stars|points))?(?: on average)?",
)
def rated_under(match: re.Match[str], known: Known) -> Wording | None:
    """`shops rated under 3.5` as `shops with an average rating under 3.5`, where others rate them."""
    table, ratings = known.table(match["x"]), _ratings(known)
    if table is None or len(ratings) != 1 or ratings[0].table == table.name:
        return None
    rated = {key.ref_table for key in known.vocabulary.tables[ratings[0].table].table.foreign_keys}
    if table.name in rated and len(rated) > 1 and personal(known.vocabulary, table.name):  # who gave the ratings
        return None
    compared = {"better than": "over", "worse than": "under"}.get(match["cmp"].lower(), match["cmp"])
    return Wording(f"{match['x']} with average {' '.join(ratings[0].words)} {compared} {match['n']}")


@rule(
    r"^how (?:do|did) (?:the |our )?(?P<who>[a-z]+) (?:rate|like|score|review) (?:us|our [a-z]+)(?: on average)? "
    r"(?:in|per|by|for|at) (?:each |every |the different )?(?P<group>.+?)(?: on average)?[?.! ]*$"
)
def how_rated(match: re.Match[str], known: Known) -> Wording | None:
    """`how do guests rate us in each category` as `average rating per category`."""
    ratings = _ratings(known)
    return Wording(f"average {' '.join(ratings[0].words)} per {match['group']}") if len(ratings) == 1 else None


@rule(
    r"(?P<with>\b(?:with|having|have|has|got) (?:(?:at least|at most|more than|less than|fewer than|over|under) )?"
    rf"(?:\d+|{SMALL_NUMBERS})) (?P<what>ratings|scores|grades|marks)\b"
)
def times_rated(match: re.Match[str], known: Known) -> Wording | None:
    """`with at least 5 ratings` as `with at least 5 reviews`, where each review holds one rating."""
    one = lemma(match["what"].lower())
    holders = [c.table for c in known.figures() if c.words[-1] == one]
    table = known.vocabulary.tables[holders[0]] if len(holders) == 1 else None
    if table is None or known.table(match["what"]) is not None or not table.table.foreign_keys:
        return None
    return Wording(f"{match['with']} {table.plural}", notes=(f"{match['what'].lower()}: {table.plural}",))
