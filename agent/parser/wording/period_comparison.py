"""Two periods side by side: `revenue this year vs last year`, `how does march compare to april`.

They become the plain question grouped by the unit of the two periods (`revenue by year`), and a `Shape` that keeps only
these two. Periods of different units are not compared.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Literal

from agent.parser import periods
from agent.parser.date_arithmetic import MONTHS, days_later, months_later
from agent.parser.interpretation import Shape, Span
from agent.parser.wording.rules import MONTH, UNIT, YEAR, Known, Wording, rule, subject
from eval.language.tokens import tokenize

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
_FIGURE = re.compile(r"(?:how many|how much|number of|total|average|sum of)\b", re.IGNORECASE)
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
    if join == "and" and _LISTED.search(before) and not _FIGURE.match(before):
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
