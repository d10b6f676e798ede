"""Numbers in English text: `12`, `1,200.50`, `$5`, `seven`, `2 million`.

In: text. Out: the numbers in it.
"""

from __future__ import annotations

import re

NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
SMALL_NUMBERS = "|".join(word for word, number in NUMBER_WORDS.items() if number <= 12)
"""The number words up to twelve, for a regular expression."""
MULTIPLIERS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12, "k": 1000}

_DECIMAL = re.compile(r"-?\d+\.\d+")
_NUMERAL = re.compile(
    r"(?<![\w.])[$€£]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:(?:\s*(?i:(thousand|million|billion))\b|(k|K|M|bn)\b)|(?!\w|\.\d))"
)
_SCALES = MULTIPLIERS | {"m": 10**6, "bn": 10**9}
_DIGITS = 18
"""Longer numerals are codes, not quantities."""


def number_of(text: str) -> int | float | None:
    """The value of a numeral or number word, else None."""
    cleaned = text.lower().replace(",", "").replace("$", "").rstrip("%")
    if cleaned in NUMBER_WORDS:
        return NUMBER_WORDS[cleaned]
    try:
        return int(cleaned)
    except ValueError:
        return float(cleaned) if _DECIMAL.fullmatch(cleaned) else None


def quantity(text: str) -> int | float | None:
    """The value of a numeral or number word; an article is one (`an hour`)."""
    return 1 if text.lower() in ("a", "an") else number_of(text)


def numerals(text: str) -> tuple[float, ...]:
    """The numbers that a text writes in digits, multiplied out: `2 million`, `1.5M`, `40k`."""
    numerals = ((match[1].replace(",", ""), match[2] or match[3]) for match in _NUMERAL.finditer(text))
    return tuple(float(d) * float(_SCALES.get((scale or "").lower(), 1)) for d, scale in numerals if len(d) <= _DIGITS)
