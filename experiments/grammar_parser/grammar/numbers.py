"""Productions of numbers: bounds, numbers of rows, values of a column, in the unit of the column.

Each takes what it needs of a state and yields the states that it leads to; its name stands in the trail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from eval.language.inflection import lemma
from eval.language.lexicon import word_set
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.partial import (
    SIGNS,
    column_of,
    joined,
    restricted,
    shown_without,
)
from experiments.grammar_parser.grammar.state import State, Waiting
from experiments.grammar_parser.grammar.values import literal
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Column,
    Compare,
    Constant,
    Expression,
    OneOf,
    Within,
)

Production = Callable[[Context, State, Item], Iterator[State]]


_UNITS = word_set(
    "degrees degree dollars dollar euros euro pounds pound usd eur kilos kilo kg kilograms kilometers km meters "
    "metres m cm miles mile feet foot inches inch minutes minute seconds second hours hour days day years year old "
    "percent lbs stars points cents bucks quid grams g tons people times"
)


def number(c: Context, s: State, item: Item) -> Iterator[State]:
    """A number: a bound of a comparison, a number of rows, or a value of the column named last."""
    cmp, sup = s.waits("cmp"), s.waits("sup")
    if s.waits("like") is not None:
        yield from literal(c, s, item)
    elif sup is not None and sup.number is None and sup.end <= item.start <= sup.end + 1 and cmp is None:
        if isinstance(item.number, int):
            waiting = (*s.without(sup), replace(sup, number=item.number))
            yield s.but("how many rows", item.start, item.end, 0.6, waiting=waiting)
    elif cmp is not None and cmp.argument == "between":
        yield from _between(c, s, item, cmp)
    elif cmp is not None and cmp.number is None:
        yield from _bound(c, s, item, cmp)
    else:
        yield from _value_of_last(c, s, item)
        if cmp is None and s.head and isinstance(item.number, int) and sup is None:  # `with two types`
            exact = Waiting("cmp", "=", item.start, item.end, item.number)
            yield s.but("bound", item.start, item.end, 0.2, waiting=(*s.waiting, exact), phase="restrict")
        yield from _of_what_follows(c, s, item)


def _with_unit(c: Context, item: Item) -> tuple[int, str]:
    """Where a number with its unit ends, and the unit."""
    words, end = c.lattice.words, item.end
    while end < min(len(words), item.end + 2) and words[end] in _UNITS:
        if any(x.kind in ("table", "column") and x.score > 0.9 for x in c.lattice.at[end]):
            break
        end += 1
    return end, words[item.end] if end > item.end else ""


def _between(c: Context, s: State, item: Item, cmp: Waiting) -> Iterator[State]:
    end, _ = _with_unit(c, item)
    assert item.number is not None
    if cmp.number is None:
        yield s.but("lower bound", item.start, end, 0.6, waiting=(*s.without(cmp), replace(cmp, number=item.number)))
        return
    target = cmp.expression or s.column
    if target is not None:
        within = Within(target, cmp.number, item.number, closed=True)
        yield s.but("between", item.start, end, 0.8, waiting=s.without(cmp), where=joined(s, within))


def _bound(c: Context, s: State, item: Item, cmp: Waiting) -> Iterator[State]:
    """The bound of a comparison: with its column if that was named, else with the columns that it may be about."""
    end, unit = _with_unit(c, item)
    a, sign, waiting = item.start, SIGNS[cmp.argument], s.without(cmp)
    assert item.number is not None
    if cmp.expression is not None:
        right = Constant(_in_unit(item.number, unit, cmp.expression, c))
        yield s.but("column compared", a, end, 0.9, waiting=waiting, column=cmp.expression,
                    where=joined(s, Compare(cmp.expression, sign, right)), phase="restrict")  # fmt: skip
        return
    right = Constant(item.number)
    if s.having and isinstance(s.having[-1], Compare) and not s.waits("agg"):
        again = (*s.having, Compare(s.having[-1].left, sign, right))
        yield s.but("rows compared in number", a, end, 0.7, waiting=waiting, having=again)
    if isinstance(s.column, Aggregate) and s.trail is not None:
        having = (*s.having, Compare(s.column, sign, right))
        yield s.but("aggregate compared", a, end, 0.9, waiting=waiting, having=having, phase="restrict")
    last = s.last if s.last is not None and (s.last.numeric or s.last.role in ("number", "year", "id")) else None
    if last is not None:
        e = column_of(last)
        yield s.but("column compared", a, end, 0.9, waiting=waiting, column=e, show=shown_without(s, e),
                    phase="restrict", alternatives=False,
                    **restricted(c, s, Compare(e, sign, right), last.table))  # fmt: skip
    open_bound = (*waiting, replace(cmp, argument=sign, number=item.number))
    yield s.but("bound", a, item.end, 0.5 if last is None else 0.3, waiting=open_bound)
    if (s.head or s.focus) and last is None:
        for amount, fit in c.plausible(s.focus or s.head, item.number)[:3]:
            e = column_of(amount)
            yield s.but("amount compared", a, end, 0.3 + fit, waiting=waiting, column=e, phase="restrict",
                        **restricted(c, s, Compare(e, sign, right), amount.table))  # fmt: skip


def _value_of_last(c: Context, s: State, item: Item) -> Iterator[State]:
    """`whose id is 5`."""
    last = s.last
    if last is None or s.waits("group") or not (last.numeric or last.role in ("number", "year", "id", "text")):
        return
    end, _ = _with_unit(c, item)
    e = column_of(last)
    stored = item.number if last.numeric and item.number is not None else item.text
    condition = OneOf(e, (stored,), s.waits("neg") is not None)
    yield s.but("column equals", item.start, end, 0.7, column=e, show=shown_without(s, e), last=None,
                where=joined(s, condition), phase="restrict", alternatives=False)  # fmt: skip


def _of_what_follows(c: Context, s: State, item: Item) -> Iterator[State]:
    """`4 cylinder cars`, `the 3 cheapest …`, `5 customers`."""
    number, b = item.number, item.end
    if not isinstance(number, int) or s.waits("adjective") is not None or not 0 < number < 1000:
        return
    after = c.lattice.at[b] if b < len(c.lattice.at) else []
    if any(x.kind in ("sup", "adjective", "selling", "common", "table") for x in after):
        rows = Waiting("rows", "", item.start, b, number)
        yield s.but("how many rows", item.start, b, 0.7, waiting=(*s.waiting, rows))
    for x in after:
        for column, score in c.columns(x, s, most=1, numeric=True) if x.kind == "column" else ():
            if column.numeric and not column.primary:
                e = column_of(column)
                where = joined(s, OneOf(e, (number,)))
                yield s.but("number of column", item.start, x.end, score + 0.6, column=e, where=where)


def post(c: Context, s: State, item: Item) -> Iterator[State]:
    """`5 or more`: a comparison behind its number."""
    last = s.where[-1] if s.where else None
    if isinstance(last, OneOf) and len(last.values) == 1 and isinstance(last.values[0], (int, float)):
        turned = Compare(last.left, SIGNS[item.argument], Constant(last.values[0]))
        yield s.but("bound behind", item.start, item.end, 0.8, where=(*s.where[:-1], turned))
    cmp = s.waits("cmp")
    if cmp is not None and cmp.number is not None and cmp.argument == "=":
        yield s.but(
            "bound behind", item.start, item.end, 0.8, waiting=(*s.without(cmp), replace(cmp, argument=item.argument))
        )


def times(c: Context, s: State, item: Item) -> Iterator[State]:
    """`ordered more than 3 times`: the number of rows of what was named last."""
    cmp = s.waits("cmp")
    table = s.focus
    if cmp is None or cmp.number is None or not table or cmp.argument not in SIGNS:
        return
    having = Compare(c.counted(table), SIGNS[cmp.argument], Constant(cmp.number))
    yield s.but(
        "rows compared in number",
        item.start,
        item.end,
        0.9,
        waiting=s.without(cmp),
        having=(*s.having, having),
        phase="restrict",
    )


def ordinal(c: Context, s: State, item: Item) -> Iterator[State]:
    """`the second most expensive`: rows before it are passed over."""
    yield s.but("ordinal", item.start, item.end, 0.4, offset=int(item.argument) - 1)


_SECONDS = {
    "millisecond": 0.001,
    "ms": 0.001,
    "second": 1,
    "sec": 1,
    "minute": 60,
    "min": 60,
    "minimum": 60,
    "hour": 3600,
}


_GRAMS = {
    "g": 1,
    "gram": 1,
    "kg": 1000,
    "kilo": 1000,
    "kilogram": 1000,
    "lb": 453.592,
    "pound": 453.592,
    "ton": 1_000_000,
}


_METRES = {
    "mm": 0.001,
    "cm": 0.01,
    "m": 1,
    "meter": 1,
    "metre": 1,
    "km": 1000,
    "kilometer": 1000,
    "mile": 1609.344,
    "foot": 0.3048,
    "ft": 0.3048,
    "inch": 0.0254,
}


def _in_unit(number: float | int, said: str, e: Expression, c: Context) -> float | int:
    """The number in the unit of the column: `5 minutes` in milliseconds."""
    if not isinstance(e, Column) or not said:
        return number
    words = c.vocabulary.columns[e.key].words
    for units in (_SECONDS, _GRAMS, _METRES):
        stored = next((units[w] for w in words if w in units), None)
        asked = units.get(lemma(said), units.get(said))
        if stored is not None and asked is not None and stored != asked:
            turned = number * asked / stored
            return int(turned) if turned == int(turned) else turned
    return number
