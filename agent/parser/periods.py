"""Dates and periods: `in 2024`, `March 2024`, `Q4 2024`, `last month`, `2024-05-01`, `before 1990`.

In: the tokens of a question from a position on, and today's date for relative periods. Out: a `Period` as a half-open
interval of days, and the number of tokens used.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from eval.language.tokens import Token

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


def period_at(tokens: Sequence[Token], start: int, today: dt.date) -> Period | None:
    """The period that begins at this token, if one does."""
    for reader in (_iso, _quarter, _month, _relative, _year):
        named = reader(tokens, start, today)
        if named is not None:
            return named
    return None


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
    return Period(day, _plus_days(day, 1), day.isoformat(), 1)


def _plus_days(day: dt.date, days: int) -> dt.date:
    return dt.date.fromordinal(min(max(day.toordinal() + days, 1), dt.date.max.toordinal()))


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
    year = year if year is not None else today.year
    first = dt.date(year, 3 * quarter - 2, 1)
    return Period(first, _months_later(first, 3), f"quarter {quarter} of {year}", end_at - start)


def _months_later(day: dt.date, months: int) -> dt.date:
    index = day.year * 12 + day.month - 1 + months
    return dt.date(min(max(index // 12, 1), 9999), index % 12 + 1, 1)


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
    year = _year_at(tokens, year_at)
    if year is None:
        return None
    if day is not None:
        try:
            first = dt.date(year, month, day)
        except ValueError:
            return None
        return Period(first, _plus_days(first, 1), first.isoformat(), year_at + 1 - start)
    first = dt.date(year, month, 1)
    return Period(first, _months_later(first, 1), first.strftime("%B %Y"), year_at + 1 - start)


def _relative(tokens: Sequence[Token], start: int, today: dt.date) -> Period | None:
    word = _lower(tokens, start)
    if word == "today":
        return Period(today, _plus_days(today, 1), f"today ({today.isoformat()})", 1, relative=True)
    if word == "yesterday":
        day = _plus_days(today, -1)
        return Period(day, today, f"yesterday ({day.isoformat()})", 1, relative=True)
    if word not in ("last", "this", "past", "previous", "current"):
        return None
    at, count = start + 1, 1
    number = tokens[at].number if at < len(tokens) else None
    many = isinstance(number, int) and 0 < number < 5000 and word in ("last", "past", "previous")
    if many and isinstance(number, int):
        count, at = number, at + 1
    unit = tokens[at].lemma if at < len(tokens) else ""
    if unit not in ("day", "week", "month", "quarter", "year"):
        return None
    size = at + 1 - start
    phrase = " ".join(t.lower for t in tokens[start : at + 1])
    this = word in ("this", "current")
    if many:
        end = _plus_days(today, 1)
        days = {"day": 1, "week": 7}.get(unit)
        if days:
            first = _plus_days(today, -days * count)
        else:
            months = {"month": 1, "quarter": 3, "year": 12}[unit] * count
            shifted = _months_later(today, -months)
            first = dt.date(shifted.year, shifted.month, min(today.day, 28))
    elif unit == "day":
        first, end = _plus_days(today, 0 if this else -1), _plus_days(today, 1 if this else 0)
    elif unit == "week":
        monday = _plus_days(today, -today.weekday())
        first = monday if this else _plus_days(monday, -7)
        end = _plus_days(first, 7)
    else:
        months = {"month": 1, "quarter": 3, "year": 12}[unit]
        first = dt.date(today.year, (today.month - 1) // months * months + 1, 1)
        first = first if this else _months_later(first, -months)
        end = _months_later(first, months)
    words = f"{phrase} (from {first.isoformat()} to {_plus_days(end, -1).isoformat()}, counted from today)"
    year = first.year if unit == "year" and not many else None
    return Period(first, end, words, size, year_only=year, relative=True)


def _year(tokens: Sequence[Token], start: int, _: dt.date) -> Period | None:
    year = _year_at(tokens, start)
    if year is None:
        return None
    return Period(dt.date(year, 1, 1), dt.date(year + 1, 1, 1), str(year), 1, year_only=year)
