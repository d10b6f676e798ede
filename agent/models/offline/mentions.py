"""Mentions: the stretches of a question and what their words may name, best first.

In: nothing; the linker fills these. Out: `Item`s, which cover a question from left to right.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.knowledge.values import ValueHit
from agent.models.offline.phrases import Keyword
from agent.models.offline.vocabulary import ColumnWord, TableWord


@dataclass(frozen=True, slots=True)
class Mention:
    """Words `start` to `end` (exclusive) and what they may name, best first."""

    start: int
    end: int
    tables: tuple[tuple[TableWord, float], ...] = ()
    columns: tuple[tuple[ColumnWord, float], ...] = ()
    values: tuple[ValueHit, ...] = ()
    text: str = ""
    measure: str = ""
    """The business measure that the words name (`revenue`), or empty."""
    opposite: bool = False
    """The word denies the name (`inactive` for a column `active`)."""

    @property
    def schema_score(self) -> float:
        return max((s for _, s in (*self.tables, *self.columns)), default=0.0)

    @property
    def value_score(self) -> float:
        return max((v.score for v in self.values), default=0.0)


@dataclass(frozen=True, slots=True)
class Item:
    """One stretch of the question."""

    start: int
    end: int
    kind: str
    """`mention`, `keyword`, `number`, `literal` (quoted), `word`, `sign`."""
    lower: str
    mention: Mention | None = None
    keyword: Keyword | None = None
    number: float | int | None = None

    def is_keyword(self, *kinds: str) -> bool:
        return self.keyword is not None and self.keyword.kind in kinds
