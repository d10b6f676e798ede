"""Mentions: spans of a question and the things that their words may name, best first.

In: nothing; the linker fills these. Out: `Item`s, which cover a question from left to right.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.knowledge.values import ValueHit
from agent.knowledge.vocabulary import ColumnWord, TableWord
from agent.parser.interpretation import ColumnKey, Condition, Membership
from agent.parser.phrases import Keyword


@dataclass(frozen=True, slots=True)
class Mention:
    """Words `start` to `end` (exclusive) and the things they may name, best first."""

    start: int
    end: int
    tables: tuple[tuple[TableWord, float], ...] = ()
    columns: tuple[tuple[ColumnWord, float], ...] = ()
    values: tuple[ValueHit, ...] = ()
    text: str = ""
    measure: str = ""
    """The business measure that the words name (`revenue`), or empty."""
    opposite: bool = False
    """The word negates the name (`inactive` for a column `active`)."""
    guessed: bool = False
    """The words may only mean something similar to the name."""

    @property
    def schema_score(self) -> float:
        return max((s for _, s in (*self.tables, *self.columns)), default=0.0)

    @property
    def stored_in(self) -> set[ColumnKey]:
        """The columns that hold the values."""
        return {(v.table, v.column) for v in self.values}

    @property
    def value_score(self) -> float:
        return max((v.score for v in self.values), default=0.0)


@dataclass(frozen=True, slots=True)
class Qualification:
    """A possible meaning of a qualifier such as `pending` in the data."""

    table: str
    """The table whose rows it describes."""
    condition: Condition | Membership
    note: str
    """The mapping in words, for the user."""
    by_synonym: bool = False
    """The data uses another word for the state."""
    also: Condition | None = None
    """A second condition, which must hold too."""
    either: Condition | None = None
    """What may hold in place of the condition."""


@dataclass(frozen=True, slots=True)
class Item:
    """One span of the question."""

    start: int
    end: int
    kind: str
    """`mention`, `keyword`, `number`, `literal` (quoted), `word`, `sign`, `qualifier`."""
    lower: str
    mention: Mention | None = None
    keyword: Keyword | None = None
    number: float | int | None = None
    meanings: tuple[Qualification, ...] = ()
    """The possible meanings of a qualifier."""

    def is_keyword(self, *kinds: str) -> bool:
        return self.keyword is not None and self.keyword.kind in kinds
