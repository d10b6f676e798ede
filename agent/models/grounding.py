"""Checks that the numbers in an answer come from the results; `ungrounded_numbers` returns those that do not.

In: the answer's text, the results that it reports and the question. Out: the numbers, as written, that occur in none of
them. Pure function. A sum that a model computed itself is returned, too, because its arithmetic is unchecked.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from agent.state import QueryResult

_CELLS = 200_000
_CHARS = 100_000

_NUMBER = re.compile(
    r"(?<![\w.,])(?P<sign>[-−]?)(?P<currency>[$€£¥]?)"
    r"(?P<digits>\d{1,3}(?:[,\u00a0\u202f'’]\d{3}){1,12}(?:\.\d{1,30})?|\d{1,40}(?:\.\d{1,30})?)"
    r"(?P<suffix>\s?%|\s?percent\b|(?:st|nd|rd|th)\b|\s?(?:thousand|million|billion|trillion)\b|[kKMB]n?\b|)"
    r"(?!\w)(?!\.\d)"
)
_LIST_MARK = re.compile(r"^[ \t]{0,12}(?:\d{1,3}[.)]|\|\s{0,8}\d{1,3}\s{0,8}\|)[ \t]", re.MULTILINE)
_IN_STRING = re.compile(r"\d{1,3}(?:,\d{3}){1,12}(?:\.\d{1,30})?|\d{1,40}(?:\.\d{1,30})?")
_HEDGE = re.compile(r"(?:about|around|approximately|roughly|nearly|almost|over|under|~|≈|some|approx\.?)\s{0,3}$", re.I)
_SCALE = {"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9, "b": 1e9, "trillion": 1e12}


def ungrounded_numbers(text: str, results: Sequence[QueryResult], question: str = "") -> list[str]:
    """The numbers in `text`, as written and in order, that occur in no row, column name, SQL or count of `results` and
    not in `question`.

    Counted as the same number: thousands separators, another sign, rounding to the decimals written, a fraction as
    percentage (0.25 as 25%), a scale word (1.2 million), and 5 % of distance after a word like "about". Marks of
    numbered lists, and ranks up to the number of rows, are not numbers of the answer.
    """
    known = sorted(_known(results, question))
    ranks = max((len(r.data) for r in results), default=0)
    marks = {m.start() + len(m.group()) - len(m.group().lstrip(" \t|")) for m in _LIST_MARK.finditer(text[:_CHARS])}
    loose: list[str] = []
    for number in _NUMBER.finditer(text[:_CHARS]):
        written = number.group().strip()
        if number.start("digits") in marks or written in loose:
            continue
        suffix = number.group("suffix").strip().lower()
        digits = re.sub(r"[^\d.]", "", number.group("digits"))
        value = float(digits)
        if suffix in ("st", "nd", "rd", "th") and value <= ranks:
            continue
        step = 0.5 * 10.0 ** -len(digits.partition(".")[2])
        hedged = bool(_HEDGE.search(text, max(0, number.start() - 20), number.start()))
        scale = _SCALE.get(suffix.removesuffix("n") if len(suffix) == 2 else suffix, 1.0)
        readings = [(value * scale, step * scale)]
        if suffix in ("%", "percent"):
            readings.append((value / 100, step / 100))
        if not any(_near(v, slack, known, hedged=hedged) for v, slack in readings):
            loose.append(written)
    return loose


def _near(value: float, slack: float, known: Sequence[float], *, hedged: bool) -> bool:
    slack = max(slack, 0.05 * value if hedged else 0.0) * (1 + 1e-9) + 1e-12 * value
    at = bisect_left(known, value - slack)
    return at < len(known) and known[at] <= value + slack


def _known(results: Sequence[QueryResult], question: str) -> Iterable[float]:
    yield from _numbers_of([question, len(results)])
    left = _CELLS
    for result in results:
        yield from _numbers_of([result.rows_returned, len(result.data), result.sql, result.columns])
        for row in result.data:
            left -= len(row)
            if left < 0:
                return
            yield from _numbers_of(row)


def _numbers_of(cell: object) -> Iterable[float]:
    if isinstance(cell, bool) or cell is None:
        return
    if isinstance(cell, int | float):
        try:
            number = abs(float(cell))
        except OverflowError:
            return
        if math.isfinite(number):
            yield number
    elif isinstance(cell, str):
        for match in _IN_STRING.finditer(cell[:2000]):
            yield float(match.group().replace(",", ""))
            if "," in match.group():
                yield from (float(part) for part in match.group().replace(".", ",").split(","))
    elif isinstance(cell, list | dict):
        for item in cell.values() if isinstance(cell, dict) else cell:
            yield from _numbers_of(item)
