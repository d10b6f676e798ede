"""Rankings by what was sold: `best-selling`."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.partial import ranking
from experiments.grammar_parser.grammar.state import State, Waiting
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import Aggregate


def selling(c: Context, s: State, item: Item) -> Iterator[State]:
    """`best-selling`: waits for what is sold; behind it, ranks it."""
    rows = s.waits("rows") or s.waits("sup")
    number = int(rows.number or 1) if rows is not None else 1
    waiting = Waiting("selling", item.argument, item.start, item.end, number)
    yield s.but("selling said", item.start, item.end, 0.6, waiting=(*s.without(rows), waiting))
    if s.head or s.show:
        yield from sold(c, s, item.start, item.end, item.argument, number, s.without(rows))


def sold(
    c: Context, s: State, a: int, b: int, direction: str, number: int, waiting: tuple[Waiting, ...]
) -> Iterator[State]:
    """Ranked by pieces where they are counted, or by amount."""
    for name in ("item sell", "revenue"):
        for expression, score in c.measure(name, c.anchors(s))[:1]:
            by = ranking(s, Aggregate("sum", expression), direction)
            yield s.but("rank by sales", a, b, score, waiting=waiting, order=by, limit=number)
