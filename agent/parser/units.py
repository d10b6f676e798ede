"""Units: `10 minutes` compared with a column in milliseconds.

In: a number with the word of its unit, and the words of a column's name. Out: the number in the column's unit, or None
when the column does not name its unit and the question's unit is not the usual one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from eval.language.inflection import lemma
from eval.language.lexicon import word_set
from eval.language.tokens import Token, tokenize

_KINDS: tuple[dict[str, float], ...] = (
    {"millisecond": 0.001, "ms": 0.001, "second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "day": 86400,
     "week": 604800},
    {"mm": 0.001, "cm": 0.01, "m": 1, "meter": 1, "metre": 1, "km": 1000, "kilometer": 1000, "kilometre": 1000},
    {"g": 1, "gram": 1, "kg": 1000, "kilogram": 1000, "kilo": 1000},
)  # fmt: skip
UNITS = word_set(
    "foot meter metre km kilometer mile cm mm kg g gram pound lb inch second minute hour day year million billion "
    "thousand usd eur dollar euro percent lbs kgs ms millisecond sec min hr m ft "
    "sqm m2 sqft ft2 ha acre hectare km2 gb mb kb tonne ton t"
)
"""Words in the names of columns that say what their numbers are counted in."""
_UNSAID = frozenset(
    ("minute", "year", "foot", "mile", "pound", "meter", "metre", "km", "kilometer", "kg", "kilogram", "day")
)
"""Units that people mention although the column name omits them, with the same meaning."""
_LENGTHS = word_set(
    "long longer tall taller deep deeper wide wider high higher short shorter far farther length height"
)
_GLUED = re.compile(r"(-?\d+(?:[.,]\d+)?)([a-z]+2?)", re.IGNORECASE)


def apart(tokens: Sequence[Token], stored: Callable[[str], object] = lambda _: None) -> tuple[Token, ...]:
    """`5kg` as a number and its unit, where no value is stored so; `20m` is a length beside `longer` alone."""
    lengthy = not _LENGTHS.isdisjoint(token.lower for token in tokens)
    parts: list[Token] = []
    for token in tokens:
        glued = _GLUED.fullmatch(token.text)
        unit = lemma(glued[2].lower()) if glued else ""
        split = unit in UNITS and (unit != "m" or lengthy) and not stored(token.text)
        parts.extend(tokenize(f"{glued[1]} {glued[2]}") if glued and split else (token,))
    return tuple(parts)


def of_a_unit(words: Sequence[str]) -> bool:
    """Whether a column holds what one unit costs (`price_kg`, `cents_kg`, `cost per head`)."""
    return bool(_PRICED & set(words[:-1])) and (words[-1] in UNITS - _NO_MEASURE or "per" in words)


_PRICED = word_set("price rate cost fee wage cent pence usd eur euro dollar gbp")
_NO_MEASURE = word_set("usd eur dollar euro pound million billion thousand percent year")


def unit_after(tokens: Sequence[Token], at: int) -> str:
    """The unit named by the token at this position, or empty."""
    if at >= len(tokens) or tokens[at].kind != "word":
        return ""
    word = lemma(tokens[at].lower)
    return word if any(word in kind for kind in _KINDS) else ""


def assumed(number: float, unit: str, column: Sequence[str]) -> float | int | None:
    """Hours in the minutes that a length of time without a unit is mostly kept in; None for anything else."""
    timed = unit == "hour" and column[-1] in ("length", "duration", "runtime", "time")
    return number * 60 if timed else None


def converted(number: float, unit: str, column: Sequence[str]) -> float | int | None:
    """The number in the column's own unit; unchanged for a unit that the column implies; None when unknown."""
    for kind in _KINDS:
        own = next((w for w in column if w in kind), None)
        if unit in kind and own is not None:
            value = number * kind[unit] / kind[own]
            return int(value) if value == int(value) else value
    return number if unit in _UNSAID else None
