"""A plan while what a question left unsaid is filled in, and what it may look at for that.

In: a finished state. Out: a `Draft` that the rules of `completion` change step by step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from eval.language.lexicon import word_set
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.partial import column_of
from experiments.grammar_parser.grammar.state import Entity, State
from experiments.grammar_parser.plan.algebra import (
    Aggregate,
    Among,
    Column,
    Compare,
    Condition,
    Expression,
    OneOf,
    Order,
    Related,
    Scalar,
    Select,
    Star,
    aggregates,
    tables_of,
)


@dataclass(frozen=True, slots=True)
class Completed:
    """A plan with the state that it came from."""

    plan: Select
    state: State
    score: float
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan, what is assumed in it so far, and the columns that name its groups."""

    c: Context
    s: State
    head: str
    plan: Select
    named_groups: tuple[Expression, ...] = ()
    score: float = 0.0
    assumed: tuple[str, ...] = ()

    def but(self, **changes: object) -> Draft:
        return replace(self, plan=replace(self.plan, **changes))  # type: ignore[arg-type]

    def assuming(self, name: str, gain: float = 0.0, **changes: object) -> Draft:
        """The draft with one more assumption."""
        return replace(self.but(**changes), assumed=(*self.assumed, name), score=self.score + gain)

    def done(self) -> Completed:
        draft = self
        if self.plan.limit is not None and not self.plan.order and not self.s.group:
            draft = self.assuming("limit without order", -0.4)
        return Completed(draft.plan, self.s, draft.score, draft.assumed)

    @property
    def figures(self) -> tuple[Expression, ...]:
        return tuple(e for e in self.plan.show if aggregates(e))

    @property
    def plain(self) -> tuple[Expression, ...]:
        return tuple(e for e in self.plan.show if not aggregates(e))

    @property
    def ranked_by_figure(self) -> bool:
        return any(aggregates(o.by) for o in self.plan.order)

    def number(self, e: object) -> bool:
        """Whether an expression is a column of numbers that are more than keys."""
        return isinstance(e, Column) and self.c.vocabulary.columns[e.key].role == "number"

    def total(self, e: Column) -> Aggregate:
        """The figure of several rows: their sum, or the average of what is not added up."""
        return Aggregate("sum" if self.c.summed(self.c.vocabulary.columns[e.key]) else "avg", e)

    def summed(self) -> tuple[Order, ...]:
        """The order with figures in place of columns."""
        return tuple(replace(o, by=self.total(o.by)) if isinstance(o.by, Column) else o for o in self.plan.order)

    def kinds(self, order: tuple[Order, ...] | None = None) -> bool:
        """Whether what is shown are kinds of rows (`states`), ranked by a number of the rows."""
        return self.categories() and all(self.number(o.by) for o in (self.plan.order if order is None else order))

    def categories(self) -> bool:
        words = self.c.vocabulary.columns
        return all(isinstance(e, Column) and self.c.category(words[e.key]) for e in self.plain)

    def identified(self) -> bool:
        """Whether the columns shown name or identify rows, so that nobody expects them without repetition."""
        for e in self.plain:
            if isinstance(e, Star):
                return True
            if isinstance(e, Column):
                word = self.c.vocabulary.columns[e.key]
                if word.primary or word in self.c.vocabulary.name_columns(e.table):
                    return True
        return False

    def repeats(self) -> bool:
        """Whether the same row may be shown several times."""
        tables = {t for e in self.plain for t in tables_of(e)}
        needed = list(dict.fromkeys([*tables, *self.plan.tables, *tables_of(self.plan.where)]))
        joins = self.c.graph.plan(needed, frozenset(needed))
        return (joins is not None and any(joins.multiplies(t) for t in tables)) or self.categories()

    def group_of_rows(self) -> tuple[Expression, ...]:
        """What rows are grouped by so that each of those shown has a figure: their key, if they are shown by name."""
        plain = [e for e in self.plain if not isinstance(e, Star)]
        tables = {t for e in self.plain for t in tables_of(e)}
        if tables == {self.head}:
            key = key_of(self.c, self.head)
            named = set(self.plain) & set(names_of(self.c, self.head))
            whole = len(plain) < len(self.plain)
            if key is not None and (named or key in plain or whole or not self.categories()):
                return tuple(dict.fromkeys((key, *plain)))
        elif plain:
            keys = [key_of(self.c, t) for t in tables if set(names_of(self.c, t)) & set(plain)]
            return tuple(dict.fromkeys((*(k for k in keys if k), *plain)))
        return tuple(plain)


def names_of(c: Context, table: str) -> tuple[Expression, ...]:
    """What names a row of the table to a person."""
    named = c.vocabulary.name_columns(table)
    return tuple(column_of(n) for n in named) if named else (Star(table),)


def key_of(c: Context, table: str) -> Column | None:
    key = c.vocabulary.key_column(table)
    return column_of(key) if key is not None else None


def keys_of(c: Context, group: Expression | Entity) -> tuple[Expression, ...]:
    """What rows are grouped by: an expression, or the key and the names of rows."""
    if not isinstance(group, Entity):
        return (group,)
    key, names = key_of(c, group.table), names_of(c, group.table)
    if isinstance(names[0], Star):
        return (key,) if key else ()
    return (key, *names) if key is not None and key not in names else names


def shown_of(c: Context, group: Expression | Entity) -> tuple[Expression, ...]:
    """What shows a group to a person."""
    if not isinstance(group, Entity):
        return (group,)
    names, key = names_of(c, group.table), key_of(c, group.table)
    if not isinstance(names[0], Star):
        return names
    return (key,) if key else ()


_PEOPLE = word_set(
    "person people customer employee player student teacher member user client patient doctor author driver"
)


def person_near(c: Context, head: str) -> str:
    """The nearest table of people; empty where there is none."""
    found = [
        (c.graph.distance(head, name), name)
        for name in c.vocabulary.by_table
        if len(c.vocabulary.name_columns(name)) == 2 or _PEOPLE & set(c.vocabulary.tables[name].words)
    ]
    nearest = min(found, default=(9.0, ""))
    return nearest[1] if nearest[0] < 3 else ""


def conditions(c: Context, s: State, head: str) -> Iterator[tuple[Condition, str]]:
    """The conditions of a state, each with what it assumes: comparisons with other rows, values that must all hold,
    rows that must be absent, the first rows of another table."""
    outer = s.where
    if s.inner is not None:
        outer = s.where[: s.inner.place]
        other = Select((Aggregate(s.inner.function, s.inner.of),), where=s.where[s.inner.place :])
        yield Compare(s.inner.left, s.inner.operator, Scalar(other)), ""
    kind = next((e for e in s.show if isinstance(e, Column)), None)
    for condition in outer:
        further = [v for e, v in s.sets if isinstance(condition, OneOf) and e == condition.left]
        if not further or not isinstance(condition, OneOf):
            yield condition, ""
            continue
        values = tuple(dict.fromkeys((*condition.values, *further)))
        table = tables_of(condition)[0]
        if table != head and len(values) > 1:
            for value in values:
                yield Related(head, table, (OneOf(condition.left, (value,)),)), "all of the values"
        elif table == head and len(values) > 1 and kind is not None and kind != condition.left:
            for value in values:
                among = Among(kind, Select((kind,), (head,), (OneOf(condition.left, (value,)),)))
                yield among, "kinds with all of the values"
        else:
            yield OneOf(condition.left, values), ""
    for absent in s.absent:
        yield Related(absent.anchor, absent.table, absent.where, negated=True), ""
    for first in s.nested:
        if (key := key_of(c, first.table)) is not None:
            yield Among(key, Select((key,), (first.table,), order=(first.order,), limit=first.limit)), ""
