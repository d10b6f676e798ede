"""The productions by the kind of item that they start from: how an item, met in a state, extends the partial plan.

Several where its part is open. A production's name says what it built and stands in the trail with the words that it
consumed; its gain is the item's score plus what was learned of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from experiments.grammar_parser.grammar import calendar, columns, measures, numbers, sales, signals, tables, values
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.state import State
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import Column

Production = Callable[[Context, State, Item], Iterator[State]]


def extend(context: Context, state: State, item: Item) -> Iterator[State]:
    """All states that an item leads to."""
    production = _BY_KIND.get(item.kind)
    if production is not None:
        for new in production(context, state, item):
            step = new.trail
            assert step is not None
            worth = _worth(item)
            if (
                item.nouns == frozenset()
                and new.waiting
                and item.kind in ("table", "column", "value", "period", "measure", "unit")
            ):
                new.waiting = tuple(w for w in new.waiting if not (w.nouns and w.nouns & _linked(context, new, item)))
            new.trail = replace(step, score=step.score + worth)
            new.score = state.score + context.guided(step.score + worth, step, state)
            yield new


def _linked(c: Context, s: State, item: Item) -> set[str]:
    """The words of what an item named."""
    if item.kind == "measure":
        return {*item.argument.split(), "amount", "total", "sale"}
    words: set[str] = set()
    if item.kind == "table":
        words.update(w for t, _ in item.tables[:3] for w in c.vocabulary.tables[t].words)
    if item.kind == "column":
        words.update(w for x, _ in item.columns[:3] for w in x.words)
    if item.kind in ("value", "period", "unit") and isinstance(s.column, Column):
        words.update(c.vocabulary.columns[s.column.key].words)
        words.update(c.vocabulary.tables[s.column.table].words)
    if item.kind == "period":
        words.add("date")
    return words


def _worth(item: Item) -> float:
    """Consuming words is worth their number, so that longer names win over their parts."""
    more = item.end - item.start - 1
    each = 0.5
    if item.kind in ("value", "table", "column"):
        each = item.score * (1.6 if item.kind == "value" and not item.argument else 0.9)
    return 0.6 * (1 + more) + more * each


_BY_KIND: dict[str, Production] = {
    "table": tables.table,
    "column": columns.column,
    "value": values.value,
    "literal": values.literal,
    "word": values.part_of_text,
    "part": values.part,
    "number": numbers.number,
    "period": calendar.period,
    "adjective": measures.adjective,
    "measure": measures.measure,
    "count": signals.count,
    "agg": signals.agg,
    "sup": signals.sup,
    "sup_count": signals.most_rows,
    "common": signals.common,
    "busy": signals.busy,
    "verb": signals.verb,
    "times": numbers.times,
    "running": calendar.over_groups,
    "growth": calendar.over_groups,
    "compare": signals.compare,
    "ordinal": numbers.ordinal,
    "trend": calendar.trend,
    "kindof": signals.skip,
    "cmp": signals.waits("cmp"),
    "post": numbers.post,
    "like": signals.waits("like"),
    "order": signals.waits("order"),
    "dir": signals.direction,
    "group": signals.group,
    "unit": calendar.unit,
    "distinct": signals.distinct,
    "neg": signals.waits("neg"),
    "except": signals.waits("neg"),
    "both": signals.waits("both", 0.2),
    "either": signals.also,
    "or": signals.alternative,
    "and": signals.also,
    "also": signals.also,
    "vs": signals.versus,
    "percent": signals.waits("share"),
    "relative": signals.relative,
    "selling": sales.selling,
    "elapsed": calendar.elapsed,
    "howlong": signals.waits("howlong", 0.4),
    "late": calendar.late,
    "superior": signals.superior,
    "computed": measures.computed,
    "fullname": signals.waits("fullname", 0.6),
    "by": signals.by,
    "sign": measures.sign,
    "star": signals.waits("star", 0.3),
    "missing": signals.missing,
    "first": signals.first,
}
