"""What words may mean: items of a lattice, each a span of words with candidates of one kind."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.knowledge.value_hits import ValueParts
from agent.knowledge.values import ValueHit
from agent.knowledge.vocabulary import ColumnWord
from agent.parser.periods import Period
from eval.language.tokens import Token

MOST_CANDIDATES = 12
"""How many tables, columns or values of one span are kept."""


@dataclass(slots=True)
class Item:
    """Words `start` to `end` (exclusive) and one kind of meaning; several candidates of that kind, the best first."""

    kind: str
    """table, column, value, number, period, adjective, measure, or the class of a signal."""
    start: int
    end: int
    score: float
    argument: str = ""
    tables: tuple[tuple[str, float], ...] = ()
    columns: tuple[tuple[ColumnWord, float], ...] = ()
    values: tuple[ValueHit, ...] = ()
    number: float | int | None = None
    period: Period | None = None
    concept: tuple[tuple[tuple[str, ...], int], ...] = ()
    """For an adjective: words of columns that it may be about, with the direction in which it grows."""
    text: str = ""
    nouns: frozenset[str] = frozenset()
    """For a verb: what it may link."""
    parts: ValueParts | None = None
    """For a part of stored values: where it stands."""

    @property
    def table(self) -> str:
        return self.tables[0][0]


@dataclass(slots=True)
class Lattice:
    """All items of a question."""

    tokens: tuple[Token, ...]
    at: list[list[Item]]
    content: list[bool]
    """For each token, whether it has a meaning of its own that some item has to account for."""
    words: list[str] = field(default_factory=list)
