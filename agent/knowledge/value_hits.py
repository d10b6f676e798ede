"""What the value index finds: a stored value, the values that have a word, the values of a run of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.knowledge.value_forms import How

EXAMPLES = 5
"""Values that are shown for those that have a word."""


@dataclass(frozen=True, slots=True)
class ValueHit:
    """A stored value that a phrase may mean."""

    table: str
    column: str
    value: str
    """Exactly as stored."""
    score: float
    """1.0 same text; 0.97 same except for case, accents and signs; 0.9 inflected; less for a part or a misspelling."""
    how: How = "same"


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """Words `start` to `end` (exclusive) of a question, and the values that they may mean."""

    start: int
    end: int
    hits: tuple[ValueHit, ...]


@dataclass(frozen=True, slots=True)
class ValueParts:
    """The values of one column that have a word."""

    table: str
    column: str
    count: int
    """How many of the known values have the word."""
    first: int
    """In how many it is the first word."""
    last: int
    """In how many it is the last word; a value of one word counts as both."""
    examples: tuple[str, ...]
    prefix: bool = False
    """The word is only the beginning of a word of theirs."""

    @property
    def score(self) -> float:
        """0.8 where it is the first or the last word of most of these values, 0.6 elsewhere, 0.45 for a prefix."""
        if self.prefix:
            return 0.45
        return 0.8 if max(self.first, self.last) >= 0.75 * self.count else 0.6


def value_parts(table: str, column: str, word: str, values: Sequence[tuple[str, str]]) -> ValueParts:
    """What values with a word have in common; `values`: (text, form of lemmas)."""
    first = sum(form.partition(" ")[0] == word for _, form in values)
    last = sum(form.rpartition(" ")[2] == word for _, form in values)
    return ValueParts(table, column, len(values), first, last, tuple(text for text, _ in values[:EXAMPLES]))
