"""The clauses of a question that have been read so far.

In: what the rules find. Out: the query under construction, and what later words may refer to. Rules that only decide
take a `LinkedQuestion` and the few values that they compare. Rules that see a `Context` return a `Finding`, which
`assembly` joins to the reading. The others take this state and add their clauses themselves.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypedDict

from agent.knowledge.values import ValueHit
from agent.knowledge.vocabulary import ColumnWord
from agent.parser.disambiguation import choose_column, choose_value, near_tables
from agent.parser.interpretation import Clause, ColumnKey, Condition, Expression, Function, Membership, Query
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
    """What a rule changes for the words that follow: attributes of the `ReadingState`, by name."""

    in_head: bool
    functions: list[Function]
    counting: Literal["", "rows", "distinct"]
    share: bool
    distinct: bool
    grouping: bool
    negated: bool
    excepting: bool
    both: bool
    or_next: bool
    last_column: tuple[int, ColumnWord] | None
    head_entity: str | None
    empty_too: bool
    share_at: int
    verb_measure: Expression | None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found in the words of an item."""

    used: Collection[int] = ()
    """Items that it explains."""
    entities: tuple[str, ...] = ()
    """Tables that it names."""
    shown: tuple[Expression, ...] = ()
    conditions: tuple[Condition, ...] = ()
    """Restrictions that the words around them may deny or join with `or`."""
    clauses: tuple[Clause, ...] = ()
    """Restrictions that hold as they are."""
    absent: str = ""
    """The table whose rows are said to be missing."""
    groups: tuple[tuple[str, object], ...] = ()
    order: tuple[tuple[Expression, bool], ...] = ()
    limit: int | None = None
    offset: int | None = None
    doubts: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    """What else a word may mean, in sentences."""
    changes: Changes = field(default_factory=Changes)


class Context(Protocol):
    """What rules that decide may see of the clauses read so far. They cannot change them; the close choices behind
    `column_of` and `choose_value` are noted in the draft."""

    @property
    def query(self) -> Query: ...
    @property
    def entities(self) -> Sequence[str]: ...
    @property
    def main_entity(self) -> str: ...
    @property
    def head_entity(self) -> str | None: ...
    @property
    def last_column(self) -> tuple[int, ColumnWord] | None: ...
    @property
    def verb_measure(self) -> Expression | None: ...
    @property
    def groups(self) -> Sequence[tuple[str, object]]: ...
    @property
    def sink(self) -> Sequence[Clause]: ...
    @property
    def consumed(self) -> Collection[int]: ...
    @property
    def functions(self) -> Sequence[Function]: ...
    @property
    def counting(self) -> Literal["", "rows", "distinct"]: ...
    @property
    def in_head(self) -> bool: ...
    @property
    def grouping(self) -> bool: ...
    @property
    def negated(self) -> bool: ...
    @property
    def distinct(self) -> bool: ...
    @property
    def share(self) -> bool: ...
    @property
    def empty_too(self) -> bool: ...

    def near_tables(self, i: int) -> dict[str, float]: ...
    def column_of(self, i: int, wanted: str = "") -> ColumnWord: ...
    def choose_value(
        self, hits: tuple[ValueHit, ...], near: dict[str, float], column: ColumnWord | None
    ) -> ValueHit: ...


class ReadingState:
    """The clauses read so far, and the words that wait for the next one."""

    def __init__(self, question: LinkedQuestion) -> None:
        self._question = question
        self.draft = Draft(close=dict.fromkeys(question.choices))
        for doubt in question.doubts:
            self.draft.doubt(doubt)
        self.query, self.entities = self.draft.query, self.draft.entities
        self.consumed: set[int] = set()  # items that are explained
        self.in_head = True  # columns named now are shown
        self.head_entity: str | None = None  # the first table whose rows are asked for
        self.groups: list[tuple[str, object]] = []
        self.star = False  # whole rows are asked for
        self.empty_too = False  # groups without any row are kept

        # words that apply to the next mention
        self.functions: list[Function] = []
        self.counting: Literal["", "rows", "distinct"] = ""
        self.share = False
        self.share_at = 0  # how many conditions were read before the rows of a share
        self.distinct = False
        self.grouping = False
        self.group_at: int | None = None  # the item that was last read as a group
        self.negated = False
        self.excepting = False  # everything that follows is negated
        self.both = False
        self.or_next = False
        self.waiting_direction = ""  # a sort direction before anything is named

        # what later words may refer to
        self.last_column: tuple[int, ColumnWord] | None = None
        self.value_column: tuple[int, ColumnWord] | None = None  # of the last stored value
        self.verb_measure: Expression | None = None  # the amount that a verb such as `spent` names
        self.sink: list[Clause] = self.query.where  # where the next condition goes: to the query, or to its absent rows
        self.denied_column: ColumnKey | None = None  # the column of the value that the absent rows have
        self.ranked_by = False  # the question says what ranks the rows
        self.figure_ranked = False  # the rows are ranked by an aggregate, which is shown too

    @property
    def main_entity(self) -> str:
        """The table whose rows the question is about; empty while unknown."""
        shown = [e.tables[0] for e in self.query.select if e.tables]
        return self.entities[0] if self.entities else (shown[0] if shown else "")

    def use(self, i: int) -> None:
        """Mark an item as explained."""
        item = self._question.items[i]
        self.consumed.add(i)
        self.draft.used.update(range(item.start, item.end))

    def entity(self, table: str) -> None:
        """Remember a table that the question names; inside `without …` it only names the absent rows."""
        if table not in self.entities and self.sink is self.query.where:
            self.entities.append(table)

    def absent(self, table: str) -> None:
        """`without orders`: the conditions that follow restrict the absent rows."""
        where: list[Clause] = []
        self.query.where.append((Membership(self.main_entity, table, where, True),))  # type: ignore[arg-type]
        self.sink = where
        self.negated = False

    def near_tables(self, i: int) -> dict[str, float]:
        """Tables named around item i, with the scores for their nearness."""
        return near_tables(self._question, i, self.entities, self.query.select)

    def column_of(self, i: int, wanted: str = "") -> ColumnWord:
        """The column that a mention most likely means here; `wanted` may be `number`."""
        choice = choose_column(self._question, i, wanted, self.entities, self.query.select)
        if choice.close:
            self.draft.close["column", choice.column.key] = None
        for doubt in choice.doubts:
            self.draft.doubt(doubt)
        return choice.column

    def choose_value(self, hits: tuple[ValueHit, ...], near: dict[str, float], column: ColumnWord | None) -> ValueHit:
        """The column in which a value is meant."""
        hit, close = choose_value(self._question, hits, near, column, self.query.select)
        if close:
            self.draft.close["value", hit.table, hit.column] = None
        return hit
