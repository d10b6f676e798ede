"""What productions share: the word met in a state, and how a partial plan takes one more condition.

A production is a generator over a `Met`: it yields the states that it leads to, and returns whether the word can play
no other part, so that the productions after it are not tried.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace

from agent.knowledge.vocabulary import ColumnWord
from eval.language.lexicon import word_set
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.state import Entity, State, Waiting
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Column,
    Condition,
    Either,
    Expression,
    Function,
    OneOf,
    Operator,
    Order,
    Scalar,
    Select,
    Unit,
    tables_of,
)

Made = Generator[State, None, bool]

SIGNS: dict[str, Operator] = {
    ">": ">", "<": "<", ">=": ">=", "<=": "<=", "=": "=", "<>": "<>", "after": ">", "before": "<", "since": ">=",
}  # fmt: skip
"""The operator of a comparison's words."""
UNITS: dict[str, Unit] = {
    "year": "year", "quarter": "quarter", "month": "month", "week": "week", "day": "day", "weekday": "weekday",
    "hour": "hour",
}  # fmt: skip
_FUNCTIONS: dict[str, Function] = {
    "avg": "avg", "sum": "sum", "min": "min", "max": "max", "median": "median", "count": "count", "desc": "max",
    "asc": "min",
}  # fmt: skip
ADDING = word_set("and , with plus & also including their its his her")
"""Words that put one more thing beside what is shown."""


@dataclass(frozen=True, slots=True)
class Met:
    """A table or column that was met in a state, with what waited for it."""

    c: Context
    s: State
    item: Item
    score: float
    table: str
    common: dict[str, object]
    """What every production of it changes in the state."""
    column: ColumnWord | None = None
    e: Expression | None = None

    def waits(self, kind: str) -> Waiting | None:
        return self.s.waits(kind)

    def new(self, production: str, gain: float = 0.0, **changes: object) -> State:
        """The state after a production."""
        return self.s.but(production, self.item.start, self.item.end, self.score + gain, **{**self.common, **changes})

    @property
    def before(self) -> str:
        return self.c.lattice.words[self.item.start - 1] if self.item.start else ""

    @property
    def after(self) -> str:
        words = self.c.lattice.words
        return words[self.item.end] if self.item.end < len(words) else ""


def offered(met: Met, productions: Iterable[Callable[[Met], Made]]) -> Iterator[State]:
    """The states of each production in turn, until one says that no other applies."""
    for production in productions:
        if (yield from production(met)):
            return


def column_of(column: ColumnWord) -> Column:
    return Column(column.table, column.name)


def named(s: State, table: str) -> tuple[str, ...]:
    """The tables named so far, with one more."""
    return s.tables if table in s.tables else (*s.tables, table)


def home(s: State) -> str:
    """The table whose rows the question is about so far, named or only shown."""
    if s.head:
        return s.head
    for e in s.show:
        if isinstance(e, Entity):
            return e.table
        if tables := tables_of(e):
            return tables[0]
    return ""


def places(s: State, sup: Waiting | None) -> tuple[int, tuple[Waiting | None, ...]]:
    """How many rows a ranking keeps, and the operators that said so."""
    ranked, rows = s.waits("ranked"), s.waits("rows")
    number = (sup.number if sup else None) or (ranked.number if ranked else None) or (rows.number if rows else None)
    return int(number or 1), (ranked, rows)


def joined(s: State, condition: Condition) -> tuple[Condition, ...]:
    """The conditions with one more; after `or`, an alternative to the last one."""
    if not (s.alternatives and s.where):
        return (*s.where, condition)
    last = s.where[-1]
    alike = (last.left, last.negated) if isinstance(last, OneOf) else None
    if isinstance(last, OneOf) and isinstance(condition, OneOf) and alike == (condition.left, condition.negated):
        return (*s.where[:-1], OneOf(last.left, (*last.values, *condition.values), last.negated))
    before = last.of if isinstance(last, Either) else (last,)
    return (*s.where[:-1], Either((*before, condition)))


def restricted(c: Context, s: State, condition: Condition, table: str) -> dict[str, object]:
    """The state's conditions with one more: inside the absent rows said last, where it is about them."""
    if s.absent and c.graph.distance(s.absent[-1].table, table) < c.graph.distance(home(s) or table, table):
        inner = replace(s.absent[-1], where=(*s.absent[-1].where, condition))
        return {"absent": (*s.absent[:-1], inner)}
    return {"where": joined(s, condition)}


def shown_without(s: State, e: Expression) -> tuple[Expression | Entity, ...]:
    """What is shown, without an expression named last that turned out to be part of a condition."""
    if s.show and s.show[-1] == e and (len(s.show) > 1 or s.head):
        return s.show[:-1]
    return s.show


def once(group: tuple[Expression | Entity, ...], key: Expression) -> tuple[Expression | Entity, ...]:
    return group if key in group else (*group, key)


def scalar(made: Aggregate) -> Expression:
    """The value of an aggregate over all rows."""
    return Scalar(Select((made,)))


def ranking(s: State, by: Expression, direction: str) -> tuple[Order, ...]:
    return (*s.order, Order(by, direction == "desc"))


def last_step(s: State) -> str:
    """The last production that was about more than function words."""
    here = s.trail
    while here is not None and here.production in ("function word", "also"):
        here = here.before
    return here.production if here is not None else ""


def function_of(waiting: Waiting) -> Function:
    """The aggregate of a word; `highest` and `lowest` beside others are one too."""
    return _FUNCTIONS[waiting.argument]
