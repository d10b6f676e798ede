"""What a question asks for, read from its words alone: no schema, no model, a few hundred microseconds.

In: the question's text. Out: an `Intent`, whose every field names what was seen. A reading is a hint: the evidence
that rests on it weighs by how often it was right on recorded answers, and never decides alone.
"""

from __future__ import annotations

import re
from calendar import month_name
from dataclasses import dataclass
from functools import lru_cache

from eval.language.numbers import NUMBER_WORDS, SMALL_NUMBERS, numerals
from eval.language.tokens import quotations, quotes_replaced

_FLAGS = re.IGNORECASE


def _any(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", _FLAGS)


_COUNT = _any(r"how many|(?:the |total |whole )(?:total )?(?:numbers?|count|amount) of|number of|count(?:s|ing)?")
_COUNT_ONLY = re.compile(
    r"^\W*(?:please )?(?:how many|count\b|(?:what (?:is|are) |find |give |return |show |get |calculate )?(?:me )?"
    r"(?:the )?(?:total |whole )?(?:number|count) of)",
    _FLAGS,
)
_AVERAGE = _any(r"averages?|avg|mean(?! by)|on average")
_SUM = _any(r"total(?! number| count| of how many)|sum|altogether|overall|combined")
_HOW_MUCH = _any(r"how much")
_BOUND = rf"(?! of (?:\d|(?:{SMALL_NUMBERS}|twice|double|half)\b))"
"""`a minimum of three` bounds and asks for no extreme."""
_MAXIMUM = _any(rf"max(?:imum|imal)?{_BOUND}")
_MINIMUM = _any(rf"min(?:imum|imal)?{_BOUND}")
_MOST = _any(
    r"(?<!at )most|highest|largest|biggest|greatest|longest|oldest|latest|newest|best|top|"
    rf"max(?:imum)?{_BOUND}|"
    r"heaviest|tallest|last|most recent(?:ly)?|farthest|richest|busiest|fastest|strongest"
)
_LEAST = _any(
    r"(?<!at )least|lowest|smallest|shortest|youngest|earliest|fewest|"
    rf"min(?:imum)?{_BOUND}|"
    r"cheapest|bottom|worst|lightest|first|slowest"
)
_NO_SUPERLATIVE = re.compile(
    # `first and last names`, `the first quarter`; `highest first` and `from oldest to youngest` order all rows.
    rf"\b(?:first|last) (?:(?:and|or) (?:its |the |their )?(?:first|last) )?(?:(?:\d+|{SMALL_NUMBERS}) )?"
    r"(?:names?|days?|weeks?|months?|quarters?|half|halves|years?)\b"
    r"|\b(?:most|least|best|worst|[^\W\d_]+est|(?:small|larg|high|low|old|young|earli|lat)er)(?: [^\W\d_]+){0,3}?"
    r" (?:comes? |ones? )?first\b"
    r"|\bfrom (?:the )?[^\W\d_]+est to (?:the )?[^\W\d_]+est\b",
    _FLAGS,
)
_MOST_EXTRA = re.compile(r"\bmost (?:\w+ )?(?:common|popular|expensive|frequent|recent)\w*", _FLAGS)
_TOP_K = re.compile(
    rf"(?<!at )\b(?:top|first|last|best|worst|bottom|most|least|largest|highest|lowest|oldest|youngest)"
    rf"\s+(\d+|{SMALL_NUMBERS})\b(?![- ]stars?\b)"
    rf"|\b(\d+|two|three|four|five|six|seven|eight|nine|ten)\s+(?:\w+\s+)?"
    rf"(?:most|least|largest|smallest|highest|lowest|oldest|youngest|best|worst|cheapest|longest|shortest|newest)\b"
    rf"|\blimit(?: of)? (\d+)\b",
    _FLAGS,
)
_NUMBERED_PERIOD = re.compile(
    rf"\b(?:first|last) (?:\d+|{SMALL_NUMBERS}) (?:days?|weeks?|months?|quarters?|years?|hours?|minutes?)\b", _FLAGS
)
"""`the last 3 months` are no three rows."""
_PER_GROUP = _any(
    r"(?:for|of|by|in|from|to|at) (?:each|every)|each(?! (?:[^\W\d_]+ )?(?:other|once))|"
    r"(?<!miles )(?<!kilometers )per(?! (?:cent|capita|\d))|grouped by|for all the different|"
    r"by (?:country|year|month|type|category|region|city|status|name|quarter|day|department|state)|"
    r"respective(?:ly)?"
)
_DISTINCT = _any(r"distinct|different|unique|uniquely|deduplicated|without duplicates|distinctive")
_NEGATION = _any(
    # `stock by part no` is by its number
    r"not|no(?!\s*(?:$|[.,?!)]|and\b|or\b|by\b|per\b))|never|without|"
    r"(?:do|does|did|is|are|was|were|have|has|had|could|would|should|ca|wo)n['’]?t|w/o|except|excluding|"
    r"neither|nor|none|other than|lack(?:s|ing)?|exclude[sd]?|outside|unassigned|missing"
)
_NO_EXCLUSION = re.compile(
    # `albums (not tracks)`, `No. 7`; `not more than 4` bounds, and an inner join leaves out what has none.
    r"\([^)]*\bnot\b[^)]*\)|\bno(?:\.| (?=\d))|\bor not\b|\bnot (?:necessarily|only)\b"
    r"|(?:\b(?:no|not|never)|n['’]?t) (?:[^\W\d_]+ )?(?:more|less|fewer|higher|lower|greater|larger|smaller|older"
    r"|younger|longer|shorter|later|earlier|above|below|over|under|exceed(?:ing|ed|s)?)\b"
    r"|\bleav(?:e|ing) out [^.;]*\b(?:without|no)\b|\b(?:without|no) [^.;]* left out\b",
    _FLAGS,
)
_AMOUNT = (
    rf"(?= (?:[^\W\d_]+ ){{0,2}}(?:[$€£]?\d|(?:{SMALL_NUMBERS}|hundred|thousand|million|average|mean|median|maximum"
    r"|minimum|that|those|what)\b))"
)
"""After `over` or `under`, which stand for a place or a chain of command as well."""
_TIME = (
    rf"(?= (?:[^\W\d_]+ ){{0,3}}(?:\d{{4}}\b|\d+[-/:.]\d|(?:{'|'.join(filter(None, month_name))}|years?|dates?|noon"
    r"|midnight|that|those)\b))"
)
"""After `before`, which stands between steps as well."""
_GREATER = _any(
    r"(?:more|greater|higher|larger|older|bigger|longer|heavier|later|taller|better)(?: \w+)? than|"
    rf"(?:over|above){_AMOUNT}|after{_TIME}|"
    r"exceed(?:s|ing)?|at least(?! (?:one|1|once)\b)|since|no less than|or more|or higher|"
    r"from (?=\d{4})(?!\d{4} (?:to|through|until)\b)"
)
_SMALLER = _any(
    r"(?:less|fewer|smaller|lower|younger|shorter|lighter|earlier|worse|cheaper)(?: \w+)? than|"
    rf"(?:under|below){_AMOUNT}|before{_TIME}|"
    r"at most|no more than|or less|or fewer|up to"
)
_CONTAINS = re.compile(
    r"\b(?:contain\w*|includ\w+|start\w*|begin\w*|end(?:s|ing)? (?:with|in)"
    r"|substring|letters?|word|phrase|char(?:acter)?s?|prefix|suffix|like|has the (?:string|word)"
    r"|in (?:its|their|the) (?:\w+ )?names?)\b",
    _FLAGS,
)
_ORDER = re.compile(
    # `order` alone is as often a thing that customers place.
    r"^\W*(?:order|rank)\b|\b(?:(?:sort|arrang)(?:ed|ing|s|e)?\b|rank(?:ed|ing|s)? (?:\w+ ){0,6}by\b"
    r"|ordered (?:by|from|alphabetic\w*)\b"
    r"|order(?:ing)? (?:\w+ ){0,4}by\b|(?:and|then|,) order (?:the|them|it|all|these|results?)\b"
    r"|in (?:the )?order\b|in (?:the )?(?!(?:an?|any|no|one|each|every|this|that|same|their|which|what)\b)\w+ order\b"
    r"|in (?:\w+ )?"
    r"(?:ascending|descending|alphabetic\w*|increasing|decreasing|lexicographic\w*"
    r"|chronologic\w*|reverse)|ascending|descending|alphabetic\w*|from (?:the )?\w+(?:est)? to (?:the )?\w+(?:est)\b)",
    _FLAGS,
)
_DESCENDING = re.compile(
    r"\b(?:descending|desc|decreasing|reverse"
    r"|from (?:the )?(?:oldest|highest|largest|most|high|large|longest|biggest|newest|latest)\b)",
    _FLAGS,
)
_ASCENDING = re.compile(
    r"\b(?:ascending|asc|increasing|alphabetic\w*|lexicographic\w*"
    r"|from (?:the )?(?:youngest|lowest|smallest|least|low|earliest|shortest)\b)",
    _FLAGS,
)
_ID = re.compile(r"\b(?:ids?|identifiers?|codes?|keys?|numbers?|no\.)(?!\w)", _FLAGS)
_SHARE = _any(r"percent(?:age)?s?|ratio|share of|proportion|rate")
_NAMED_LIKE_EXTREMES = re.compile(r"(?<=[a-z,] )(?:Min|Max)(?= [A-Z])")
"""A name such as Max Weber, inside a sentence."""
_PROPER = re.compile(r"(?<=[\w,;:('\"] )(?<![.?!\d] )([A-Z][\w’'-]*(?: (?:of |the |de )?[A-Z][\w’'-]*)*|[A-Z]{2,})")


@dataclass(frozen=True, slots=True)
class Intent:
    """What the words say. `count` may concern a part of the question only; `count_only` the whole of it."""

    count: bool
    count_only: bool
    average: bool
    total: bool
    maximum: bool
    minimum: bool
    most: bool
    least: bool
    top: int | None
    """The k of a top-k question, 1 for a plain superlative in the singular, None elsewhere."""
    per_group: bool
    distinct: bool
    negation: int
    excludes: bool
    """Some negation leaves something out; others bound, or stand beside what is meant."""
    greater: bool
    smaller: bool
    contains: bool
    order: bool
    descending: bool | None
    """Direction asked for; None when none is named."""
    asks_id: bool
    share: bool
    singular: bool
    """The question asks for one thing (`what is the name of the ... that`)."""
    numbers: tuple[float, ...]
    quoted: tuple[str, ...]
    proper: tuple[str, ...]
    """Capitalised words inside the question, likely names of things."""

    @property
    def superlative(self) -> bool:
        return self.most or self.least

    @property
    def aggregate(self) -> bool:
        return self.count or self.average or self.total or self.maximum or self.minimum


_SINGULAR = re.compile(
    r"^\W*(?:(?:find|give|show|return|tell|list|get|state)\b(?: me)? )?"
    r"(?:what(?:'s| is| was)|which|who (?:is|was)|where is|when (?:is|was|did|does)|the)\b",
    _FLAGS,
)
_PLURAL = re.compile(
    r"^\W*(?:what are|which are|who are|list\b|show all|find all|what were)"
    r"|^\W*(?:\w+ ){1,3}(?:names|ids|titles|all)\b",
    _FLAGS,
)


def ranked_text(question: str) -> str:
    """The question without quotations and without what sounds like an extreme and is none."""
    return _NO_SUPERLATIVE.sub(" ", quotes_replaced(question, " "))


def superlatives(question: str) -> list[str]:
    """The words of a question that ask for an extreme."""
    ranked = ranked_text(question)
    return [*_MOST.findall(ranked), *_LEAST.findall(ranked)]


@lru_cache(maxsize=512)
def read_intent(question: str) -> Intent:
    """Read a question. Never raises; an empty question asks for nothing."""
    text = question[:4000]
    outside = _NAMED_LIKE_EXTREMES.sub(" ", quotes_replaced(text, " "))

    def has(pattern: re.Pattern[str]) -> bool:
        return pattern.search(outside) is not None

    ranked = _NO_SUPERLATIVE.sub(" ", outside)
    top = _TOP_K.search(_NUMBERED_PERIOD.sub(" ", outside))
    most, least = _MOST.search(ranked) is not None, _LEAST.search(ranked) is not None
    singular = has(_SINGULAR) and not has(_PLURAL)
    k = None
    if top:
        digits = next(g for g in top.groups() if g)
        k = int(digits[:9]) if digits.isdecimal() else NUMBER_WORDS[digits.lower()]
    elif (most or least) and singular:
        k = 1
    descending = True if has(_DESCENDING) else False if has(_ASCENDING) else None
    return Intent(
        count=has(_COUNT),
        count_only=has(_COUNT_ONLY),
        average=has(_AVERAGE),
        total=has(_SUM) or (has(_HOW_MUCH) and not has(_AVERAGE)),
        maximum=has(_MAXIMUM),
        minimum=has(_MINIMUM),
        most=most or has(_MOST_EXTRA),
        least=least,
        top=k,
        per_group=has(_PER_GROUP),
        distinct=has(_DISTINCT),
        negation=len(_NEGATION.findall(outside)),
        excludes=_NEGATION.search(_NO_EXCLUSION.sub(" ", outside)) is not None,
        greater=has(_GREATER),
        smaller=has(_SMALLER),
        contains=has(_CONTAINS),
        order=has(_ORDER),
        descending=descending,
        asks_id=has(_ID),
        share=has(_SHARE),
        singular=singular,
        numbers=numerals(outside),
        quoted=tuple(q.text.strip() for q in quotations(text)),
        proper=tuple(dict.fromkeys(_PROPER.findall(text))),
    )


_SUPPOSED = re.compile(
    r"\b(?:if|suppos(?:e|es|ing)|assum(?:e|es|ing)|given that|provided that|under the premise|hypothetical\w*)\b",
    re.IGNORECASE,
)
"""What a question supposes is not in the data: the query need not look for it."""


def supposes(question: str) -> bool:
    """Whether the question supposes something: `if prices rose by 20%`."""
    return _SUPPOSED.search(question) is not None
