"""Follow-ups: rewrite an elliptical question (`and by region?`, `only 2024`, `who are they?`) as a standalone one.

In: the question, the turns before it, the schema and, if there is one, the value index. Out: a standalone question, or
None when the question already is one. Nothing is guessed beyond the previous turn: its words are kept, and one thing in
them is replaced, added or dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from agent.knowledge.effort import MOST_STEPS, TooTangled, limited
from agent.knowledge.values import EMPTY, ValueIndex
from agent.parser.utterance import RELATIVE, Utterance
from agent.parser.word_lists import word_list
from agent.runtime.form import in_that_form
from eval.language.lexicon import word_set
from eval.language.numbers import number_of
from eval.language.tokens import tokenize
from eval.schema import Schema

MAX_LENGTH = 300
"""Characters; a longer question is not a follow-up, whatever its words."""
_SHORT = 3
"""A question of at most this many words may be a bare value with an asking word (`which in Berlin?`)."""


class Turn(Protocol):
    """One earlier turn of a conversation: the standalone question, and the statement that answered it."""

    @property
    def question(self) -> str: ...

    @property
    def sql(self) -> str: ...


def restate(question: str, earlier: Sequence[Turn], schema: Schema, values: ValueIndex = EMPTY) -> str | None:
    """The question in its standalone form; None when it needs no earlier turn, or when it cannot be completed.

    Only the last turn of `earlier` is used, so pass standalone questions. `values` lets `what about Canada?` find the
    country it replaces; without it, the constants of the turn's statement are used. Pure; never raises for any text.
    """
    if not earlier or len(question) > MAX_LENGTH or len(earlier[-1].question) > 4 * MAX_LENGTH:
        return None
    if shown := in_that_form(question, earlier[-1].question):
        return shown
    body, joined, narrowed = without_links(question)
    if not body or not schema.tables:
        return None
    try:
        with limited(MOST_STEPS):
            utterance = Utterance(body, schema, values)
            if not incomplete(utterance, joined or narrowed):
                return None
            before = Utterance(earlier[-1].question, schema, values, earlier[-1].sql)
            for rule in _RULES:
                if (restated := rule(utterance, before, joined)) is not None:
                    return restated
            return _with_antecedent(utterance, before)
    except TooTangled:
        return None


def points_back(question: str) -> bool:
    """Whether a question has a pronoun, or words that only join it to the one before (`and`, `only`, `by country`)."""
    body, joined, narrowed = without_links(_THIS_PERIOD.sub("", question))
    words = [token.lower for token in tokenize(body)]
    return joined or narrowed or not words or words[0] in _TYING or bool(_PRONOUNS & set(words))


_THIS_PERIOD = re.compile(r"\bthis (?:day|week|month|quarter|year|morning)\b", re.IGNORECASE)
_OPENING = re.compile(
    r"(?P<joined>and|but|now|then|so|also|ok(?:ay)?|what about|how about|what's with|the same|same(?: thing)?|again|"
    r"do the same|instead|thanks?(?: you)?)\b[\s,:]*"
    r"|(?P<narrowed>(?:show |give |list )?(?:me )?(?:only|just|limited to|restrict(?:ed)?(?: it| this)? to|"
    r"filter(?:ed)?(?: (?:it|this|them))? (?:to|by|on)|narrow(?: it)? (?:down )?to))\b[\s,:]*"
    r"|(?P<polite>please|can you|could you|would you)\b[\s,]*",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"[\s,]*(?:\b(?:please|instead|as well|too|then|again|though|thanks|only)\b|[?.!])\s*\Z", re.I)


def without_links(question: str) -> tuple[str, bool, bool]:
    """The question without the words that only link it to the previous one, and whether they add or narrow."""
    text, joined, narrowed = " ".join(question.split()), False, False
    while match := _OPENING.match(text):
        rest = text[match.end() :]
        joined, narrowed = joined or bool(match["joined"]), narrowed or bool(match["narrowed"])
        text = rest
    while match := _CLOSING.search(text):
        narrowed = narrowed or "only" in match.group().lower()
        joined = joined or match.group().strip(" ,").lower() in ("instead", "too", "as well")
        text = text[: match.start()]
    return text, joined, narrowed


_PRONOUNS = word_set("them they those these it its their theirs he she his her him ones one that this")
_TYING = word_list("tying")
ASKING = word_set("which what who whose where when how list show give find display count tell name return get")


def incomplete(utterance: Utterance, linked: bool) -> bool:
    """Whether the question needs the one before it; `linked` if its first or last words said so."""
    if _whole(utterance):
        return False
    # the words alone show that something is missing: no table, or a pronoun with no antecedent
    pronoun = any(t.lower in _PRONOUNS for t in utterance.tokens)
    sorts = utterance.starts("sort", "order", "sorted", "ordered", "by", "per", "rank", "grouped")
    # `total revenue in 2025`: a measure of its own, with no link to the previous question
    measured = bool(utterance.measures()) and not (pronoun or utterance.starts(*_TYING))
    return linked or ((pronoun or sorts or not utterance.tables()) and not measured)


def _whole(utterance: Utterance) -> bool:
    """Whether the question names its own subject, so that it is standalone despite a leading `and`."""
    tables = utterance.tables()
    first = utterance.tokens[0].lower if utterance.tokens else ""
    asks = first in ASKING or utterance.has("count")
    measured = utterance.has("agg", "sup", "sup_adj") and bool(utterance.columns() or utterance.measures())
    pronoun = next((k for k, t in enumerate(utterance.tokens) if t.lower in _PRONOUNS), None)
    if pronoun is not None and utterance.tokens[pronoun].lower in ("that", "this", "one"):
        after = utterance.tokens[pronoun + 1].lower if pronoun + 1 < len(utterance.tokens) else ""
        pronoun = pronoun if pronoun == len(utterance.tokens) - 1 or after in ("one", "is", "was") else None
    if pronoun is not None and _INVERTED.match(utterance.text):
        return False
    if pronoun is not None:
        antecedent = bool(tables) and utterance.items[tables[0]].start < pronoun
        return antecedent and not utterance.starts("of", "sort", "order")
    if utterance.starts(
        "sort", "order", "by", "per", "for", "in", "from", "with", "without", "sorted", "only", "grouped"
    ):
        return False
    if _asks_for_itself(utterance):
        return True
    if tables:
        return asks or measured or len(utterance.tokens) > 2 + (first in ("the", "all", "our"))
    return asks and measured and not utterance.starts("the") and len(utterance.tokens) > 4


_ASKS = re.compile(
    r"(?:(?:hello|hi|hey|great|nice|wonderful|perfect|finally|excellent|okay|k)\b[\s,.!]*)*"
    r"(?:(?:can|could|would|will|may) (?:you|i|we) (?:please )?(?:also )?(?:tell|show|give|list|have|know|get|find)\b"
    r"|(?:what|which|who|whose|whom|where|when|how|show|list|give|find|tell|get|display|return|provide)\b)",
    re.IGNORECASE,
)


def _asks_for_itself(utterance: Utterance) -> bool:
    """`what is the price of tea?`: a whole question, which asks for a column of its own and names the row or value."""
    if not _ASKS.match(utterance.text) or not (utterance.columns() or utterance.measures()):
        return False
    if re.match(r"(?:and|what about|how about)\b", utterance.text, re.IGNORECASE):
        return False
    named = any(t.capital or t.kind == "quoted" for t in utterance.tokens[1:])
    return bool(utterance.values_named()) or named


_INVERTED = re.compile(
    r"(?:which|what|whose|how many|how much) [\w ]{1,40}? (?:are|were|is|was|do|did|does|have|has|had|can) "
    r"(?:they|it|those|these|he|she|them)\b",
    re.I,
)


_HOW_MANY = re.compile(
    r"(?:so )?(?:how many|count|what is the count|the count|the number)(?: (?:of )?(?:them|those|these|there|ones))?"
    r"(?: (?:are|is|were|do we have|in total)(?: (?:there|they|those|that|it|these))?)?(?: in total| overall)?\Z",
    re.I,
)
_HOW_MANY_MORE = re.compile(
    r"how many(?: of (?:them|those|these))?\s+(?=(?:per|by|in|from|for|with|without|are|were|have|has)\b)", re.I
)


def _count(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`how many are there?`, `how many per country?`"""
    if _HOW_MANY.match(utterance.text):
        phrase = before.things()
        return f"How many {phrase} are there?" if phrase else None
    match = _HOW_MANY_MORE.match(utterance.text)
    phrase = before.things() if match and not utterance.tables() else ""
    return f"How many {phrase} {utterance.text[match.end() :]}?" if match and phrase else None


_LISTED = re.compile(
    r"(?:who|what|which)(?: ones?)? (?:are|were|is|was) (?:they|these|those|there|it|that)\Z|which(?: ones?)?\Z|who\Z|"
    r"(?:list|show|name|give|display|print|see)(?: me)?(?: all)?(?: of)? (?:them|those|these)(?: all)?\Z|"
    r"what are (?:their|the) names\Z|(?:show |list )(?:me )?(?:their|the) names\Z",
    re.I,
)


def _listed(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`who are they?` after a count."""
    if not _LISTED.match(utterance.text):
        return None
    phrase = before.phrase(plain=True)
    return f"List {_the(phrase)}" if phrase else None


def _the(phrase: str) -> str:
    return phrase if re.match(r"(?:the|all|our|every|each)\b", phrase, re.I) else f"the {phrase}"


_SORT = re.compile(
    r"(?:sort|order|rank|arrange|sorted|ordered|ranked|arranged)"
    r"(?: (?:them|it|these|those|this|that|the (?:results?|list|rows|table|output|\w+)))?(?P<how>(?: |\Z).*)",
    re.I,
)
_DIRECTION = re.compile(
    r"(?:(?:in|from) )?(?:alphabetically|(?:the )?(?:ascending|descending|reversed?|(?:reverse )?alphabetical)"
    r"(?: order)?|\w+(?: \w+)? (?:ones )?first|(?:high|low|highest|lowest|newest|oldest) to \w+)\Z",
    re.I,
)


def _sorted(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`sort by name`, `highest first`, `in descending order`."""
    match = _SORT.match(utterance.text)
    how = match["how"].strip() if match else (utterance.text if _DIRECTION.match(utterance.text) else "")
    if not how:
        return None
    how = re.sub(r"^in (?:the )?reversed? order\Z|^reversed?(?: order)?\Z", "in descending order", how, flags=re.I)
    kept = before.without_order() if how.startswith("by ") else before.text_only()
    return f"{kept}, sorted {how}" if how.startswith(("by ", "in ", "from ")) else f"{kept}, {how}"


_LIMIT = re.compile(
    r"(?:show |give |list )?(?:me )?(?:only )?(?:the )?(?:"
    r"(?P<side>top|first|bottom|best|worst|highest|lowest|largest|smallest|biggest|last) (?P<n>\w+)"
    r"|(?P<m>\w+) (?P<side2>highest|lowest|largest|smallest|biggest|best|worst))"
    r"(?: (?:ones?|of (?:them|those|these)|results?|rows?))?\Z"
    r"|(?:(?:limit(?: (?:it|this|that|them))? to|make (?:it|that|them)) )?(?:the )?"
    r"(?P<k>\w+)(?: of (?:them|those|these)| results?| rows?)?\Z",
    re.I,
)


def _limited(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`the top 3`, `only the first five`."""
    match = _LIMIT.match(utterance.text)
    if match is None:
        return None
    number = number_of(match["n"] or match["m"] or match["k"] or "")
    if not isinstance(number, int) or not 1 <= number <= 1000:
        return None
    side = (match["side"] or match["side2"] or "top").lower()
    if side in ("bottom", "worst", "lowest", "smallest", "last"):
        return before.limited(number, "bottom")
    return before.limited(number, "top" if side != "first" and before.counts_rows() else "first")


def _extreme(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`and the cheapest?`, `the second one?`: another superlative replaces the previous one."""
    text = re.sub(
        r"^(?:what is |who is |which is |which one is )?(?:the )?|(?: ones?)?\Z", "", utterance.text, flags=re.I
    )
    if text.lower() in ("second", "third", "fourth", "2nd", "3rd"):
        return before.ranked(text.lower())
    if not text or len(utterance.kinds()) != 1 or not utterance.has("sup", "sup_adj", "sup_count", "common"):
        return None
    return before.replaced(("sup_adj", "sup", "sup_count", "common"), text)


def _function(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`and the average?`: another aggregate of the same column."""
    text = re.sub(r"^(?:what is |what's |what was )?(?:the )?|(?: one| value| of (?:that|those|them|these))?\Z", "",
                  utterance.text, flags=re.I)  # fmt: skip
    named = utterance.columns() or utterance.tables() or utterance.measures() or utterance.values_named()
    if not text or named or not utterance.kinds() or utterance.kinds() - {"agg", "sup", "sup_adj"}:
        return None
    return before.aggregated(text)


_GROUPED = re.compile(
    r"(?:(?:show |give |list |split |break )?(?:it |them |this |that |me )?(?:down |up )?)?(?:(?:group|grouped|split|"
    r"broken|break|divided)(?: (?:it|them|this|that))?(?: down| up)? (?:by|per)|by|per|for each|for every|in each|"
    r"each|every|across|of each|for the different)\s+(?P<what>.+)\Z",
    re.I,
)


def _group(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`and by region?`: a new grouping replaces the previous one, or is added."""
    match = _GROUPED.match(utterance.text)
    if match is None:
        return None
    what = match["what"]
    only = Utterance(what, utterance.schema, utterance.values)
    calendar = what.lower() in ("year", "month", "day", "quarter", "week")
    if not calendar and not (only.tables() or only.columns() or only.measures()):
        return None
    return before.grouped(re.sub(r"^(?:the|each|every) ", "", what, flags=re.I))


_DENIED = re.compile(
    r"(?:not|except(?: for)?|excluding|without|apart from|but not|other than|leaving out)\b", re.IGNORECASE
)


def _swapped(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`what about Canada?`, `only 2024`, `in March 2025?`: another value or period, or an additional condition."""
    if _ASKS.match(utterance.text) and len(utterance.tokens) > _SHORT:
        return None
    one_word = len(utterance.items) == 1 and before.with_value(utterance, utterance.text)
    if one_word:
        return one_word
    if utterance.columns() and not utterance.values_named():
        return None
    denied = _DENIED.match(utterance.text)
    period = utterance.period()
    if period is not None:
        rewritten = before.with_period(period)
        lead = utterance.text[: utterance.text.find(period)].strip() or "in"
        if not re.fullmatch(r"(?:in|for|during|since|after|before|until|from|of|on)(?: the)?", lead, re.I):
            lead = "in"
        if rewritten is not None and not denied:
            return rewritten
        return before.extended(
            f"except in {period}" if denied else (period if RELATIVE.match(period) else f"{lead} {period}")
        )
    if utterance.tables() and not utterance.values_named():
        return None
    if not utterance.values_named() and not utterance.literal():
        return None
    text = re.sub(r"(?:^the\b|\bones?\Z|\bthose\b|^with\b)", "", utterance.text, flags=re.I).strip()
    if denied:
        return before.extended(f", {utterance.text}" if denied.group().lower() != "not" else utterance.text)
    bare = re.sub(
        r"^(?:the )?(?:in|for|from|by|of|with|to|at|on|the ones? (?:in|from))(?: the)?\s+", "", text, flags=re.I
    )
    if joined or not utterance.starts("with"):
        rewritten = before.with_value(utterance, bare)
        if rewritten is not None:
            return rewritten
    if utterance.has("cmp", "cmp_adj", "like", "post"):
        return None
    lead = "" if bare != text else ("that are " if utterance.values_lower() else "for ")
    return before.extended(lead + text)


_SHOWING = re.compile(
    r"(?:(?:also|and) )?(?:(?:show|give|add|include|display|list|with|tell)(?: me| us)?(?: also| as well)? )"
    r"(?:the |their |its |a )?(?P<what>.+)\Z|(?:their|its|his|her) (?P<own>.+)\Z",
    re.I,
)


def _column(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`with their emails`, `and the price?`: an additional column, or another one under the aggregate."""
    if utterance.tables() or utterance.values_named() or not (utterance.columns() or utterance.measures()):
        return None
    if utterance.starts("what", "how", "where", "when", "which", "who"):
        return None
    if utterance.has("cmp", "cmp_adj", "like", "neg", "relative", "order"):
        return None
    bare = re.sub(r"^the ", "", utterance.text, flags=re.I)
    if joined or utterance.has("agg", "sup"):
        changed = before.with_column(bare, utterance)
        if changed is not None:
            return changed
    match = _SHOWING.match(utterance.text)
    what = (match["what"] or match["own"]) if match else bare
    if before.counts_rows():
        return None
    return before.extended(f", along with their {re.sub(r'^(?:the|their|its) ', '', what, flags=re.I)}")


def _entity(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`and suppliers?`: another table replaces the previous one."""
    tables = utterance.tables()
    if len(tables) != 1 or not joined or utterance.has("relative", "cmp", "neg") or utterance.values_named():
        return None
    bare = re.sub(r"^(?:the|all|our) ", "", utterance.text, flags=re.I)
    if len(utterance.tokens) > len(utterance.tokens_of(tables[0])) + 1:
        return None
    return before.with_table(bare)


_THOSE = re.compile(r"(?:(?:show|list|give) (?:me )?)?(?:the ones?|those|these|them|ones)\s+(?=\w)", re.I)


def _narrowed(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`only those above 50`, `more than 100?`, `without a phone`: an additional condition, or another number."""
    text = _THOSE.sub("", utterance.text, count=1) if _THOSE.match(utterance.text) else utterance.text
    rest = Utterance(text, utterance.schema, utterance.values)
    first = rest.first_kind()
    if first not in ("cmp", "cmp_adj", "relative", "neg", "like", "except") and not rest.starts(
        "with", "without", "in", "from", "for", "over", "under", "above", "below", "at", "between", "on", "during"
    ):
        return None
    if utterance.starts("is", "are", "was", "were", *ASKING) and text == utterance.text:
        return None
    if joined and first in ("cmp", "cmp_adj") and (changed := before.with_number(rest)) is not None:
        return changed
    if rest.starts("with") and len(rest.items) > 1 and rest.items[1].is_keyword("cmp") and not rest.columns():
        text = text[len("with ") :]
        rest, first = Utterance(text, utterance.schema, utterance.values), "cmp"
    if first in ("cmp", "cmp_adj") and not rest.columns():
        text = before.comparing(text, rest)
    return before.extended(text)


_POSSESSIVE = re.compile(
    r"(?P<ask>(?:what|where|when|who|show|list|give|find|tell)\b.*?)\b(?:their|its|his|her)\b\s*(?P<what>.+)\Z", re.I
)
_REFERRING = re.compile(r"\b(?:them|they|those|these|it|he|she|him|that one|this one)\b", re.I)


def _with_antecedent(utterance: Utterance, before: Utterance) -> str | None:
    """`where do they live?`, `what is its price?`: the pronoun is replaced by its antecedent."""
    phrase = before.phrase()
    if phrase is None:
        return None
    if match := _POSSESSIVE.match(utterance.text):
        ask = match["ask"].strip()
        return f"{ask[:1].upper()}{ask[1:]} the {match['what']} of {_the(phrase)}?"
    if not _REFERRING.search(utterance.text) or len(utterance.tokens) < 4 or _AMOUNT_ONLY.match(utterance.text):
        return None
    text = _REFERRING.sub(lambda _: _the(phrase), utterance.text, count=1)
    return f"{text[:1].upper()}{text[1:]}?"


_AMOUNT_ONLY = re.compile(
    r"(?:how much|what(?: \w+)?|why|how) (?:is|was|are|were|do|did) (?:it|that|they|those)\Z", re.I
)
_OF_THOSE = re.compile(
    r"(?P<who>which|who|how many)(?: of (?:them|those|these)| ones?)?\s+(?P<rest>.+)\Z"
    r"|of (?:them|those|these),?\s+(?P<who2>which|who|how many)(?: ones?)?\s+(?P<rest2>.+)\Z",
    re.I,
)


def _of_those(utterance: Utterance, before: Utterance, joined: bool) -> str | None:
    """`which of them never ordered?`, `how many of those are discontinued?`: an additional condition on the
    same rows."""
    match, tables = _OF_THOSE.match(utterance.text), utterance.tables()
    if match is None or (match["who"] or "").lower() == "who" or (tables and utterance.items[tables[0]].start < 3):
        return None
    rest = (match["rest"] or match["rest2"]).strip()
    if _REFERRING.search(rest) or len(rest.split()) < 2 or not re.match(r"[a-z]", rest):
        return None
    phrase = before.things()
    start = "How many" if (match["who"] or match["who2"]).lower() == "how many" else "Which"
    return f"{start} {phrase} {rest}?" if phrase else None


_RULES = (
    _count, _listed, _sorted, _limited, _extreme, _function, _group, _of_those, _swapped, _column, _entity, _narrowed,
)  # fmt: skip
