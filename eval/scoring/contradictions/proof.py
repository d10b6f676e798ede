"""What a check of this folder says: a conflict between question and query, with its place.

In: nothing. Out: `Proof`, and the type of a check's answer. A check yields nothing where it cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Proof:
    """A conflict: where it is in the query, and a sentence for the user that names both sides."""

    check: str
    place: str
    """The part of the query, as written; empty where something is missing."""
    sentence: str


Proofs = Iterator[Proof]
