"""Wording of shapes: `share of orders by status`, `median price`, `revenue 2023 vs 2024`.

In: a question's text and the schema's vocabulary. Out: the plain question that gives the figures, and the `Shape` of
the computation on them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from agent.knowledge.vocabulary import TableWord, Vocabulary
from agent.parser.interpretation import ALL_ROWS, Shape
from eval.language.inflection import lemma
from eval.language.lexicon import word_set


@dataclass(frozen=True, slots=True)
class Wording:
    """A question in the wording that is read."""

    text: str
    shape: Shape | None = None
    notes: tuple[str, ...] = ()
    guessed: bool = False
    """The question did not say what to rank by; revenue was assumed."""
    doubt: str = ""
    """What was assumed without the question saying so, and what else may be meant: such a reading is not sure."""
    lost: tuple[str, ...] = ()
    """Content words of the question that the rewording lost."""


def shaped_wording(text: str, vocabulary: Vocabulary, today: dt.date) -> Wording | None:
    """The plain question and the shape that the question asks for, if it asks for one."""
    return next(filter(None, (rule(text, vocabulary, today) for rule in _SHAPES)), None)


_BY = r"(?:by|per|for each|for every|in each|of each|across)"
_PERIOD = r"(?P<period>day|week|month|quarter|year)"
_IN_PERCENT = r"(?: (?:in|as)(?: an?)? (?:percent|percentages?|share)(?: of (?:the )?(?:total|all))?)"
_SHARE = re.compile(
    rf"^(?:(?:what|show|give)(?: is| was| me)? )?(?:the )?(?:share|percentage|percent|proportion) of"
    rf" (?:the )?(?:total |all )?"
    rf"(?P<x>.+?) (?P<g>{_BY} .+?){_IN_PERCENT}?$"
    rf"|^(?P<x2>.+?) (?P<g2>{_BY} .+?){_IN_PERCENT}$"
    rf"|^(?P<x3>\w+) share (?P<g3>{_BY} .+?){_IN_PERCENT}?$"
    r"|^(?:what|which) (?:share|percentage|percent|proportion) of (?:the |our )?(?:total )?(?P<x4>.+?) "
    r"(?:comes? from|came from|is from|goes to|went to|belongs to|is in|are in|falls? (?:on|in|to|under)|does|did) "
    r"(?P<g4>each .+?)(?: (?:have|has|make|made|bring|brought|account|earn|earned|get|got|receive|run|hold|take)"
    r"(?: in| for| up)?)?$",
    re.IGNORECASE,
)
_GROWN = re.compile(r"\b(?:growth|change)(?: rate)?\b(?: (?:of|in)(?= (?!\d)))?", re.IGNORECASE)
_EACH_UNIT = re.compile(
    rf"\b(?P<unit>day|week|month|quarter|year)[- ](?:over|on|to|by)[- ](?P=unit)\b|\b{_BY} {_PERIOD}s?\b|"
    r"\b(?P<often>daily|weekly|monthly|quarterly|yearly|annual)\b|\bover the (?P<years>year|month)s\b",
    re.IGNORECASE,
)
_EVERY = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
    "annual": "year",
}
_CHANGE = re.compile(
    r"^(?:how (?:much )?(?:did|has|have) (?:the |our )?(?P<x>.+?) (?:change|changed|grow|grown|increase|"
    r"increased|decrease"
    r"|decreased|develop|drop)|(?:what (?:is|was) the )?(?P<x2>.+?) (?:growth|change|increase|decrease)|"
    r"(?:what (?:is|was) the )?(?:growth|change|increase|decrease) (?:of|in) (?P<x3>.+?)) "
    rf"(?:from |between )?(?P<a>(?:19|20)\d\d) (?:to|and|vs\.?|until) (?P<b>(?:19|20)\d\d){_IN_PERCENT}?$",
    re.IGNORECASE,
)
_COMPARE = re.compile(r"^(?:compare )?(?P<x>.+?) (?:vs\.?|versus|compared (?:to|with)) (?P<y>.+)$", re.IGNORECASE)
_RUNNING = re.compile(
    rf"^(?:what is the |show (?:me )?(?:the )?)?(?:running|cumulative|rolling)(?: (?:total|sum|count|"
    rf"number))?(?: of)?(?: the)? "
    rf"(?P<x>.+?) (?:{_BY}|over) {_PERIOD}s?(?P<rest>.*)$",
    re.IGNORECASE,
)
_MEDIAN = re.compile(
    r"^(?P<before>(?:(?:what|show|give|tell)(?: is| was| me)? )?(?:the )?)median (?:of )?(?:the )?(?P<x>.+)$", re.I
)
_PERCENTILE = re.compile(
    r"^(?P<before>(?:(?:what|show|give|tell)(?: is| was| me)? )?(?:the )?)(?P<percent>\d+)(?:st|nd|rd|th)? percentile "
    r"(?:of |for )?(?:the )?(?P<x>.+)$",
    re.IGNORECASE,
)
_ORDER_VALUE = re.compile(
    r"^(?:what(?: is|'s| was) (?:the |our )?)?(?:average|avg|mean) (?:(?P<noun>order|invoice|sale|purchase|"
    r"transaction|booking) "
    r"(?:value|size|amount)|basket(?: (?:value|size))?|ticket(?: (?:value|size))?|shopping cart|"
    r"cart value)(?P<rest>.*)$|"
    r"^(?:what(?: is|'s| was) (?:the |our )?)?aov(?P<rest2>.*)$",
    re.IGNORECASE,
)
_AVERAGE_PER = re.compile(
    r"^(?:(?:what|show|give)(?: is| was| me)? )?(?:the |our )?(?:average|avg|mean) (?P<x>(?:number|"
    r"count) of \w+(?: \w+)?|revenue|"
    r"sales|spend(?:ing)?|spent|items|quantity|turnover|[a-z]+s) (?:per|by|for each|in an?|of an?|for an?)"
    r" (?P<g>\w+(?: \w+)?)"
    r"(?P<rest>(?: (?:in|since|during|for) .+)?)$",
    re.IGNORECASE,
)
_UNIT_OF_TIME = r"(?P<period>day of the week|day|week|month|quarter|year|weekday|hour)"
_SINCE = r"(?P<rest>(?: (?:in|for|since|during|last|this|of(?= (?:19|20)\d\d)) .+)?)"
_TOP_PERIODS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?:(?:what|which)(?: is| was)? )?(?:the |our )?(?P<most>busiest|quietest|slowest) {_UNIT_OF_TIME}"
        rf"(?: of the day)?(?: (?:for|by|in terms of|of) (?P<x>[a-z]+(?: [a-z]+)?))?{_SINCE}$",
        rf"^(?:(?:what|which)(?: is| was)? )?(?:the |our )?(?P<most>best|worst) {_UNIT_OF_TIME}"
        rf" (?:for|by|in terms of) (?P<x>[a-z]+(?: [a-z]+)?){_SINCE}$",
        rf"^(?:on |in )?(?:which|what) {_UNIT_OF_TIME}(?: of (?:the )?year)? (?:has|had|have|saw|sees|"
        rf"brought(?: in)?|is|was|with|did we have|do we have|did we get|do we get|did we make|do we make)(?: the)? "
        rf"(?P<most>most|fewest|least|highest|lowest|largest|smallest|best|worst)"
        rf" (?:number of )?(?P<x>[a-z]+(?: [a-z]+)?){_SINCE}$",
        r"^(?:(?:when|what) is (?:the |our )?)?(?:rush|peak) hour(?: (?:for|of) (?P<x>[a-z]+))?$",
    )
)
_EXTREME = r"(?P<which>(?:most|least) [a-z]+|(?!first\b)[a-z]{2,}est)"
_COMMAND = r"^(?:(?:show|list|give|get|display|sort|see)(?: me| us)? )?(?:all )?(?:of )?(?:the |our |my )?"
_EXTREME_FIRST = re.compile(rf"{_COMMAND}{_EXTREME} (?P<x>.+?) first$", re.IGNORECASE)
_LIST_WITH_FIRST = re.compile(
    rf"{_COMMAND}(?P<x>.+?)(?:,| with| starting with| sorted| ordered)* (?:the )?(?!(?:high|low)est\b){_EXTREME}"
    r"(?: ones?)? first$",
    re.IGNORECASE,
)
_HIGHEST_OF_FIRST = re.compile(
    rf"{_COMMAND}(?P<x>.+?),? (?:with )?(?:the )?(?P<which>highest|lowest|most|fewest) (?P<of>[a-z ]+) first$",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"^(?:what (?:is|was|are|were)|show me|show|give me|tell me)? ?(?:the |our |my )?", re.IGNORECASE)


def subject(text: str) -> str:
    """The text without the words that ask (`what is the`)."""
    return _SUBJECT.sub("", text, count=1)


def _groups(*groups: str | None) -> str:
    return next((x for x in groups if x), "")


def _share(text: str, _: Vocabulary, __: dt.date) -> Wording | None:
    match = _SHARE.match(text)
    if match is None:
        return None
    what = _groups(match["x"], match["x2"], match["x3"], match["x4"])
    if re.search(r" (?:that|which|who|whose) ", f"{what} "):
        return None
    by = re.sub(r"^each ", "by ", _groups(match["g"], match["g2"], match["g3"], match["g4"]), flags=re.I)
    return Wording(f"{subject(what)} {by}", Shape("share", grouped=True))


def _growth(text: str, _: Vocabulary, __: dt.date) -> Wording | None:
    unit = _EACH_UNIT.search(text)
    if unit is None or not _GROWN.search(text):
        return None
    period = _groups(unit["unit"], unit["period"], _EVERY.get((unit["often"] or "").lower()), unit["years"])
    what = _GROWN.sub("", text[: unit.start()] + text[unit.end() :])
    what = re.sub(rf"{_IN_PERCENT}$", "", " ".join(what.split()), flags=re.IGNORECASE)
    when = re.search(r" (?:in|for|since|during) \S.*$", what)
    kept, rest = (what[: when.start()], when.group()) if when else (what, "")
    return Wording(f"{subject(kept)} by {period}{rest}", Shape("growth", grouped=True))


def _change(text: str, _: Vocabulary, __: dt.date) -> Wording | None:
    match = _CHANGE.match(text)
    if match is None:
        return None
    what = subject(_groups(match["x"], match["x2"], match["x3"]))
    return Wording(f"{what} by year", Shape("change", (int(match["a"]), int(match["b"])), grouped=True))


def _compare(text: str, _: Vocabulary, __: dt.date) -> Wording | None:
    match = _COMPARE.match(text)
    return Wording(f"{match['x']} or {match['y']}", Shape("compare")) if match else None


def _running(text: str, _: Vocabulary, __: dt.date) -> Wording | None:
    match = _RUNNING.match(text)
    if match is None:
        return None
    return Wording(f"{match['x']} by {match['period']}{match['rest']}", Shape("running", grouped=True))


def _median(text: str, vocabulary: Vocabulary, _: dt.date) -> Wording | None:
    match = _MEDIAN.match(text)
    if match is None:
        return None
    inner = _order_value(f"average {match['x']}", vocabulary, _)
    if inner is not None and inner.shape is None:
        return replace(inner, shape=Shape("median"))
    return Wording(f"{match['before']}average {match['x']}", Shape("median"))


def _percentile(text: str, _: Vocabulary, __: dt.date) -> Wording | None:
    match = _PERCENTILE.match(text)
    if match is None or not 1 <= int(match["percent"]) <= 99:
        return None
    return Wording(f"{match['before']}average {match['x']}", Shape("percentile", percent=int(match["percent"])))


def _order_value(text: str, vocabulary: Vocabulary, _: dt.date) -> Wording | None:
    match = _ORDER_VALUE.match(text)
    if match is None:
        return None
    noun = (match["noun"] or "order").lower()
    tables = [t for t in vocabulary.tables.values() if t.words == (noun,)]
    tables = tables or [t for t in vocabulary.tables.values() if t.words in (("order",), ("invoice",), ("sale",))]
    rest = match["rest"] or match["rest2"] or ""
    if not tables:
        return None
    amount = amount_of(vocabulary, tables[0])
    if amount:
        return Wording(f"average {tables[0].words[-1]} {amount}{rest}")
    if re.match(r" (?:by|per|for each)\b", rest):
        return None
    return Wording(f"revenue per {tables[0].words[-1]}{rest}", Shape("average", grouped=True))


def amount_of(vocabulary: Vocabulary, table: TableWord) -> str:
    """The name of the column that holds the amount of one row of a table."""
    for words in (
        ("total", "amount"),
        ("order", "total"),
        ("total",),
        ("amount",),
        ("grand", "total"),
        ("total", "price"),
    ):
        for column in vocabulary.by_table[table.name]:
            if column.words == words and column.numeric:
                return " ".join(words)
    return ""


def _average_per(text: str, vocabulary: Vocabulary, _: dt.date) -> Wording | None:
    match = _AVERAGE_PER.match(text)
    if match is None or lemma(match["g"].lower()) != match["g"].lower():
        return None
    what = re.sub(r"^(?:items|quantity)$", "units sold", match["x"], flags=re.I)
    if _is_table(vocabulary, what) and lemma(what.lower()) not in MONEY_ROWS:
        what = f"number of {what}"
    elif what == match["x"] and re.fullmatch(r"[a-z]+s", what, re.I) and not _MEASURED.fullmatch(what):
        return None
    return Wording(f"{what} per {match['g']}{match['rest']}", Shape("average", grouped=True))


MONEY_ROWS = word_set(
    "payment deposit withdrawal sale expense cost revenue invoice refund donation salary fee purchase"
)
"""Tables whose rows are sums of money, so that `average payments` may be amounts."""
_MEASURED = re.compile(r"revenue|sales|spend(?:ing)?|spent|turnover", re.IGNORECASE)


def _is_table(vocabulary: Vocabulary, word: str) -> bool:
    """Whether the plural word names the rows of a table (`orders`)."""
    one = lemma(word.lower())
    return one != word.lower() and any(t.words == (one,) for t in vocabulary.tables.values())


_LEAST = word_set("fewest least lowest worst quietest slowest")


def _busiest(text: str, vocabulary: Vocabulary, _: dt.date) -> Wording | None:
    """`the busiest month for orders`, `which weekday had the most trips`, `best month for sales`, `rush hour`."""
    for pattern in _TOP_PERIODS:
        match = pattern.match(text)
        if match is not None:
            break
    else:
        return None
    groups = match.groupdict()
    period = re.sub(r"^day of the week$", "weekday", groups.get("period") or "hour", flags=re.IGNORECASE)
    what, guessed = (groups.get("x") or "").lower(), False
    notes: tuple[str, ...] = ()
    if not what:
        what = events_of(vocabulary)
        if not what:
            return None
        guessed, notes = True, (f"“busiest” is taken as the most {what}",)
    elif event := _event_of(vocabulary, what.split()[-1]):
        text = f"number of {event[0]} per {event[1]}{groups.get('rest') or ''}"
        down = (groups.get("most") or "").lower() not in _LEAST
        return Wording(text, Shape("top", grouped=True, descending=down, part=period))
    elif _is_table(vocabulary, what.split()[-1]):
        what = what if what.startswith("number of ") else f"number of {what}"
    if guessed:
        what = f"number of {what}"
    most = (groups.get("most") or "").lower() not in _LEAST
    text = f"{what} per {period}{groups.get('rest') or ''}"
    return Wording(text, Shape("top", grouped=True, descending=most), notes, guessed)


def _event_of(vocabulary: Vocabulary, noun: str) -> tuple[str, str] | None:
    """The rows and the date that `arrivals` means, where one date column is called so and no table is."""
    one = lemma(noun)
    if one == noun or vocabulary.table_named(noun) is not None:
        return None
    dates = [c for c in vocabulary.columns.values() if c.role == "date" and one in c.words]
    return (vocabulary.tables[dates[0].table].plural, " ".join(dates[0].words)) if len(dates) == 1 else None


def events_of(vocabulary: Vocabulary) -> str:
    """The plural of the table with most rows that have a date: what a business counts by the day."""
    dated = [
        t
        for t in vocabulary.tables.values()
        if not t.bridge and t.table.foreign_keys and any(c.role == "date" for c in vocabulary.by_table[t.name])
    ]
    rows = sorted(dated, key=lambda t: -(t.table.row_count or 0))
    return rows[0].plural if rows else ""


def _ordered(text: str, _: Vocabulary, __: dt.date) -> Wording | None:
    """`cheapest products first` is read as a ranking of as many rows as a ranking may have; the limit is taken off."""
    match = _EXTREME_FIRST.match(text) or _LIST_WITH_FIRST.match(text) or _HIGHEST_OF_FIRST.match(text)
    if match is None or re.search(r" by |\bfirst\b", match["x"], re.IGNORECASE):
        return None
    what, which = subject(match["x"]), match["which"]
    measure = match.groupdict().get("of")
    ranking = f"{ALL_ROWS} {what} with the {which} {measure}" if measure else f"{ALL_ROWS} {which} {what}"
    return Wording(f"the {ranking}", Shape("ordered"))


_Rule = Callable[[str, Vocabulary, dt.date], Wording | None]
_SHAPES: tuple[_Rule, ...] = (
    _share, _growth, _change, _running, _order_value, _average_per, _median, _percentile, _busiest,
    _ordered, _compare,
)  # fmt: skip
