"""Units: `10 minutes` compared with a column in milliseconds; money that is stored in cents, told in whole units.

In: a number with the word of its unit, and the words of a column's name. Out: the number in the column's unit, or None
when the column does not name its unit and the question's unit is not the usual one. A query, the engine's or a model's:
amounts of columns called after a minor unit (`amount_cents`) are shown divided by 100, and the question's numbers that
they are compared with multiplied by 100, unless the question itself speaks of cents or it was already reckoned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from agent.knowledge.vocabulary import split_name
from agent.parser.word_lists import word_list
from eval.language.inflection import lemma
from eval.language.lexicon import word_set
from eval.language.tokens import Token, tokenize
from eval.schema import Dialect
from eval.sql import parse, render

_KINDS: tuple[dict[str, float], ...] = (
    {"millisecond": 0.001, "ms": 0.001, "second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "day": 86400,
     "week": 604800},
    {"mm": 0.001, "cm": 0.01, "m": 1, "meter": 1, "metre": 1, "km": 1000, "kilometer": 1000, "kilometre": 1000},
    {"g": 1, "gram": 1, "kg": 1000, "kilogram": 1000, "kilo": 1000},
)  # fmt: skip
UNITS = word_list("units_units")
"""Words in the names of columns that say what their numbers are counted in."""
_UNSAID = frozenset(
    ("minute", "year", "foot", "mile", "pound", "meter", "metre", "km", "kilometer", "kg", "kilogram", "day")
)
"""Units that people mention although the column name omits them, with the same meaning."""
_LENGTHS = word_list("lengths")
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


MINOR = word_set("cent pence centime centavo paise")
"""Singular words of the units that a column's name may end with."""
_FIGURES = (exp.Sum, exp.Avg, exp.Min, exp.Max)
NOTE = "stored in cents, told in whole units"


def in_whole_units(tree: exp.Expression, question: str) -> exp.Expression | None:
    """None where nothing is to be changed."""
    tokens = apart(tokenize(question))
    if any(token.lemma in MINOR for token in tokens):
        return None
    asked = {float(token.number) for token in tokens if token.number is not None}
    changed = tree.copy()
    columns = [column for column in changed.find_all(exp.Column) if _is_minor(column.name)]
    renamed: dict[str, str] = {}
    touched = False
    for column in columns:
        amount: exp.Expr = column.parent if isinstance(column.parent, _FIGURES) else column
        compared = amount.find_ancestor(exp.Predicate, exp.Select)
        if isinstance(compared, exp.Predicate):
            touched = _raised(compared, asked) or touched
        elif _is_shown(amount):
            whole: exp.Expr = exp.Div(this=amount.copy(), expression=exp.Literal.number("100.0"), typed=True)
            if isinstance(amount.parent, exp.Alias):
                alias = amount.parent
                renamed[alias.alias] = _without_unit(alias.alias)
                alias.set("alias", exp.to_identifier(renamed[alias.alias]))
            elif isinstance(amount.parent, exp.Select):
                whole = exp.alias_(whole, _without_unit(column.name))
            amount.replace(whole)
            touched = True
    for column in changed.find_all(exp.Column):
        if not column.table and column.name in renamed and column.find_ancestor(exp.Order):
            column.set("this", exp.to_identifier(renamed[column.name]))
    return changed if touched else None


def sql_in_whole_units(sql: str, dialect: Dialect, question: str) -> str | None:
    """The same for the text of a query; None where nothing is to be changed, or the text does not parse."""
    tree = parse(sql, dialect).tree
    changed = in_whole_units(tree, question) if tree is not None else None
    return render(changed, dialect) if changed is not None else None


def _is_minor(name: str) -> bool:
    parts = split_name(name)
    return any(part in MINOR and parts[max(0, i - 1) : i] != ("per",) for i, part in enumerate(parts))


def _raised(compared: exp.Expr, asked: set[float]) -> bool:
    """Multiply the question's numbers in a comparison by 100; each once, though several amounts may be compared."""
    raised = False
    for number in (compared.expression, compared.args.get("low"), compared.args.get("high")):
        literal = number.this if isinstance(number, exp.Neg) else number
        if not isinstance(literal, exp.Literal) or literal.is_string or literal.args.get("raised"):
            continue
        if float(literal.name) in asked:
            literal.replace(exp.Literal(this=f"{float(literal.name) * 100:.10g}", is_string=False, raised=True))
            raised = True
    return raised


def _is_shown(amount: exp.Expr) -> bool:
    """Whether it stands in the SELECT list of the outermost query, itself or as a factor."""
    node: exp.Expr = amount
    while isinstance(node.parent, (exp.Alias, exp.Mul, exp.Paren, exp.Round, *_FIGURES)):
        node = node.parent
    return node.arg_key == "expressions" and isinstance(node.parent, exp.Select) and node.parent.parent is None


def _without_unit(name: str) -> str:
    kept = [part for part in name.split("_") if lemma(part.lower()) not in MINOR]
    return "_".join(kept) or name
