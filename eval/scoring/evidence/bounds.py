"""Bounds: numbers and days that the question bounds something by, against the comparisons of the query.

`at least 14` is `>= 14`, never `> 14` or `< 14`; `before 1 May 2024` is `< '2024-05-01'`. A bound is compared only
where the query compares with this very number or day, so another way of writing it contradicts nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from sqlglot import exp

from eval.language.numbers import NUMBER_WORDS, number_of
from eval.scoring.evidence.periods import DAY_WRITTEN, days_in
from eval.scoring.evidence.question_reading import Observation, Observations, Reading
from eval.sql.traversal import every

_MORE = r"(?:more|greater|higher|larger|older|bigger|longer|heavier|taller|better|larger)"
_LESS = r"(?:less|fewer|smaller|lower|younger|shorter|lighter|cheaper)"
_NUMBER = rf"[$€£]?(\d[\d,]*(?:\.\d+)?|(?:{'|'.join(NUMBER_WORDS)})\b)(?![\d.,]*\d|-)"
_AFTERWARDS = r"(?! (?:hundred|thousand|million|billion|dozen|times|standard|percent\w*|%|and|to)\b|%|k\b)"


def _bound(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b{words} (?:the )?(?:number )?{_NUMBER}{_AFTERWARDS}")


_BOUNDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (_bound(rf"(?:at least|(?:no|not) (?:{_LESS}) than|a minimum of|{_MORE}(?: than)? or equal to)"), ">="),
    (re.compile(rf"\b{_NUMBER} (?:\w+ )?or {_MORE}\b(?! than)"), ">="),
    (_bound(rf"(?:at most|(?:no|not) {_MORE} than|not (?:above|over|exceeding)|up to|a maximum of)"), "<="),
    (_bound(rf"{_LESS}(?: than)? or equal to"), "<="),
    (re.compile(rf"\b{_NUMBER} (?:\w+ )?or {_LESS}\b(?! than)"), "<="),
    (_bound(rf"(?<!no )(?<!not )(?:{_MORE} than|above|over|exceed(?:s|ing|ed)?)"), ">"),
    (_bound(rf"(?<!no )(?<!not )(?:{_LESS} than|below|under)"), "<"),
    (_bound(r"exactly"), "="),
)
_DAYS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"(?<!on or )\bbefore {DAY_WRITTEN}"), "<"),
    (re.compile(rf"(?<!on or )\bafter {DAY_WRITTEN}"), ">"),
)
_NEGATED = re.compile(r"\b(?:not|never|no|none|without|n't|except|nor)\b[^.?!;,]{0,40}$")
"""What stands before a bound that is denied: its opposite may be what the query compares with."""
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.EQ: "=",
    exp.NEQ: "<>",
}
_MIRRORED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_WORDS = {
    ">=": "at least",
    "<=": "at most",
    ">": "more than",
    "<": "less than",
    "=": "exactly",
}
_SEVERAL, _MANY = 3, 20
"""Numbers in words that only a comparison can mean."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d$")

Asked = Mapping[tuple[float | str, str], frozenset[str]]
"""Each number or day that bounds something, as compared and as shown, with the operators that say so."""


def observe(reading: Reading) -> Observations:
    tree = reading.tree
    # Whether the query excludes what it looks for, so that its comparisons may be the opposite of the
    # question's
    turned_round = bool(every(tree, exp.Except)) or any(
        isinstance(node.this.unnest(), exp.In | exp.Exists | exp.Connector | exp.Predicate)
        and not isinstance(node.this, exp.Like)
        for node in every(tree, exp.Not)
    )
    if turned_round:
        return
    asked = _asked(reading.question)
    written = _written(tree) if asked else {}
    yield from _missing(reading, asked, written)
    for (value, shown), meant in asked.items():
        found = written.get(value)
        if not found and isinstance(value, float):
            yield from _beside(reading, value, shown, meant, written)
        if not found or found & meant:
            continue
        strict = all(any(op.strip("=") == m.strip("=") and op != "=" != m for m in meant) for op in found)
        name = "bound_strictness" if strict else "bound_direction"
        word = _WORDS[min(meant)]
        text = f"The question says “{word} {shown}”, and the query compares with {min(found)} {shown}."
        yield Observation(name, 1, text)
        return


def _missing(r: Reading, asked: Asked, written: Mapping[float | str, object]) -> Observations:
    """A number of things, `at least three`, that the query compares with nothing. Once is a join, twice a self-join."""
    if r.case.facts.set_operations or every(r.tree, exp.Window) or r.case.facts.limit is not None or r.asks_some:
        return
    text = r.case.parsed.text
    for value, shown in asked:
        if not isinstance(value, float) or not _SEVERAL <= value <= _MANY or shown.isdecimal():
            continue
        if f"over {shown}" in r.question or f"over the {shown}" in r.question:  # an average over the twelve months
            continue
        near = {value, value - 1, value + 1, value / 100}
        if not near & set(written) and not any(re.search(rf"\b{n:g}\b", text) for n in near):
            yield Observation("bound_missing", 1, f"The question bounds something by {shown}, and the query does not.")
            return


_SAME_BESIDE = {">=": (-1, ">"), ">": (1, ">="), "<=": (1, "<"), "<": (-1, "<=")}
"""`at least 3` is `> 2`."""


def _beside(
    r: Reading, value: float, shown: str, meant: frozenset[str], written: Mapping[float | str, set[str]]
) -> Observations:
    """`At least three` as `>= 2`: the number beside it, which the question does not name, compared otherwise."""
    for step in (-1, 1):
        found = written.get(value + step)
        fine = {op for m in meant if m in _SAME_BESIDE for by, op in (_SAME_BESIDE[m],) if by == step}
        if found and value >= 2 and not found & (fine | {"=", "<>"}) and value + step not in r.intent.numbers:
            text = f"The question says “{shown}”, and the query compares with {min(found)} {value + step:g}."
            yield Observation("bound_strictness", 1, text)
            return


def _asked(question: str) -> Asked:
    """The bounds of a question in small letters."""
    bounds: dict[tuple[float | str, str], set[str]] = defaultdict(set)
    for pattern, operator in _BOUNDS:
        for found in pattern.finditer(question):
            number = number_of(found[1])
            if number is not None and not _NEGATED.search(question[: found.start()]):
                bounds[float(number), found[1]].add(operator)
    for pattern, operator in _DAYS:
        for found in pattern.finditer(question):
            for day in days_in(found[0]):
                if day.day:
                    text = f"{day.year:04}-{day.month:02}-{day.day:02}"
                    bounds[text, text].add(operator)
    return {key: frozenset(operators) for key, operators in bounds.items()}


def _written(tree: exp.Expr) -> dict[float | str, set[str]]:
    """Each number or day that the query compares with, and how: the operator as if it stood on the right."""
    compared: dict[float | str, set[str]] = defaultdict(set)
    for value, operator in _comparisons(tree):
        compared[value].add(operator)
    return compared


def _comparisons(tree: exp.Expr) -> Iterator[tuple[float | str, str]]:
    for node in every(tree, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.EQ, exp.NEQ):
        operator = _OPERATORS[type(node)]
        for side, seen in ((node.right, operator), (node.left, _MIRRORED.get(operator, operator))):
            value = _value(side)
            if value is not None:
                yield value, seen
    for between in every(tree, exp.Between):
        for bound, operator in (("low", ">="), ("high", "<=")):
            value = _value(between.args[bound])
            if value is not None:
                yield value, operator


def _value(node: exp.Expr) -> float | str | None:
    """The number or the day of a constant."""
    inner = node.this if isinstance(node, exp.Date | exp.Cast | exp.Paren) else node
    if isinstance(inner, exp.Anonymous) and len(inner.expressions) == 1:
        inner = inner.expressions[0]  # DATE('2024-05-01')
    if not isinstance(inner, exp.Literal):
        return None
    if inner.is_string and _DAY.match(inner.name):
        return inner.name
    try:
        return float(inner.name)
    except ValueError:
        return None
