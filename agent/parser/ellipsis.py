"""Ellipsis: whether a question leaves out what the question before it said.

In: the text of a question, or its `Utterance`. Out: the text without the words that only link it (`and`, `what about`),
and whether the rest is incomplete. `follow_up` completes it.
"""

from __future__ import annotations

import re

from agent.parser.utterance import Utterance
from agent.parser.word_lists import word_list
from eval.language.lexicon import word_set
from eval.language.tokens import tokenize


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


def asks(utterance: Utterance) -> bool:
    """Whether the text starts as a whole question does (`can you show`, `which`)."""
    return _ASKS.match(utterance.text) is not None


def _asks_for_itself(utterance: Utterance) -> bool:
    """`what is the price of tea?`: a whole question, which asks for a column of its own and names the row or value."""
    if not asks(utterance) or not (utterance.columns() or utterance.measures()):
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
