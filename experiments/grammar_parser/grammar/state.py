"""A partial plan: what a derivation has built from the words before a position, and what still waits for its object.

States are never changed: a production returns a new one. The trail of productions is the proof of what every word
became.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.knowledge.vocabulary import ColumnWord
from experiments.grammar_parser.plan.algebra import Condition, Expression, Function, Operator, Order


@dataclass(frozen=True, slots=True)
class Entity:
    """Rows of a table that are shown by what names them."""

    table: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """An operator that was said and has not met its object yet."""

    kind: str
    """agg, count, sup, adjective, cmp, neg, group, order, share, distinct, like, value …"""
    argument: str = ""
    start: int = 0
    end: int = 0
    number: float | int | None = None
    concept: tuple[tuple[tuple[str, ...], int], ...] = ()
    expression: Expression | None = None
    nouns: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Absent:
    """Rows without a related row of `table`; the conditions said after it hold for that row."""

    anchor: str
    table: str
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Others:
    """A comparison with other rows: the conditions from `place` on restrict those."""

    left: Expression
    operator: Operator
    function: Function
    of: Expression
    place: int


@dataclass(frozen=True, slots=True)
class First:
    """Only the rows that refer to the first rows of another table in an order."""

    table: str
    order: Order
    limit: int


@dataclass(frozen=True, slots=True)
class Step:
    """One production applied: its name, the words it consumed, and the step before it."""

    production: str
    start: int
    end: int
    before: Step | None = None
    score: float = 0.0
    what: object = None
    """The column or table that the words named."""


_FIELDS = (
    "at",
    "score",
    "show",
    "head",
    "focus",
    "tables",
    "where",
    "group",
    "order",
    "limit",
    "having",
    "distinct",
    "waiting",
    "phase",
    "last",
    "absent",
    "trail",
    "missed",
    "alternatives",
    "share",
    "nested",
    "column",
    "vs",
    "each",
    "sets",
    "computed",
    "offset",
    "inner",
)


class State:
    """What has been read up to token `at`."""

    __slots__ = _FIELDS
    at: int
    score: float
    show: tuple[Expression | Entity, ...]
    head: str
    """The table whose rows the question is about; empty until one is named."""
    focus: str
    """The table named last."""
    tables: tuple[str, ...]
    where: tuple[Condition, ...]
    group: tuple[Expression | Entity, ...]
    order: tuple[Order, ...]
    limit: int | None
    having: tuple[Condition, ...]
    distinct: bool
    waiting: tuple[Waiting, ...]
    phase: str
    """`show` while the things asked for are named, `restrict` after a relative word or preposition."""
    last: ColumnWord | None
    """The column named last, which a value or comparison may be about."""
    absent: tuple[Absent, ...]
    trail: Step | None
    missed: tuple[int, ...]
    """Tokens with a meaning of their own that no production consumed."""
    alternatives: bool
    """An `or` stands between the last condition and the next."""
    share: str
    nested: tuple[First, ...]
    column: Expression | None
    """The expression that the last condition was about."""
    vs: bool
    each: bool
    sets: tuple[tuple[Expression, str], ...]
    """Values that must each hold, besides those of the conditions."""
    computed: str
    """`running`, `growth` or `change` of the figures of groups."""
    offset: int
    inner: Others | None
    """The comparison with other rows that was begun."""

    def but(self, production: str, start: int, end: int, gain: float, **changes: object) -> State:
        """The state after a production that consumed tokens `start` to `end`."""
        new = State.__new__(State)
        for name in _FIELDS:
            setattr(new, name, changes[name] if name in changes else getattr(self, name))
        new.at = end
        new.score = self.score + gain
        what = changes.get("last") or changes.get("column")
        new.trail = Step(production, start, end, self.trail, gain, what)
        return new

    def waits(self, kind: str) -> Waiting | None:
        """The last waiting operator of a kind."""
        for waiting in reversed(self.waiting):
            if waiting.kind == kind:
                return waiting
        return None

    def without(self, *gone: Waiting | None) -> tuple[Waiting, ...]:
        return tuple(w for w in self.waiting if w not in gone)

    def productions(self) -> list[Step]:
        """The steps, first to last."""
        steps, here = [], self.trail
        while here is not None:
            steps.append(here)
            here = here.before
        return steps[::-1]


def initial() -> State:
    """Nothing has been read."""
    new = State.__new__(State)
    for name in _FIELDS:
        setattr(new, name, ())
    new.at, new.score, new.head, new.focus, new.limit, new.distinct = 0, 0.0, "", "", None, False
    new.phase, new.last, new.trail, new.alternatives, new.share = "show", None, None, False, ""
    new.computed, new.offset, new.inner = "", 0, None
    new.column, new.vs, new.each = None, False, False
    return new
