"""Numbers, years and periods: one that the query compares with and the question does not name, or the other way.

In: a question read against its query. Out: sentences.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.language.inflection import light_stem
from eval.language.numbers import NUMBER_WORDS
from eval.language.tokens import tokenize
from eval.scoring.contradictions.said import left_over
from eval.scoring.evidence.familiarity import supposes
from eval.scoring.evidence.question_reading import Reading, Sentences
from eval.sql.traversal import every
from eval.sql.types import Constant

_YEAR = re.compile(r"(1[89]\d\d|20\d\d)(?=$|%|-\d\d)")
_DATE_KEY = re.compile(r"(?:1[89]|20)\d\d(?:[01]\d(?:[0-3]\d)?)?$")
"""A year, a month or a day written as one number."""
NAMED_YEAR = re.compile(r"(?<![\w.,$-])(1[89]\d\d|20\d\d)(?![\w.,]\d|\w)")
_RELATIVE = re.compile(
    r"\b(?:previous|prior|before|after|earlier|later|since|until|age|aged|old|older|younger|compared|change|growth|"
    r"grew|year over year|following|next|last|season|fiscal|between)\b"
)


def number_foreign(r: Reading) -> Sentences:
    """A number that is compared and that the question does not name, while it names another that the query lacks, or
    while all of its words have their part in the query."""
    named = set(r.intent.numbers) | {float(n) for n in _DIGITS.findall(f"{r.question} {r.case.taught}")}
    spelled = {float(n) for w, n in NUMBER_WORDS.items() if light_stem(w) in r.all_words}
    listed = float(sum(c.is_string for c in r.constants))  # `HAVING COUNT(DISTINCT name) = 2`: both that it lists
    known = named | spelled | ({listed} if listed > 1 else set())
    foreign = [c for c in r.constants if _compared_number(c) and not _near(float(c.value), known)]
    if foreign:  # `five hundred`, `40k`
        named |= {float(token.number) for token in tokenize(r.question) if token.number is not None}
        foreign = [c for c in foreign if not _near(float(c.value), named)]
    if not foreign:
        return
    used = {float(c.value) for c in r.constants if _is_number(c.value)}
    bounds = {1.0} if _MORE_THAN_ONE.search(r.question) else set()
    wanted = {n for n in named | spelled if n > 1} | bounds
    lacking = [n for n in wanted if not _near(n, used) and not _stands_in(f"{n:g}", r.case.parsed.text)]
    if lacking or not left_over(r):
        number = foreign[0].value
        yield f"The query compares with {number}, which the question does not name."


_DIGITS = re.compile(r"(?<!\d)\d{1,9}(?!\d)")
_MORE_THAN_ONE = re.compile(r"\b(?:than|least|most|exactly) (?:one|1|once)\b")


def _stands_in(number: str, sql: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(number)}(?![\w.])", sql) is not None


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(?:\.\d+)?", text))


def _compared_number(c: Constant) -> bool:
    return (
        c.operator is not None
        and not c.is_string
        and not _DATE_KEY.match(c.value)
        and _is_number(c.value)
        and (abs(float(c.value)) > 1 or (c.operator in _BOUNDS and float(c.value) != 0))
    )


_BOUNDS = ("<", "<=", ">", ">=")
"""`= 1` is often a flag, and `> 0` leaves out what is not known."""


def _near(number: float, known: set[float]) -> bool:
    scales = (1, 100, 60, 1_000, 3_600, 60_000, 1_000_000)
    return any(abs(number - k) <= 1 or any(abs(number - k * s) < 1e-6 or abs(number * s - k) < 1e-6 for s in scales)
               for k in known)  # fmt: skip


def year_foreign(r: Reading) -> Sentences:
    """A year that is compared and that the question, which names years, does not name. The first day of the year after
    may end a period, the last day of the year before may begin one."""
    named = {int(y) for y in NAMED_YEAR.findall(r.question)}
    if not named:
        return
    computes = r.case.facts.window_functions or every(r.tree, exp.Case)
    if computes and len(named) == 1 and _RELATIVE.search(r.question.replace("between", "")):
        return
    for c in r.constants:
        found = _YEAR.match(c.value)
        if found is None or c.operator is None:
            continue
        year = int(found[1])
        inside = min(named) <= year <= max(named)
        if not (inside or _ends_period(c, year, named, r) or _begins_period(c, year, named, r)):
            yield f"The query looks at {c.value}; the question names {', '.join(map(str, sorted(named)))}."
            return


def _ends_period(c: Constant, year: int, named: set[int], r: Reading) -> bool:
    """The year after one that is named, as an end that does not belong; or the year before `before 2010`."""
    last = c.value[4:6] == "-0"
    if year - 1 in named and (c.operator == "<" or (c.operator in ("<=", "between") and last)):
        return not re.search(rf"(?<!or )\bbefore (?:the year )?{year - 1}\b", r.question)
    bounds = c.operator == "<=" or (c.operator == "<" and last)
    return year + 1 in named and bounds and _UNTIL.search(r.question) is not None


def _begins_period(c: Constant, year: int, named: set[int], r: Reading) -> bool:
    """The year before one that is named, as a beginning that does not belong; or the year after `after 2010`."""
    if year + 1 in named and c.operator == ">":
        return not re.search(rf"(?<!or )\bafter (?:the year )?{year + 1}\b", r.question)
    dated = len(c.value) > len("2024")
    bounds = c.operator == ">=" or (c.operator == ">" and dated)
    return year - 1 in named and bounds and _FROM.search(r.question) is not None


_UNTIL = re.compile(r"(?<!or )\b(?:before|until|prior)\b")
_FROM = re.compile(r"(?<!or )\bafter\b|\blater than\b")


_RANGE = re.compile(r"\b(?:between|from|through|until|to|decade|century|since|range|during)\b|(?:19|20)\d\ds\b|\d-\d")


def year_unused(r: Reading) -> Sentences:
    """One of two years that the question names side by side is in the query, the other is not."""
    named = list(dict.fromkeys(NAMED_YEAR.findall(r.question)))
    if len(named) != 2 or _RANGE.search(r.question) or supposes(r.case.question):
        return
    used = [y for y in named if y in r.case.parsed.text]
    if len(used) == 1:
        other = next(y for y in named if y not in used)
        near = {str(int(other) + 1), str(int(other) - 1)} - set(used)
        if not any(year in r.case.parsed.text for year in near):
            yield f"The question names {other}; the query looks at {used[0]} only."


_WITHIN = re.compile(r"\b(?:in|during|of|year) (?:the year )?(?:1[89]|20)\d\d\b(?! (?:or|and|to|through|until|onward))")
_ONWARD = re.compile(r"\b(?:since|after|before|until|later|earlier|onwards?|from|prior|by)\b")


def period_open(r: Reading) -> Sentences:
    """`In 2023`, and the query bounds the date on one side only."""
    named = {int(y) for y in NAMED_YEAR.findall(r.question)}
    if len(named) != 1 or not _WITHIN.search(r.question) or _ONWARD.search(r.question):
        return
    year = named.pop()
    dated = [c for c in r.constants if (m := _YEAR.match(c.value)) and int(m[1]) in (year - 1, year, year + 1)]
    sides = {"=" if c.operator == "<>" else (c.operator or "?")[0] for c in dated}
    if sides in ({">"}, {"<"}):
        yield f"The question names {year}; the query bounds it on one side only."
