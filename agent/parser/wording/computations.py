"""Computations on figures: `share of orders by status`, `median price`, `monthly growth of revenue`, `revenue this year
vs last year`, `how does march compare to april`.

Each becomes the plain question that gives the figures, and the `Shape` of the computation on them. Two periods side by
side become the question grouped by their unit (`revenue by year`), and a shape that keeps only these two; periods of
different units are not compared.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from typing import Literal

from agent.parser import periods
from agent.parser.interpretation import Shape, Span
from agent.parser.measures import AVERAGED, MONEY_ROWS
from agent.parser.periods import MONTHS, days_later, months_later
from agent.parser.wording.rules import BY, MONTH, UNIT, YEAR, Known, Wording, rule, subject
from eval.language.inflection import lemma
from eval.language.lexicon import word_set
from eval.language.tokens import tokenize

OFTEN = {"daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year",
         "annual": "year"}  # fmt: skip
"""The units of time of adjectives."""
_PERIOD = r"(?P<period>day|week|month|quarter|year)"
_IN_PERCENT = r"(?: (?:in|as)(?: an?)? (?:percent|percentages?|share)(?: of (?:the )?(?:total|all))?)"
_SHARE = r"(?:share|percentage|percent|proportion)"


@rule(
    r"^(?!.*\b(?:growth|change|trend))(?P<before>(?:(?:what|show|list|give)(?: is| are| was| me)? )?(?:the |our )?)"
    r"(?P<often>daily|weekly|monthly|yearly|annual) (?P<what>(?P<first>[a-z]+)(?: [a-z]+)?)"
    r"(?P<rest>(?: (?:in|for|since) .+)?)$"
)
def every_period(match: re.Match[str], known: Known) -> Wording | None:
    """`monthly revenue` as `revenue per month`, unless a column is called so (`monthly_fee`)."""
    often, first = match["often"].lower(), lemma(match["first"].lower())
    names = [set(c.words) for c in known.vocabulary.columns.values()]
    if any({often, first} <= words or {OFTEN[often], first} <= words for words in names):
        return None
    return Wording(f"{match['before']}{match['what']} per {OFTEN[often]}{match['rest']}")


@rule(
    rf"^(?:(?:what|show|give)(?: is| was| me)? )?(?:the )?{_SHARE} of (?:the )?(?:total |all )?"
    rf"(?P<x>.+?) (?P<g>{BY} .+?){_IN_PERCENT}?$",
    rf"^(?P<x>.+?) (?P<g>{BY} .+?){_IN_PERCENT}$",
    rf"^(?P<x>\w+) share (?P<g>{BY} .+?){_IN_PERCENT}?$",
    rf"^(?:what|which) {_SHARE} of (?:the |our )?(?:total )?(?P<x>.+?) "
    r"(?:comes? from|came from|is from|goes to|went to|belongs to|is in|are in|falls? (?:on|in|to|under)|does|did) "
    r"(?P<g>each .+?)(?: (?:have|has|make|made|bring|brought|account|earn|earned|get|got|receive|run|hold|take)"
    r"(?: in| for| up)?)?$",
)
def share(match: re.Match[str], known: Known) -> Wording | None:
    """`share of orders by status` as the shares of `orders by status`, not `share of orders paid by card`."""
    if re.search(r" (?:that|which|who|whose) ", f"{match['x']} "):
        return None
    if known.values.find(re.sub(rf"^(?:{BY}) (?:the )?", "", match["g"], flags=re.IGNORECASE)):
        return None
    by = re.sub(r"^each ", "by ", match["g"], flags=re.IGNORECASE)
    return Wording(f"{subject(match['x'])} {by}", Shape("share", grouped=True))


@rule(
    r"^(?:what (?:is|was) )?(?:the )?(?:average |avg |mean |total )?(?P<x>[a-z]+(?: [a-z]+)?) per (?P<y>[a-z]+)"
    r"(?P<rest>(?: (?:by|for|in|of|on|during|since)\b.+)?)$"
)
def ratio(match: re.Match[str], known: Known) -> Wording | None:
    """`average fare per passenger` as the ratio of `total fare and total passengers`, where a row has a number of
    passengers; `fare per crossing` is another question."""
    x, y = lemma(match["x"].lower().split()[-1]), lemma(match["y"].lower())
    counted = [c for c in known.figures() if c.words[0] == y and not AVERAGED & set(c.words) and not c.foreign]
    figures = [c for c in known.figures() if x in c.words and "per" not in c.words]
    if len(counted) != 1 or known.table(y) or not any(c.table == counted[0].table for c in figures):
        return None
    return Wording(f"total {match['x']} and total {match['y']}{match['rest']}", Shape("ratio"))


_GROWN = r"\b(?:growth|change)(?: rate)?\b(?: (?:of|in)(?= (?!\d)))?"


@rule(
    rf"^(?=.*{_GROWN})(?P<before>.*?)(?:\b(?P<unit>day|week|month|quarter|year)[- ](?:over|on|to|by)[- ](?P=unit)\b|"
    rf"\b{BY} {_PERIOD}s?\b|\b(?P<often>{'|'.join(OFTEN)})\b|\bover the (?P<years>year|month)s\b)(?P<after>.*)$"
)
def growth(match: re.Match[str], _: Known) -> Wording:
    """`monthly growth of revenue` as the growth of `revenue by month`."""
    period = match["unit"] or match["period"] or OFTEN.get((match["often"] or "").lower()) or match["years"] or ""
    what = re.sub(_GROWN, "", match["before"] + match["after"], flags=re.IGNORECASE)
    what = re.sub(rf"{_IN_PERCENT}$", "", " ".join(what.split()), flags=re.IGNORECASE)
    when = re.search(r" (?:in|for|since|during) \S.*$", what)
    kept, rest = (what[: when.start()], when.group()) if when else (what, "")
    return Wording(f"{subject(kept)} by {period}{rest}", Shape("growth", grouped=True))


@rule(
    r"^(?:how (?:much )?(?:did|has|have) (?:the |our )?(?P<x>.+?) (?:change|changed|grow|grown|increase|increased|"
    r"decrease|decreased|develop|drop)|(?:what (?:is|was) the )?(?P<x2>.+?) (?:growth|change|increase|decrease)|"
    r"(?:what (?:is|was) the )?(?:growth|change|increase|decrease) (?:of|in) (?P<x3>.+?)) "
    rf"(?:from |between )?(?P<a>{YEAR}) (?:to|and|vs\.?|until) (?P<b>{YEAR}){_IN_PERCENT}?$"
)
def change(match: re.Match[str], _: Known) -> Wording:
    """`how much did revenue grow from 2023 to 2024` as the change of `revenue by year`."""
    what = subject(match["x"] or match["x2"] or match["x3"] or "")
    return Wording(f"{what} by year", Shape("change", (int(match["a"]), int(match["b"])), grouped=True))


@rule(
    r"^(?:compare )?(?P<x>.+?) (?:vs\.?|versus|compared (?:to|with)) (?P<y>.+)$",
    r"^compare (?:the )?(?P<x>.+? (?:of|for|from|in) .+?(?<!\d)) (?:and|with|to) (?P<y>(?!\d).+)$",
)
def compare(match: re.Match[str], known: Known) -> Wording:
    """`revenue in Bern vs Basel` as the comparison of `revenue in Bern or Basel`."""
    rows = "number of " if known.plural_table(match["x"].split()[0]) else ""
    return Wording(f"{rows}{match['x'].rstrip(',:')} or {match['y']}", Shape("compare"))


_BEFORE = r"^(?P<before>(?:(?:what|show|give|tell)(?: is| was| me)? )?(?:the )?)"


@rule(rf"{_BEFORE}median (?:of )?(?:the )?(?P<x>.+)$")
def median(match: re.Match[str], known: Known) -> Wording:
    """`median price` as the median for `average price`."""
    inner = order_value(f"average {match['x']}", known)
    if inner is not None and inner.shape is None:
        return replace(inner, shape=Shape("median"))
    return Wording(f"{match['before']}average {match['x']}", Shape("median"))


_MEAN_OF = r"^(?:what(?: is|'s| was) (?:the |our )?)?"


@rule(
    rf"{_MEAN_OF}(?:average|avg|mean) (?:(?P<noun>order|invoice|sale|purchase|transaction|booking) "
    r"(?:value|size|amount)|basket(?: (?:value|size))?|ticket(?: (?:value|size))?|shopping cart|cart value)"
    r"(?P<rest>.*)$",
    rf"{_MEAN_OF}(?P<noun>)aov(?P<rest>.*)$",
)
def order_value(match: re.Match[str], known: Known) -> Wording | None:
    """`average order value` as `average order total`, or as the average of `revenue per order`."""
    noun = (match["noun"] or "order").lower()
    tables = {t.words: t for t in reversed(known.vocabulary.tables.values())}
    rows = next((tables[word,] for word in (noun, "order", "invoice", "sale") if (word,) in tables), None)
    if rows is None:
        return None
    held = {" ".join(c.words) for c in known.vocabulary.by_table[rows.name] if c.numeric}  # the amount of one row
    amounts = ("total amount", "order total", "total", "amount", "grand total", "total price")
    if amount := next((name for name in amounts if name in held), ""):
        return Wording(f"average {rows.words[-1]} {amount}{match['rest']}")
    if re.match(r" (?:by|per|for each)\b", match["rest"]):
        return None
    return Wording(f"revenue per {rows.words[-1]}{match['rest']}", Shape("average", grouped=True))


_MEASURED = re.compile(r"revenue|sales|spend(?:ing)?|spent|turnover", re.IGNORECASE)


@rule(
    r"^(?:(?:what|show|give)(?: is| was| me)? )?(?:the |our )?(?:average|avg|mean) (?P<x>(?:number|"
    r"count) of \w+(?: \w+)?|revenue|"
    r"sales|spend(?:ing)?|spent|items|quantity|turnover|[a-z]+s) (?:per|by|for each|in an?|of an?|for an?)"
    r" (?P<g>\w+(?: \w+)?)"
    r"(?P<rest>(?: (?:in|since|during|for) .+)?)$"
)
def average_per(match: re.Match[str], known: Known) -> Wording | None:
    """`average orders per customer` as the average of `number of orders per customer`."""
    if lemma(match["g"].lower()) != match["g"].lower():
        return None
    what = re.sub(r"^(?:items|quantity)$", "units sold", match["x"], flags=re.IGNORECASE)
    if known.plural_table(what) and lemma(what.lower()) not in MONEY_ROWS:
        what = f"number of {what}"
    elif what == match["x"] and re.fullmatch(r"[a-z]+s", what, re.IGNORECASE) and not _MEASURED.fullmatch(what):
        return None
    return Wording(f"{what} per {match['g']}{match['rest']}", Shape("average", grouped=True))


_UNIT_OF_TIME = r"(?P<period>day of the week|day|week|month|quarter|year|weekday|hour)"
_FIGURE = r"(?P<x>[a-z]+(?: [a-z]+)?)"
_WHEN = rf"(?P<rest>(?: (?:in|for|since|during|last|this|of(?= {YEAR})) .+)?)"
_LEAST = word_set("fewest least lowest worst quietest slowest")


@rule(
    rf"^(?:(?:what|which)(?: is| was)? )?(?:the |our )?(?P<most>busiest|quietest|slowest) {_UNIT_OF_TIME}"
    rf"(?: of the day)?(?: (?:for|by|in terms of|of) {_FIGURE})?{_WHEN}$",
    rf"^(?:(?:what|which)(?: is| was)? )?(?:the |our )?(?P<most>best|worst) {_UNIT_OF_TIME}"
    rf"(?: (?:for|by|in terms of) {_FIGURE})?{_WHEN}$",
    rf"^(?:on |in )?(?:which|what) {_UNIT_OF_TIME}(?: of (?:the )?year)? (?:has|had|have|saw|sees|"
    rf"brought(?: in)?|is|was|with|did we have|do we have|did we get|do we get|did we make|do we make)(?: the)? "
    rf"(?P<most>most|fewest|least|highest|lowest|largest|smallest|best|worst) (?:number of )?{_FIGURE}{_WHEN}$",
    r"^(?:(?:when|what) is (?:the |our )?)?(?P<most>rush|peak) (?P<period>hour)(?: (?:for|of) (?P<x>[a-z]+))?"
    r"(?P<rest>)$",
)
def busiest_time(match: re.Match[str], known: Known) -> Wording | None:
    """`the busiest month for orders`, `which weekday had the most trips`, `best month for sales`, `rush hour`."""
    period = re.sub(r"^day of the week$", "weekday", match["period"], flags=re.IGNORECASE)
    what, rest, most = (match["x"] or "").lower(), match["rest"], match["most"].lower() not in _LEAST
    if not what and match["most"].lower() in ("best", "worst"):
        what = "revenue"
    if not what:
        if not (events := known.events()):
            return None
        rows = events[0].plural
        shape = Shape("top", grouped=True, descending=most)
        note = f"“busiest” is taken as the most {rows}"
        return Wording(f"number of {rows} per {period}{rest}", shape, (note,), guessed=True)
    noun = what.split()[-1]
    one = lemma(noun)
    dates = [c for c in known.vocabulary.columns.values() if c.role == "date" and one in c.words]
    if one != noun and known.table(noun) is None and len(dates) == 1:  # `arrivals`, as one date column is called
        shape = Shape("top", grouped=True, descending=most, part=period)
        rows = known.vocabulary.tables[dates[0].table].plural
        return Wording(f"number of {rows} per {' '.join(dates[0].words)}{rest}", shape)
    if known.plural_table(noun) and not what.startswith("number of "):
        what = f"number of {what}"
    return Wording(f"{what} per {period}{rest}", Shape("top", grouped=True, descending=most))


_NAMED = rf"(?:{MONTH}|q[1-4])(?:,? (?:of )?{YEAR})?|{YEAR}|(?:this|last|current|previous) {UNIT}|today|yesterday"
_EARLIER = rf"(?:the )?(?:same {UNIT}|this time) (?:of )?last year|(?:the )?{UNIT} before|(?:the )?previous {UNIT}"
_THE_ONE = r"(?:(?:in|for|of|during|at|that of|those of|those in|the one in) )?(?:the )?"
_TWO = (
    r"(?P<in>\b(?:in|for|during|of|from|between|by|and|to|since|until|before|after) )?(?:the )?"
    rf"\b(?P<a>{_NAMED})(?:'s)?"
    rf"(?: (?P<x>(?!in\b|for\b|by\b|of\b|compare)[a-z]+))?,? "
    rf"(?P<join>vs\.?|versus|(?:compared?|stack up) (?:to|with|against)|against|than|and|to|with) {_THE_ONE}"
    rf"(?P<b>{_EARLIER}|{_NAMED})(?:'s)?\b(?! [-/]|-\d)"
)
_ASKS_COMPARISON = re.compile(r"\b(?:compare|comparison|difference|differ)\b", re.IGNORECASE)
_CHANGED = re.compile(r"\b(?:change[ds]?|grow|grown|grew|growth|increased?|decreased?|develop)\b", re.IGNORECASE)
_LISTED = re.compile(r"\b(?:who|that|which|whose|names?|list|show|with)\b", re.IGNORECASE)
_IS_FIGURE = re.compile(r"(?:how many|how much|number of|total|average|sum of)\b", re.IGNORECASE)
_DIFFERENCE = re.compile(
    r"^(?:(?:what (?:is|was) )?(?:the )?difference (?:in|of|between)|"
    r"how (?:much|many) (?:more|less|fewer|higher|lower))\b ?",
    re.IGNORECASE,
)
_STARTS = re.compile(
    r"^(?:compare|comparison of|how (?:do|does|did)|"
    r"(?:is|are|was|were) (?:the |our )?(?=[a-z ]+ (?:higher|lower|up|down|better|worse)\b)|"
    r"(?:did|do|have) we (?:get|make|have|sell|got|had|made|sold) (?:more|less|fewer))\b ?",
    re.IGNORECASE,
)
_COMPARATIVE = re.compile(
    r" ?\b(?:more|less|fewer|higher|lower|better|worse|up|down|bigger|smaller)\b(?= *$)", re.IGNORECASE
)
_WE = re.compile(
    r" (?:did|do|have|has|were|was|are) (?:we |they |there |you )?(?:get|have|make|receive|sell|got|made)?$", re.I
)
_LOOSE_ENDS = re.compile(r"(?: (?:in|for|of|during|from|between|on|did we|compare|compared|does|do))+$", re.IGNORECASE)
_FINER = re.compile(rf"^ ?(?:by|per|each|for each|for every|broken down by) (?P<unit>{UNIT})$", re.IGNORECASE)
_SIZES = {"day": 0, "week": 1, "month": 2, "quarter": 3, "year": 4}
_REST = re.compile(r"^(?: (?:by|per|for|of|in|from|for each|with|at) .+)?$", re.IGNORECASE)


@rule(rf"^(?P<before>(?s:.*?))(?:{_TWO})(?P<rest>(?s:.*))$")
def compared_periods(match: re.Match[str], known: Known) -> Wording | None:
    """The plain question and the two periods that it is asked for; None when it names no two of the same unit."""
    if re.search(_TWO, match["rest"], re.IGNORECASE) or _CHANGED.search(match[0]):
        return None
    asked = bool(_ASKS_COMPARISON.search(match[0]))
    join = match["join"].lower()
    before, wants_difference, compares = _subject_before(match["before"])
    rest = match["rest"].strip(" ?!.")
    rest = f" {rest}" if rest else ""
    if not before and rest and not _REST.match(rest):
        before, rest = rest.strip(), ""
    # Two periods are compared, rather than bounds of one (`from 2019 to 2021`)
    preposition = (match["in"] or "").strip().lower()
    clearly = preposition not in ("since", "until", "before", "after")
    if join in ("and", "to", "with", "than"):
        listed = join == "and" and preposition in ("in", "for", "during")
        clearly = listed or (clearly and preposition != "by" and (asked or compares or wants_difference))
    if not (clearly and _REST.match(rest)):
        return None
    if join == "and" and _LISTED.search(before) and not _IS_FIGURE.match(before):
        return None
    spans = _spans(match["a"], match["b"], known.today)
    if spans is None:
        return None
    unit = spans[0].unit
    what, doubt = f"{before} {match['x'] or ''}".strip(), ""
    if not what:
        events = known.events()
        if not events:
            return None
        rows = events[0].plural
        what, doubt = f"number of {rows}", f"{rows} are counted; name the figure to compare if another one is meant"
    elif join == "and" and not (asked or compares or wants_difference):
        doubt = "each of the two periods is shown alone; ask for the total if they are meant together"
    if finer := _FINER.match(rest):
        named = finer["unit"].lower()
        if _SIZES[named] > _SIZES[unit]:
            return None
        unit, rest = named, ""
    notes = [
        f"{x.words} is taken: no year is named" if x.any_year else f"{x.words} is taken from today's date"
        for x in spans
        if x.relative
    ]
    kind: Literal["difference", "periods"] = "difference" if wants_difference and not rest else "periods"
    return Wording(
        f"{what} per {unit}{rest}", Shape(kind, grouped=True, periods=(spans[0], spans[1])), tuple(notes), doubt=doubt
    )


def _subject_before(before: str) -> tuple[str, bool, bool]:
    """What is compared, by the words before the periods; whether its difference is asked for, and whether the words
    compare."""
    difference = _DIFFERENCE.match(before)
    text = _DIFFERENCE.sub("", before, count=1)
    start = _STARTS.match(text)
    text = _STARTS.sub("", text, count=1)
    shorter = _COMPARATIVE.sub("", text.strip())
    compares = bool(start) or shorter != text.strip()
    text = _WE.sub("", _LOOSE_ENDS.sub("", shorter))
    return subject(_LOOSE_ENDS.sub("", f" {text}").strip()), bool(difference), compares


def _spans(first: str, second: str, today: dt.date) -> tuple[Span, Span] | None:
    """The two periods in the order in which they are named; a year named once is the year of both."""
    if (year := re.search(YEAR, second)) and not re.search(
        r"\d{4}|this|last|current|today|previous", first, re.IGNORECASE
    ):
        first = f"{first} {year[0]}"
    elif (year := re.search(YEAR, first)) and re.fullmatch(rf"{MONTH}|q[1-4]", second, re.IGNORECASE):
        second = f"{second} {year[0]}"
    a = _period(first, today)
    b = _relative_to(a, second) if a is not None and re.fullmatch(_EARLIER, second, re.IGNORECASE) else None
    b = b or _period(second, today)
    if a is None or b is None:
        return None
    if a.any_year and b.any_year and a.start > b.start and a.start.month < b.start.month:
        a = _relative_to(a, "last year")  # `november vs december`, asked in november: of the same year
    return (a, b) if a.unit == b.unit and a.start != b.start else None


def _period(words: str, today: dt.date) -> Span | None:
    words = re.sub(r"^current ", "this ", words.strip().lower())
    tokens = tokenize(f"in {words}")
    named = periods.period_at(tokens, 1, today)
    if named is None or named.tokens != len(tokens) - 1:
        return None
    # The calendar unit that the period is exactly one of
    months = (unit for unit, months in MONTHS.items() if named.end == months_later(named.start, months))
    unit = next(months, "") if named.start.day == 1 else ""
    unit = unit or {1: "day", 7: "week"}.get((named.end - named.start).days, "")
    return Span(named.start, named.end, unit, named.words, named.relative, named.any_year) if unit else None


def _relative_to(first: Span, words: str) -> Span:
    """`the same month last year`, `the month before`."""
    months = 12 if words.lower().endswith("last year") else MONTHS.get(first.unit, 0)
    if months:
        start, end = months_later(first.start, -months), months_later(first.end, -months)
    else:
        length = (first.end - first.start).days
        start, end = days_later(first.start, -length), first.start
    words = f"{start.isoformat()} to {days_later(end, -1).isoformat()}"
    return Span(start, end, first.unit, words, first.relative, first.any_year)
