"""Literals: the values that the question names against the constants of the query."""

from __future__ import annotations

import datetime as dt
import re

from sqlglot import exp

from eval.language.numbers import NUMBER_WORDS
from eval.language.words import name_words
from eval.scoring.evidence.question_reading import Observation, Observations, Reading, shown
from eval.scoring.types import Place
from eval.sql.types import Constant

_SMALL = {0.0, 1.0}
"""Numbers that queries use for their own reasons."""
_UNITS = (0.01, 60, 100, 1_000, 3_600, 60_000, 1_000_000, 3_600_000)
"""What a number is multiplied by to be in a smaller unit: percent, cents, seconds, grams, milliseconds."""
_YEARS = (1800, 2199)
_DATE = re.compile(r"(\d{4})(?:$|%|-\d{2}|(?:0[1-9]|1[0-2])(?:[0-3]\d)?$)")
_DIGITS = re.compile(r"\d+")
_LAST_DAY = 31
_AGE = re.compile(r"\b(?:older|younger|age|aged|years? old)\b", re.IGNORECASE)
_EXAMPLE = re.compile(r"\b(?:like|form|format|such as|e\.g\.)\s+(?:of\s+)?['\"“]?(\d{4})\b")
"""A year that only shows how a date is to be written."""


_STORED: dict[Place, tuple[str, str]] = {
    "otherwise": ("value_stored_otherwise", "{column} holds {value} in other capitals only."),
    "padded": ("value_stored_padded", "{column} holds {value} only with spaces around it."),
    "elsewhere": ("value_stored_elsewhere", "{value} is not in {column} but in another column."),
}


def observe(reading: Reading) -> Observations:
    yield from _question_side(reading)
    yield from _query_side(reading)
    yield from _stored(reading)


def _question_side(r: Reading) -> Observations:
    facts, intent = r.case.facts, r.intent
    constants = [c.value.casefold() for c in r.constants]
    text = " ".join((*constants, r.case.taught))  # what is taught may explain a name or a number (`A16: in 1996`)
    missing = [q for q in intent.quoted if q.casefold() not in text]
    if missing:
        text = f"The question quotes {shown(missing[0])}, which the query does not look for."
        yield Observation("quoted_missing", 1, text)
    elif intent.quoted:
        yield Observation("quoted_matched", 1, "What the question quotes is in the query.")
    years = _years(r)
    examples = {n for example in _EXAMPLE.findall(r.question) if (n := _number(example)) is not None}
    kept = {facts.limit, len(r.rows)}  # `the 50 states`, of which there are 50
    numbers = {n for n in intent.numbers if n not in _SMALL | kept and n not in years | examples}
    known = {n for n in map(_number, constants) if n is not None} | _limits(r)
    names = [c for _, c in r.case.references.columns]
    known |= {float(n) for c in names for n in _DIGITS.findall(c)}
    known |= {float(NUMBER_WORDS[w]) for c in names for w in name_words(c) if w in NUMBER_WORDS}
    written = f"{r.case.parsed.text.casefold()} {r.case.taught}" if years else text
    days = _LAST_DAY if any(_year_of(c) for c in r.constants) else 0
    # The ages that the dates of a query stand for today, where the question is about age
    today = dt.date.today().year
    ages = (
        {float(today - year) for c in r.constants if (year := _year_of(c)) and year <= today}
        if compares_ages(r)
        else set()
    )
    absent = [n for n in numbers if n > days and not _meets(n, known | ages) and _digits(n) not in written]
    unbounded = [y for y in years if not any(str(y + step) in written for step in (0, 1, -1))]
    if unbounded:
        yield Observation("year_missing", 1, f"The question names {unbounded[0]}, which the query does not look at.")
    elif absent:
        yield Observation("number_missing", 1, f"The question names {_digits(absent[0])}, which is not in the query.")
    elif numbers:
        yield Observation("number_matched", 1, "The numbers of the question are in the query.")


def _limits(r: Reading) -> set[float]:
    """The numbers of rows that the query keeps at any level."""
    kept = (limit.expression for select in r.selects if (limit := select.args.get("limit")) is not None)
    return {n for number in kept if isinstance(number, exp.Literal) and (n := _number(number.name)) is not None}


def _meets(number: float, known: set[float]) -> bool:
    """Whether a constant is the number, the next one (`more than 5` is `>= 6`), or the number in another unit."""
    return any(abs(number - k) <= 1 or any(abs(number * unit - k) < 1e-9 * unit for unit in _UNITS) for k in known)


def _years(r: Reading) -> frozenset[int]:
    """The years that the question names."""
    example = set(_EXAMPLE.findall(r.question))
    return frozenset(
        int(n) for n in r.intent.numbers if n.is_integer() and _YEARS[0] <= n <= _YEARS[1] and f"{n:.0f}" not in example
    )


def compares_ages(r: Reading) -> bool:
    """Whether the question is about age (`older than 60`) and the query compares dates: the older, the smaller."""
    return _AGE.search(r.question) is not None and any(_year_of(c) or "year" in c.value for c in r.constants)


def _year_of(constant: Constant) -> int | None:
    """The year of a constant that is written as a date, a month or a year."""
    match = _DATE.match(constant.value)
    year = int(match[1]) if match is not None else None
    return year if year is not None and _YEARS[0] <= year <= _YEARS[1] else None


def _query_side(r: Reading) -> Observations:
    texts = [c for c in r.constants if c.is_string and c.value.strip("% ") and _year_of(c) is None]
    against = [c for c in texts if _number(c.value) is None and _holds_numbers(c, r)]
    if against:
        text = f"{shown(against[0].value)} is compared with {against[0].column}, which holds numbers."
        yield Observation("text_against_number", 1, text)
    if any(c.operator == "like" and not r.intent.quoted for c in texts):
        yield Observation("pattern_unquoted", 1)


def _stored(r: Reading) -> Observations:
    first = {s.found: s for s in reversed(r.case.stored)}
    for place, (name, sentence) in _STORED.items():
        if place in first:
            text = sentence.format(column=first[place].column, value=shown(first[place].value))
            yield Observation(name, 1, text)


def _holds_numbers(constant: Constant, r: Reading) -> bool:
    if constant.table is None or constant.column is None or constant.operator not in ("=", "in", "<>"):
        return False
    return r.holds_numbers(constant.table, constant.column)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _digits(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:g}"
