"""Quantities: the unit, the scale and the number of the figures that come back, against what the question asks for."""

from __future__ import annotations

import re

from sqlglot import exp

from eval.language.words import name_words
from eval.scoring.evidence.absences import FILLED
from eval.scoring.evidence.question_reading import Observation, Observations, Reading
from eval.sql.traversal import every

_PERCENT = re.compile(r"\bpercent(?:age)?s?\b|\bpct\b|%")
_ONE_NUMBER = re.compile(
    r"\b(?:(?:give|return|as|is|just|only) (?:me )?(?:one|a single) (?:number|figure|value)|one number only)\b"
)
_ROUNDED = re.compile(r"\brounded (?:to|up|down)\b|\bto (?:one|two|three|\d) (?:decimal|digit)")
_UNROUNDED = re.compile(r"\b(?:unrounded|not rounded|without rounding)\b")
_ALSO_NONE = re.compile(
    r"\b(?:even (?:if|those|the ones|when|with)|also (?:those|the ones|one|ones) with(?:out)?"
    r"|includ\w+ (?:those|the ones|\w+) (?:with(?:out| no)|that have (?:no|none))"
    r"|count(?:s|ed)? as (?:0|zero)|(?:with|as|or|show) (?:0|zero)\b(?! \w+s)|or none)\b"
)
_COUNTS_TOO = re.compile(
    r"\bwith(?:out| no(?:ne)?)\b[^.?!,;]{0,40}? "
    r"(?:(?:also )?count(?:s|ed)? (?:too|as well)|(?:are|is) (?:also )?(?:counted|included)|show 0\b)"
)
_LEFT_OUT = re.compile(
    r"\b([a-z]{5,})(?: [a-z]+)? (?:(?:is|are|was|were) )?"
    r"(?:left out|excluded|not counted|(?:do|does|did)(?: not|n't) count)\b"
)
_PIECES = re.compile(
    r"\bhow many (?:pieces|units)\b|\b(?:number of|most|fewest|in) (?:pieces|units)\b|\b(?:pieces|units) sold\b"
)
_QUANTITY = re.compile(r"quantity|qty|pieces|units|amount", re.IGNORECASE)
_NO_NAMES = frozenset({"these", "those", "which", "their", "there", "other", "others", "without", "orders", "values"})
"""Words before `left out` that name no state."""
_PASSED = frozenset({"nullif", "coalesce", "ifnull", "round"})
"""Functions that give their first argument, more or less."""
_WHOLE = 100.001
"""Percent, with room for rounding."""
_MIDDLE = re.compile(r"median|percent|limit|offset|row_number|ntile|cume_dist|rank|quantile")
"""How a query finds the middle of a list, beside counting in a subquery what lies on either side."""
_STEPS = 3
"""SELECTs from which a query may count its way to the middle."""
_MEDIAN = re.compile(r"\bmedian\b")
_CHANGE = re.compile(
    r"\b(?:by (?:how many|what) percent(?:age)?|change(?:d|s)? (?:\w+ )?in percent"
    r"|percent(?:age)? (?:change|growth|increase)|growth(?: rate)?|gr[eo]w)\b"
)
_SHARE = re.compile(r"\b(?:what|which) (?:percentage|share|proportion|percent) of\b|\bpercentage of\b|\bshare of\b")
_CHANGED = re.compile(r"\b(?:change|growth|gr[eo]w|increase|decrease|more|less|than|compared|ratio)\w*\b|\bper\b")
_UNITS = (
    (("cent", "cents"), ("euro", "euros", "dollar", "dollars", "eur", "usd")),
    (("gram", "grams", "g"), ("kilogram", "kilograms", "kilo", "kilos", "kg", "ton", "tons", "tonnes")),
    (("meter", "meters", "metre", "metres", "m"), ("kilometer", "kilometers", "kilometre", "kilometres", "km")),
    (("second", "seconds", "sec"), ("minute", "minutes", "hour", "hours", "day", "days")),
    (("minute", "minutes", "min", "mins"), ("hour", "hours", "day", "days")),
    (("ms", "millisecond", "milliseconds"), ("second", "seconds", "minute", "minutes", "hour", "hours")),
    (("bytes", "byte"), ("kilobyte", "kilobytes", "megabyte", "megabytes", "mb", "gb", "kb", "gigabyte", "gigabytes")),
)
"""What a column's name says that it holds, and larger units of the same quantity."""


def observe(reading: Reading) -> Observations:
    yield from _scale(reading)
    yield from _unit(reading)
    yield from _rounding(reading)
    yield from _how_many(reading)
    yield from _pieces(reading)
    yield from _median(reading)
    yield from _left_out(reading)
    yield from _change(reading)
    yield from _share(reading)
    facts = reading.case.facts
    if _COUNTS_TOO.search(reading.question) and not facts.outer_joins and not _keeps_absent(reading.tree):
        yield Observation("absent_left_out", 1, "The question counts those without a value too; the query drops them.")
        return
    absent = _ALSO_NONE.search(reading.question)
    inner = facts.joins and not (facts.outer_joins or facts.set_operations or facts.subqueries)
    if absent and inner and facts.aggregates:
        text = "The question wants those without any as well, and an inner join leaves them out."
        yield Observation("absent_left_out", 1, text)


def _scale(r: Reading) -> Observations:
    """A percentage without its hundred."""
    if not _PERCENT.search(r.question) or not every(r.tree, exp.Div):
        return
    said = {n for n in r.intent.numbers if n}
    hundred = re.search(r"\b(?:100|0?\.01)\b", r.case.parsed.text)
    shown = [e for e in r.output if e.find(exp.Div)]
    if shown and not hundred and not said:
        yield Observation(
            "percent_not_scaled", 1, "The question asks for a percentage, and nothing is multiplied by 100."
        )


def _unit(r: Reading) -> Observations:
    """A column in one unit returned as it is, where the question names a larger unit of the same quantity."""
    words = set(re.findall(r"[a-z]+", r.question))
    if every(r.tree, exp.Div, exp.Mul):
        return
    for expression in r.output:
        for column in every(expression, exp.Column):
            parts = {p for p in re.split(r"[^a-z]+", column.name.casefold()) if p} | set(name_words(column.name))
            for small, large in _UNITS:
                asked = words.intersection(large)
                if parts.intersection(small) and asked and not words.intersection(small):
                    text = f"{column.name} is returned as it is, and the question asks for {min(asked)}."
                    yield Observation("unit_not_converted", 1, text)
                    return


def _rounding(r: Reading) -> Observations:
    rounds = (
        bool(every(r.tree, exp.Round)) or "round(" in r.case.parsed.text.casefold() or bool(every(r.tree, exp.Cast))
    )
    if _ROUNDED.search(r.question) and not _UNROUNDED.search(r.question) and not rounds:
        yield Observation("rounding_missing", 1, "The question asks for rounded figures, and nothing is rounded.")
    elif _UNROUNDED.search(r.question) and every(r.tree, exp.Round):
        yield Observation("rounding_unasked", 1, "The question asks for unrounded figures, and the query rounds.")


def _how_many(r: Reading) -> Observations:
    if _ONE_NUMBER.search(r.question) and r.ran and (len(r.rows) > 1 or len(r.output) > 1):
        text = f"The question asks for one number, and {len(r.rows)} rows of {len(r.output)} columns come back."
        yield Observation("several_numbers", 1, text)


def _keeps_absent(tree: exp.Expr) -> bool:
    """Whether a query does something about what is absent: NULL, a default, a union, all rows less some."""
    if FILLED.search(tree.sql()) or every(tree, exp.Is, exp.SetOperation, exp.Exists, exp.Case, exp.If, exp.Sub):
        return True
    return any(isinstance(node.this, exp.In) for node in every(tree, exp.Not))


def _pieces(r: Reading) -> Observations:
    """Rows counted where pieces are asked for, and a table of the query holds how many there are."""
    facts = r.case.facts
    if not _PIECES.search(r.question) or "count" not in facts.aggregates or "sum" in facts.aggregates:
        return
    held = next((c.name for t in r.case.tables_read for c in t.columns if _QUANTITY.search(c.name)), None)
    counted = {c.name for e in r.output for call in every(e, exp.Count) for c in every(call, exp.Column)}
    if held is not None and (held in counted or held.casefold() not in r.case.parsed.text.casefold()):
        yield Observation("pieces_not_summed", 1, f"The question asks for pieces; the query counts rows, not {held}.")


def _median(r: Reading) -> Observations:
    text = r.case.parsed.text.casefold()
    if _MEDIAN.search(r.question) and not _MIDDLE.search(text) and len(r.selects) < _STEPS:
        yield Observation("median_missing", 1, "The question asks for a median, and the query finds no middle.")


def _change(r: Reading) -> Observations:
    """A growth in percent: the difference by what was before. A ratio is none, and (new - old) / new is another."""
    if not _CHANGE.search(r.question):
        return
    places = (exp.Alias, exp.Select, exp.Paren, exp.Mul, exp.Round)
    divisions = [d for d in every(r.tree, exp.Div) if isinstance(d.parent, places)]
    for division in divisions:
        below = _bare(division.right)
        for difference in every(division.left, exp.Sub):
            if _same(difference.left, below) and not _same(difference.right, below):
                text = "The change is divided by the later value and not by the earlier one."
                yield Observation("change_of_later", 1, text)
                return
    percent = _PERCENT.search(r.question) or "growth" in r.question
    if percent and divisions and not every(r.tree, exp.Sub) and not re.search(r"- ?1(?:00)?\b", r.case.parsed.text):
        yield Observation("change_not_subtracted", 1, "The question asks for a change; the query gives a ratio.")


def _bare(node: exp.Expr) -> exp.Expr:
    node = node.unnest()
    while True:
        if isinstance(node, exp.Anonymous) and node.name.casefold() in _PASSED and node.expressions:
            node = node.expressions[0]
        elif isinstance(node, exp.Cast | exp.Paren):
            node = node.this
        else:
            return node


def _same(one: exp.Expr, other: exp.Expr) -> bool:
    return isinstance(_bare(one), exp.Column | exp.AggFunc | exp.Window) and _bare(one).sql() == _bare(other).sql()


def _share(r: Reading) -> Observations:
    """A share of a whole that is more than the whole."""
    if not _SHARE.search(r.question) or _CHANGED.search(r.question) or not r.rows or len(r.output) != len(r.rows[0]):
        return
    for place, expression in enumerate(r.output):
        if not every(expression, exp.Div):
            continue
        shares = [row[place] for row in r.rows]
        most = max((s for s in shares if isinstance(s, int | float)), default=0)
        if most > _WHOLE:
            yield Observation("share_above_whole", 1, f"A share of {most:g} percent comes back: more than the whole.")
            return


def _left_out(r: Reading) -> Observations:
    """What the question leaves out by name, where nothing in the query is called so."""
    text = r.case.parsed.text.casefold()
    for found in _LEFT_OUT.finditer(r.question):
        word = found[1]
        if word not in _NO_NAMES and word[:6] not in text and not r.case.facts.negations and "null" not in text:
            yield Observation("left_out_kept", 1, f"The question leaves out what is {word}; the query does not.")
            return
