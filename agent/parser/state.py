"""The clauses of a question that have been read so far.

In: what the rules find. Out: the query under construction, and what later words may refer to. A rule takes the
`LinkedQuestion` and the few values that it compares, or a `Context`, and returns a `Finding`, which joins the
reading. A rule that goes on after a finding yields several: each is joined before the rule continues, so that its
`Context` includes them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, TypedDict

from agent.knowledge.values import ValueHit
from agent.knowledge.vocabulary import ColumnWord
from agent.parser.disambiguation import choose_column, choose_value, near_tables
from agent.parser.interpretation import OPPOSITE, Clause, ColumnKey, Condition, Expression, Function, Membership, Query
from agent.parser.question import LinkedQuestion


@dataclass
class Draft:
    """A reading under construction."""

    query: Query = field(default_factory=Query)
    used: set[int] = field(default_factory=set)
    """Token positions that the reading explains."""
    entities: list[str] = field(default_factory=list)
    """Tables that the question names, the topic first."""
    doubts: dict[str, float] = field(default_factory=dict)
    """Named reasons to trust the reading less, counted; the confidence weighs them."""
    notes: list[str] = field(default_factory=list)
    """Sentences that the interpretation should include (the dates assumed for a relative period)."""

    close: dict[object, None] = field(default_factory=dict)
    """Choices with alternatives: the tables, columns and value columns chosen, in order."""

    word: str = ""
    """The item that is being read; empty once all are."""
    doubtful: list[str] = field(default_factory=list)
    """The items that caused doubts."""
    guess: str = ""
    """What the rewording assumed, and what else may be meant."""
    rivals: list[str] = field(default_factory=list)
    """Sentences that name what else a word may mean."""
    assumed: list[tuple[ColumnKey, dt.date]] = field(default_factory=list)
    """Columns restricted by a period relative to today, with its first day."""
    any_year: bool = False
    """Whether a month or quarter was named without a year."""

    def doubt(self, name: str, amount: float = 1.0) -> None:
        self.doubts[name] = self.doubts.get(name, 0.0) + amount
        if self.word:
            self.doubtful.append(self.word)


class Changes(TypedDict, total=False):
    """What a rule changes for the words that follow: attributes of the `Context`, by name."""

    in_head: bool
    head_entity: str | None
    star: bool
    empty_too: bool
    functions: list[Function]
    counting: Literal["", "rows", "distinct"]
    share: bool
    share_at: int
    distinct: bool
    grouping: bool
    group_at: int | None
    negated: bool
    excepting: bool
    both: bool
    or_next: bool
    waiting_direction: str
    last_column: tuple[int, ColumnWord] | None
    value_column: tuple[int, ColumnWord] | None
    verb_measure: Expression | None
    sink: list[Clause]
    denied_column: ColumnKey | None
    ranked_by: bool
    figure_ranked: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found in the words of an item."""

    used: Collection[int] = ()
    """Items that it explains."""
    entities: tuple[str, ...] = ()
    """Tables that it names."""
    shown: tuple[Expression, ...] = ()
    hidden: Collection[Expression] = ()
    """Expressions that are no longer shown."""
    once: bool | None = None
    """Whether equal rows are shown only once."""
    conditions: tuple[Condition, ...] = ()
    """Restrictions that the words around them may deny or join with `or`."""
    alternatives: tuple[Condition, ...] = ()
    """Restrictions that widen the last clause, unless the condition before them was denied."""
    clauses: tuple[Clause, ...] = ()
    """Restrictions that hold as they are."""
    absent: str = ""
    """The table whose rows are said to be missing."""
    groups: tuple[tuple[str, object], ...] = ()
    order: tuple[tuple[Expression, bool], ...] = ()
    reordered: bool = False
    """The order replaces the one read so far."""
    limit: int | None = None
    """The number of rows; 0 lifts the limit."""
    offset: int | None = None
    doubts: tuple[str, ...] = ()
    small_doubts: tuple[str, ...] = ()
    """Doubts that count half."""
    settled: tuple[str, ...] = ()
    """Earlier doubts that no longer hold."""
    rivals: tuple[str, ...] = ()
    """What else a word may mean, in sentences."""
    notes: tuple[str, ...] = ()
    """Sentences that the interpretation should include."""
    assumed: tuple[tuple[ColumnKey, dt.date], ...] = ()
    """Columns restricted by a period relative to today, with its first day."""
    any_year: bool = False
    """A month or quarter was named without a year."""
    unused: Collection[int] = ()
    """Items that it leaves unexplained, although their words have been taken."""
    changes: Changes = field(default_factory=Changes)


Findings = Iterator[Finding]
"""Findings of one rule, each of which is joined before the next one is looked for."""


@dataclass(slots=True)
class Context:
    """The clauses read so far, and the words that wait for the next one."""

    question: LinkedQuestion
    draft: Draft = field(init=False)
    consumed: set[int] = field(default_factory=set)
    """Items that are explained."""
    in_head: bool = True
    """Columns named now are shown."""
    head_entity: str | None = None
    """The first table whose rows are asked for."""
    groups: list[tuple[str, object]] = field(default_factory=list)
    star: bool = False
    """Whole rows are asked for."""
    empty_too: bool = False
    """Groups without any row are kept."""

    # words that apply to the next mention
    functions: list[Function] = field(default_factory=list)
    counting: Literal["", "rows", "distinct"] = ""
    share: bool = False
    share_at: int = 0
    """How many conditions were read before the rows of a share."""
    distinct: bool = False
    grouping: bool = False
    group_at: int | None = None
    """The item that was last read as a group."""
    negated: bool = False
    excepting: bool = False
    """Everything that follows is negated."""
    both: bool = False
    or_next: bool = False
    waiting_direction: str = ""
    """A sort direction before anything is named."""

    # what later words may refer to
    last_column: tuple[int, ColumnWord] | None = None
    value_column: tuple[int, ColumnWord] | None = None
    """The column of the last stored value."""
    verb_measure: Expression | None = None
    """The amount that a verb such as `spent` names."""
    sink: list[Clause] = field(init=False)
    """Where the next condition goes: to the query, or to its absent rows."""
    denied_column: ColumnKey | None = None
    """The column of the value that the absent rows have."""
    ranked_by: bool = False
    """The question says what ranks the rows."""
    figure_ranked: bool = False
    """The rows are ranked by an aggregate, which is shown too."""

    def __post_init__(self) -> None:
        self.draft = Draft(close=dict.fromkeys(self.question.choices))
        for doubt in self.question.doubts:
            self.draft.doubt(doubt)
        self.sink = self.query.where

    @property
    def query(self) -> Query:
        return self.draft.query

    @property
    def entities(self) -> list[str]:
        return self.draft.entities

    @property
    def main_entity(self) -> str:
        """The table whose rows the question is about; empty while unknown."""
        shown = [e.tables[0] for e in self.query.select if e.tables]
        return self.entities[0] if self.entities else (shown[0] if shown else "")

    def use(self, i: int) -> None:
        """Mark an item as explained."""
        item = self.question.items[i]
        self.consumed.add(i)
        self.draft.used.update(range(item.start, item.end))

    def near_tables(self, i: int) -> dict[str, float]:
        """Tables named around item i, with the scores for their nearness."""
        return near_tables(self.question, i, self.entities, self.query.select)

    def column_of(self, i: int, wanted: str = "") -> ColumnWord:
        """The column that a mention most likely means here; `wanted` may be `number`."""
        choice = choose_column(self.question, i, wanted, self.entities, self.query.select)
        if choice.close:
            self.draft.close["column", choice.column.key] = None
        for doubt in choice.doubts:
            self.draft.doubt(doubt)
        return choice.column

    def choose_value(self, hits: tuple[ValueHit, ...], near: dict[str, float], column: ColumnWord | None) -> ValueHit:
        """The column in which a value is meant."""
        hit, close = choose_value(self.question, hits, near, column, self.query.select)
        if close:
            self.draft.close["value", hit.table, hit.column] = None
        return hit

    def join(self, finding: Finding) -> None:
        """What a rule found joins the clauses read so far. While words are read, they are changed nowhere else."""
        for i in finding.used:
            self.use(i)
        for item in (self.question.items[i] for i in finding.unused):
            self.draft.used.difference_update(range(item.start, item.end))
        if self.sink is self.query.where:  # inside `without …` a table only names the absent rows
            self.entities.extend([t for t in dict.fromkeys(finding.entities) if t not in self.entities])
        self.query.select = [*(e for e in self.query.select if e not in finding.hidden), *finding.shown]
        if finding.once is not None:
            self.query.distinct = finding.once
        self.sink.extend(finding.clauses)
        if finding.absent:  # `without orders`: the conditions that follow restrict the absent rows
            where: list[Clause] = []
            self.query.where.append((Membership(self.main_entity, finding.absent, where, True),))
            self.sink = where
            self.negated = False
        self.groups.extend(finding.groups)
        for condition in finding.conditions:
            self._add(condition)
        last = self.sink[-1] if self.sink else ()
        if finding.alternatives and (not finding.conditions or last[-1:] == finding.conditions[-1:]):
            self.sink[-1] = (*last, *finding.alternatives)
        if finding.reordered:
            self.query.order = []
        self.query.order.extend(finding.order)
        if finding.limit is not None:
            self.query.limit = finding.limit or None
        if finding.offset is not None:
            self.query.offset = finding.offset
        for doubt in finding.doubts:
            self.draft.doubt(doubt)
        for doubt in finding.small_doubts:
            self.draft.doubt(doubt, 0.5)
        for doubt in finding.settled:
            self.draft.doubts.pop(doubt, None)
        self.draft.rivals.extend(finding.rivals)
        self.draft.notes.extend(finding.notes)
        self.draft.assumed.extend(finding.assumed)
        self.draft.any_year = self.draft.any_year or finding.any_year
        for name, value in finding.changes.items():
            setattr(self, name, value)

    def _add(self, condition: Condition) -> None:
        """Add a condition; it is joined to the last one by OR if the words say so."""
        if self.denied_column and condition.left.column != self.denied_column:
            self.sink, self.denied_column = self.query.where, None
        if self.negated and not self.denied_column and self._absent_value(condition):
            return
        if self.negated and self.denied_column:
            self.negated = False
        if self.negated:
            condition = replace(condition, operator=OPPOSITE.get(condition.operator, condition.operator))
            self.negated = self.excepting
        if condition.left.function:
            self.query.having.append(condition)
            return
        previous = self.sink[-1] if self.sink else None
        last = previous[-1] if previous else None
        same = isinstance(last, Condition) and last.left == condition.left and last.operator == condition.operator
        equal = condition.operator in ("=", "like") or (isinstance(last, Condition) and _apart(last, condition))
        if previous is not None and (self.or_next or (same and equal and not self.both and not self.query.intersect)):
            self.sink[-1] = (*previous, condition)
            if not self.or_next:
                self.draft.doubt("and_read_as_or")
        elif previous is not None and same and equal and self.both:
            self.sink.append((condition,))
            self.draft.doubt("both_same_column")
        else:
            self.sink.append((condition,))
        self.or_next = False
        self.in_head = self.in_head and not (self.query.select or self.entities)

    def _absent_value(self, condition: Condition) -> bool:
        """`customers who never bought tea`: when the entity has many such rows, none of them may have the value."""
        column, entity = condition.left.column, self.main_entity
        if condition.left.function or condition.operator not in ("=", "like") or condition.against is not None:
            return False
        if column is None or self.sink is not self.query.where or self.counting or entity in ("", column[0]):
            return False
        if not self.question.many_of(entity, column[0]):
            return False
        where: list[Clause] = [(condition,)]
        self.query.where.append((Membership(entity, column[0], where, True),))
        self.sink, self.denied_column = where, column
        self.negated = self.excepting
        self.in_head = self.in_head and not (self.query.select or self.entities)
        return True


def _apart(one: Condition, other: Condition) -> bool:
    """Whether two periods have no day in common: `in 2024 and 2025` is either year."""
    return (
        one.half_open and other.half_open and (one.values[1] <= other.values[0] or other.values[1] <= one.values[0])  # type: ignore[operator]
    )
