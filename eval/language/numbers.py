"""Numbers in English text: `12`, `1,200.50`, `$5`, `seven`, `2 million`.

In: text. Out: the numbers in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

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


_HEAD = 20
"""Values that tell whether the others are looked at."""
_SIGNS = "$€£¥%,' "
_WITHOUT = str.maketrans("", "", _SIGNS)
_WHOLE = r"(?:0|[1-9]\d{0,12}|[1-9]\d{0,2}(?:[,' ]\d{3}){1,4})?"
_NUMBER = re.compile(rf"[-+]?[{_SIGNS}]{{0,2}}{_WHOLE}(?:\.\d{{1,9}})?[ %$€£¥]{{0,2}}")
_DIGIT = re.compile(r"\d")
_OTHERS = 3
"""Different texts that may stand among the figures, if they hold no digit."""


@dataclass(frozen=True, slots=True)
class TextFigures:
    """How the figures of a column of text are written."""

    signs: str = ""
    """What stands in them besides digits, point and minus."""
    others: tuple[str, ...] = ()
    """The texts among them."""
    complete: bool = True
    """Whether these are all."""


def text_figures(values: Sequence[str], complete: bool = True) -> TextFigures | None:
    """The figures that values are; whole numbers of one length may be codes. Some texts without a digit may stand among
    them: at most three, and a third."""
    head = [v for v in islice(values, _HEAD) if v.strip()]
    if 2 * sum(_NUMBER.fullmatch(v.strip()) is not None for v in head) < len(head):
        return None
    figures = [v.strip() for v in values if _DIGIT.search(v)]
    others = tuple(dict.fromkeys(v for v in values if v.strip() and not _DIGIT.search(v)))
    codes = all(map(str.isdecimal, figures)) and len(set(map(len, figures))) == 1
    if len(figures) < 2 or codes or len(others) > _OTHERS or 2 * len(others) > len(figures):
        return None
    if not all(_NUMBER.fullmatch(v) for v in figures):
        return None
    if len({float(v.translate(_WITHOUT)) for v in figures}) < len(set(figures)):
        return None
    return TextFigures("".join(s for s in _SIGNS if any(s in v for v in figures)), others, complete)
