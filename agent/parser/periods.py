"""Dates and periods: `in 2024`, `March 2024`, `Q4 2024`, `H1 2024`, `last month`, `first week of June`, `2024-05-01`.

In: the tokens of a question from a position on, and today's date for relative periods. Out: a `Period` as a half-open
interval of days, and the number of tokens used.
"""

from __future__ import annotations

import datetime as dt
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.parser.word_lists import word_list
from eval.language.lexicon import word_set
from eval.language.tokens import Token, tokenize

_DAYS = {"day": 1, "week": 7}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""How many months a unit has."""
DAYS_OF_WEEK = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
"""By the number that statements give them."""
_LAST_MONTH = dt.MAXYEAR * 12 + 11
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sep sept", "october oct", "november nov", "december dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_ONLY_MONTHS = word_set("january february july september october november december")
_BEFORE_MONTHS = word_list("before_months")
WEEKDAYS = tuple(day.lower() for day in (*DAYS_OF_WEEK[1:], DAYS_OF_WEEK[0]))
"""From Monday on, as `date.weekday` counts."""
_QUARTER_WORDS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `start` up to, not including, `end`."""

    start: dt.date
    end: dt.date
    words: str
    """In words, including the dates assumed for a relative period."""
    tokens: int
    year_only: int | None = None
    """The year, when the period is exactly one calendar year (a year column can be compared with it)."""
    relative: bool = False
    any_year: bool = False
    """A month or quarter without a year: the last one that has begun."""


def period_at(tokens: Sequence[Token], start: int, today: dt.date) -> Period | None:
    """The period that begins at this token, if one does."""
    for reader in (_iso, _quarter, _half, _part, _month, _relative):
        named = reader(tokens, start, today)
        if named is not None:
            return named
    year = _year_at(tokens, start)
    if year is None:
        return None
    return Period(dt.date(year, 1, 1), dt.date(year + 1, 1, 1), str(year), 1, year_only=year)


def relative_periods(question: str, today: dt.date) -> tuple[str, ...]:
    """What `last month` or `this year` means on this day, one sentence each; of one with dates of its own, nothing."""
    tokens = tokenize(question)
    told: list[str] = []
    at = 0
    while at < len(tokens):
        period = period_at(tokens, at, today)
        if period is not None and (period.relative or period.any_year):
            words = " ".join(t.text for t in tokens[at : at + period.tokens])
            told.append(f'"{words}" is from {period.start} up to and not including {period.end}.')
        at += max(1, period.tokens if period is not None else 1)
    return tuple(dict.fromkeys(told))


def _number(tokens: Sequence[Token], at: int) -> int | None:
    if at < len(tokens) and isinstance(tokens[at].number, int) and tokens[at].text.isdecimal():
        return int(tokens[at].text)
    return None


def _year_at(tokens: Sequence[Token], at: int) -> int | None:
    year = _number(tokens, at)
    return year if year is not None and 1500 <= year <= 2200 and len(tokens[at].text) == 4 else None


def _lower(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].lower.rstrip(".") if at < len(tokens) else ""


def _after(tokens: Sequence[Token], at: int, *skipped: str) -> int:
    while _lower(tokens, at) in skipped:
        at += 1
    return at


def _iso(tokens: Sequence[Token], start: int, _: dt.date) -> Period | None:
    text = tokens[start].text
    parts = text[:10].split("-")
    if len(parts) != 3 or not all(p.isdecimal() for p in parts) or len(parts[0]) != 4:
        return None
    try:
        day = dt.date(int(parts[0]), int(parts[1]), int(parts[2]))
    except ValueError:
        return None
    return Period(day, days_later(day, 1), day.isoformat(), 1)


def _quarter(tokens: Sequence[Token], start: int, today: dt.date) -> Period | None:
    word, at, quarter = _lower(tokens, start), start + 1, None
    if len(word) == 2 and word[0] == "q" and word[1] in "1234":
        quarter = int(word[1])
    elif word in _QUARTER_WORDS and _lower(tokens, start + 1) == "quarter" and word != "last":
        quarter, at = _QUARTER_WORDS[word], start + 2
    elif word == "quarter" and (number := _number(tokens, start + 1)) in (1, 2, 3, 4):
        quarter, at = number, start + 2
    if quarter is None:
        return None
    year_at = _after(tokens, at, "of", "in", "the", "year", ",")
    year = _year_at(tokens, year_at)
    end_at = year_at + 1 if year is not None else at
    if year is None:
        return _last(dt.date(today.year, 3 * quarter - 2, 1), 3, f"quarter {quarter} of", end_at - start, today)
    first = dt.date(year, 3 * quarter - 2, 1)
    return Period(first, months_later(first, 3), f"quarter {quarter} of {year}", end_at - start)


_HALVES = {"h1": 1, "h2": 2, "first": 1, "1st": 1, "second": 2, "2nd": 2}


def _half(tokens: Sequence[Token], start: int, today: dt.date) -> Period | None:
    """`H1 2024`, `the second half of last year`; `H1` without a year is the last one that has begun."""
    word, at = _lower(tokens, start), start + 1
    if word not in _HALVES or (word not in ("h1", "h2") and _lower(tokens, at) != "half"):
        return None
    at += word not in ("h1", "h2")
    month = 6 * _HALVES[word] - 5
    named_at = _after(tokens, at, "of", "in", "the", "year", ",")
    whole = period_at(tokens, named_at, today) if named_at < len(tokens) else None
    if whole is None or whole.year_only is None:
        words = f"{_ORDINALS[month > 1]} half of"
        return _last(dt.date(today.year, month, 1), 6, words, 1, today) if word in ("h1", "h2") else None
    first = dt.date(whole.year_only, month, 1)
    words = f"{_ORDINALS[month > 1]} half of {whole.year_only}"
    return Period(first, months_later(first, 6), words, named_at + whole.tokens - start, relative=whole.relative)


_ORDINALS = ("first", "second")


def _part(tokens: Sequence[Token], start: int, today: dt.date) -> Period | None:
    """`the first week of June 2025`, `the last 3 months of 2024`, `the week of 2024-06-03` (from Monday to Sunday)."""
    word, at, count = _lower(tokens, start), start, 1
    if word in ("first", "last"):
        at += 1
        number = tokens[at].number if at < len(tokens) else None
        if isinstance(number, int) and 0 < number < 400:
            count, at = number, at + 1
    unit = tokens[at].lemma if at < len(tokens) else ""
    if unit not in ("day", "week", "month") or (at == start and unit != "week") or _lower(tokens, at + 1) != "of":
        return None
    whole_at = _after(tokens, at + 2, "the", "year")
    whole = period_at(tokens, whole_at, today) if whole_at < len(tokens) else None
    if whole is None:
        return None
    if at == start:
        first = days_later(whole.start, -whole.start.weekday())
        end, inside = days_later(first, 7), (whole.end - whole.start).days == 1
    elif word == "first":
        first, end = whole.start, before(whole.start, -count, unit)
        inside = end < whole.end
    else:
        first, end = before(whole.end, count, unit), whole.end
        inside = first > whole.start
    words = f"{first.isoformat()} to {days_later(end, -1).isoformat()}"
    tokens_used = whole_at + whole.tokens - start
    return replace(whole, start=first, end=end, words=words, tokens=tokens_used, year_only=None) if inside else None


def _last(this_year: dt.date, months: int, name: str, tokens: int, today: dt.date) -> Period:
    """The last such month or quarter that has begun: what people mean who name no year."""
    first = this_year if this_year <= today else months_later(this_year, -12)
    return Period(first, months_later(first, months), f"{name} {first.year}", tokens, relative=True, any_year=True)


def _month(tokens: Sequence[Token], start: int, today: dt.date) -> Period | None:
    at, day = start, _number(tokens, start)
    if day is not None and 1 <= day <= 31 and _lower(tokens, start + 1) in _MONTHS:
        at = start + 1
    else:
        day = None
    month = _MONTHS.get(_lower(tokens, at))
    if month is None:
        return None
    after = at + 1
    if day is None:
        text = _lower(tokens, after)
        ordinal = text[:-2] if text.endswith(("st", "nd", "rd", "th")) else text
        if ordinal.isdecimal() and 1 <= int(ordinal) <= 31:
            day, after = int(ordinal), after + 1
    year_at = _after(tokens, after, ",", "of", "in", "the", "year")
    year = _year_at(tokens, year_at) or _year_of_next(tokens, after)
    if year is not None and _year_at(tokens, year_at) is None:
        year_at = after - 1
    if year is None:
        # `march`, `may` and `april` also mean other things
        meant = _lower(tokens, start) in _ONLY_MONTHS or (start > 0 and _lower(tokens, start - 1) in _BEFORE_MONTHS)
        if day is not None or not meant:
            return None
        return _last(dt.date(today.year, month, 1), 1, f"{dt.date(2000, month, 1):%B}", 1, today)
    if day is not None:
        try:
            first = dt.date(year, month, day)
        except ValueError:
            return None
        return Period(first, days_later(first, 1), first.isoformat(), year_at + 1 - start)
    first = dt.date(year, month, 1)
    return Period(first, months_later(first, 1), first.strftime("%B %Y"), year_at + 1 - start)


def _year_of_next(tokens: Sequence[Token], at: int) -> int | None:
    """`march and april 2025`: the year of the next month, which a list names once."""
    if _lower(tokens, at) not in ("and", "or") or _lower(tokens, at + 1) not in _MONTHS:
        return None
    return _year_at(tokens, _after(tokens, at + 2, ",", "of", "in"))


_SIDES = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}


def _relative(tokens: Sequence[Token], start: int, today: dt.date) -> Period | None:
    word = _lower(tokens, start)
    if word == "today":
        return Period(today, days_later(today, 1), f"today ({today.isoformat()})", 1, relative=True)
    if word == "yesterday":
        day = days_later(today, -1)
        return Period(day, today, f"yesterday ({day.isoformat()})", 1, relative=True)
    if word not in _SIDES:
        return None
    side = _SIDES[word]
    if _lower(tokens, start + 1) in WEEKDAYS:
        # `last Monday`: the latest before today; `next Monday`: the first after it; `this Monday`: that of this week
        away = WEEKDAYS.index(_lower(tokens, start + 1)) - today.weekday()
        away -= 7 if side < 0 <= away else 0
        away += 7 if side > 0 >= away else 0
        day = days_later(today, away)
        words = f"{word} {_lower(tokens, start + 1)} ({day.isoformat()})"
        return Period(day, days_later(day, 1), words, 2, relative=True)
    if _lower(tokens, start + 1) in _MONTHS and (named := _month(tokens, start + 1, today)) is not None:
        return replace(named, tokens=named.tokens + 1, any_year=False)
    at, count = start + 1, 1
    number = tokens[at].number if at < len(tokens) else None
    many = isinstance(number, int) and 0 < number < 5000 and side != 0
    if many and isinstance(number, int):
        count, at = number, at + 1
    unit = tokens[at].lemma if at < len(tokens) else ""
    if unit not in ("day", "week", "month", "quarter", "year"):
        return None
    size = at + 1 - start
    phrase = " ".join(t.lower for t in tokens[start : at + 1])
    tomorrow = days_later(today, 1)
    if many and side > 0:
        first, end = tomorrow, before(tomorrow, -count, unit)
    elif many:
        first, end = before(today, count, unit), tomorrow
    elif unit == "day":
        first, end = days_later(today, side), days_later(today, side + 1)
    elif unit == "week":
        first = days_later(today, 7 * side - today.weekday())
        end = days_later(first, 7)
    else:
        months = MONTHS[unit]
        first = dt.date(today.year, (today.month - 1) // months * months + 1, 1)
        first = months_later(first, side * months)
        end = months_later(first, months)
    words = f"{phrase} (from {first.isoformat()} to {days_later(end, -1).isoformat()}, counted from today)"
    year = first.year if unit == "year" and not many else None
    return Period(first, end, words, size, year_only=year, relative=True)


def days_later(day: dt.date, days: int) -> dt.date:
    return dt.date.fromordinal(min(max(day.toordinal() + days, 1), dt.date.max.toordinal()))


def months_later(day: dt.date, months: int) -> dt.date:
    """The same day of a later month, or its last day if it is shorter; a negative number leads back."""
    year, month = divmod(min(max(day.year * 12 + day.month - 1 + months, 12), _LAST_MONTH), 12)
    return dt.date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def before(day: dt.date, count: int, unit: str) -> dt.date:
    """The day so many days, weeks, months, quarters or years earlier."""
    if unit in _DAYS:
        return days_later(day, -count * _DAYS[unit])
    return months_later(day, -count * MONTHS[unit])
