"""Productions of stored values and texts: equal to one, one of several, part of one, a pattern.

Each takes what it needs of a state and yields the states that it leads to; its name stands in the trail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.partial import (
    column_of,
    joined,
    once,
)
from experiments.grammar_parser.grammar.state import Absent, State
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import (
    Column,
    Condition,
    Like,
    OneOf,
)

Production = Callable[[Context, State, Item], Iterator[State]]


def value(c: Context, s: State, item: Item) -> Iterator[State]:
    for hit, score in c.hits(item, s, most=3):
        column = c.vocabulary.columns[hit.table, hit.column]
        yield from _value_of(c, s, item, column, hit.value, score)


def _value_of(c: Context, s: State, item: Item, column: ColumnWord, value: str, score: float) -> Iterator[State]:
    a, b = item.start, item.end
    e = column_of(column)
    neg, like = s.waits("neg"), s.waits("like")
    cmp = s.waits("cmp")
    if like is not None:
        return
    superior = s.waits("superior")
    if superior is not None and superior.argument.startswith(f"{column.table}."):
        other = replace(e, role=superior.argument)
        yield s.but(
            "value of the superior",
            a,
            b,
            score + 0.3,
            last=None,
            where=joined(s, OneOf(other, (value,))),
            waiting=s.waiting,
        )
    negated = neg is not None or (cmp is not None and cmp.argument == "<>")
    stored: str | int = value
    condition: Condition = OneOf(e, (stored,), negated)
    gone = s.without(neg, cmp if cmp is not None and cmp.argument in ("=", "<>") else None)
    common = {"focus": s.focus, "last": None, "waiting": gone, "column": e}
    if (
        s.absent
        and neg is None
        and c.graph.distance(s.absent[-1].table, column.table) < c.graph.distance(s.head or column.table, column.table)
    ):
        inner = replace(s.absent[-1], where=(*s.absent[-1].where, condition))
        yield s.but("value of absent rows", a, b, score, **common, absent=(*s.absent[:-1], inner))
        return
    last = s.where[-1] if s.where else None
    if isinstance(last, OneOf) and last.left == e and not negated and not last.negated and last.values != (stored,):
        either = OneOf(e, (*last.values, stored))
        if s.vs:
            yield s.but(
                "values set against each other",
                a,
                b,
                score + 0.2,
                **common,
                where=(*s.where[:-1], either),
                group=once(s.group, e),
            )
            return
        if s.waits("both") is not None or s.sets:
            yield s.but(
                "both values",
                a,
                b,
                score,
                **{**common, "waiting": s.without(s.waits("both"), neg)},
                sets=(*s.sets, (e, stored)),
            )
        if not s.alternatives:
            yield s.but("value besides", a, b, score - 0.25, **common, sets=(*s.sets, (e, stored)))
        yield s.but("one of values", a, b, score, **common, where=(*s.where[:-1], either), alternatives=False)
        return
    if s.waits("both") is not None:
        yield s.but("first of both values", a, b, score, **common, where=(*s.where, condition))
        return
    if negated and c.graph.distance(s.head or column.table, column.table) > 0 and s.head:
        below = _below(c, s.head, column.table)
        if below:
            yield s.but(
                "absent value",
                a,
                b,
                score + 0.1,
                **common,
                absent=(*s.absent, Absent(s.head, column.table, (OneOf(e, (stored,)),))),
            )
    name = "value not" if negated else "value"
    if s.show and s.show[-1] == e and (len(s.show) > 1 or s.head):
        yield s.but(
            f"{name} of the column",
            a,
            b,
            score + 0.1,
            **common,
            show=s.show[:-1],
            where=joined(s, condition),
            alternatives=False,
        )
    if (
        isinstance(last, OneOf)
        and isinstance(last.left, Column)
        and last.left.table == column.table
        and last.left.name != column.name
        and not negated
        and s.trail is not None
        and s.trail.end == a
        and s.trail.production == "value"
        and "name" in column.words
        and "name" in c.vocabulary.columns[last.left.key].words
    ):
        yield s.but("rest of a full name", a, b, score + 0.3, **common, where=(*s.where, condition))
        return
    yield s.but(name, a, b, score, **common, where=joined(s, condition), alternatives=False)


def _below(c: Context, head: str, table: str) -> bool:
    """Whether a row of `head` may have several rows of `table`."""
    plan = c.graph.plan([head, table])
    return plan is not None and plan.multiplies(head)


def literal(c: Context, s: State, item: Item) -> Iterator[State]:
    """A quoted text that is not stored: a pattern, or a value of the column named last."""
    like, neg = s.waits("like"), s.waits("neg")
    if like is None:
        yield from part_of_text(c, s, item)
    column = s.last
    if column is None and s.head:
        column = next(iter(c.vocabulary.name_columns(s.head)), None)
    if column is None:
        named = next((x for x in s.show if isinstance(x, Column)), None)
        column = c.vocabulary.columns[named.key] if named is not None else None
    if column is None:
        return
    e = column_of(column)
    if like is not None:
        yield s.but(
            "pattern",
            item.start,
            item.end,
            0.9,
            waiting=s.without(like, neg),
            column=e,
            where=joined(s, Like(e, _pattern(like.argument, item.text), neg is not None)),
            alternatives=False,
        )
    else:
        yield s.but(
            "text not stored",
            item.start,
            item.end,
            0.4,
            waiting=s.without(neg),
            column=e,
            where=joined(s, OneOf(e, (item.text,), neg is not None)),
            alternatives=False,
        )


def part(c: Context, s: State, item: Item) -> Iterator[State]:
    """`kershaw`, `fords`: a word of stored values."""
    parts = item.parts
    assert parts is not None
    column = c.vocabulary.columns.get((parts.table, parts.column))
    if column is None or s.waits("like") is not None:
        return
    e = column_of(column)
    neg = s.waits("neg")
    anchor = s.focus or s.head
    score = parts.score - 0.5 - (0.07 * min(c.graph.distance(anchor, parts.table), 5.0) if anchor else 0.0)
    score += 0.15 * c.named.get(parts.table, 0.0)
    if parts.count == 1:
        condition: Condition = OneOf(e, (parts.examples[0],), neg is not None)
    else:
        pattern = f"{item.text}%" if parts.first >= 0.75 * parts.count else f"%{item.text}%"
        condition = Like(e, pattern, neg is not None)
    yield s.but(
        "part of a value",
        item.start,
        item.end,
        score,
        focus=s.focus,
        last=None,
        waiting=s.without(neg),
        column=e,
        where=joined(s, condition),
        alternatives=False,
    )


def part_of_text(c: Context, s: State, item: Item) -> Iterator[State]:
    """`with love in the title`: a word of a text column."""
    words = c.lattice.words
    at = item.end
    if at < len(words) and words[at] == "in":
        at += 1
        if at < len(words) and words[at] in ("the", "their", "its", "his", "her"):
            at += 1
        for x in c.lattice.at[at] if at < len(words) else ():
            if x.kind == "column":
                for column, score in c.columns(x, s, most=1):
                    if not column.numeric:
                        e = column_of(column)
                        neg = s.waits("neg")
                        yield s.but(
                            "word of a text",
                            item.start,
                            x.end,
                            score + 1.2,
                            column=e,
                            waiting=s.without(neg),
                            where=joined(s, Like(e, f"%{item.text}%", neg is not None)),
                            phase="restrict",
                        )


def _pattern(how: str, text: str) -> str:
    return {"contains": f"%{text}%", "starts": f"{text}%", "ends": f"%{text}"}[how]
