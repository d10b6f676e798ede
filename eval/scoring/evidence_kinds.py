"""What kind of evidence each observation is, which way it may count, and what it is marked for (`observations.txt`).

In: an observation's name. Out: its `Kind`, and the sign that its fitted weight may have. Kinds:

- `contradiction`: a conflict between question, query, data and schema that a reader can check. It counts on every
  database, and only contradictions may be given to a model as feedback. A name that begins with `PROVED` is one that
  leaves no other reading (`eval.scoring.contradictions`): it makes an answer doubtful, whatever speaks for it.
- `agreement`: other queries for the same question return the same rows, or other ones.
- `confirmation`: a part of the question that has its form in the query.
- `habit`: how queries for such questions are usually written. It counts only where the question and the query resemble
  those that the habits were learned from (`eval.scoring.evidence.features`).
- `context`: how hard the question is. It is a habit without a direction and is never shown.

The sign is fixed so that a sentence shown to the user never says the opposite of what it weighs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

from eval.language.lexicon import lines

Kind = Literal["contradiction", "agreement", "confirmation", "habit", "context"]
Mark = Literal["worded", "valued", "proves", "incomplete", "otherwise", "for"]

PROVED = "proved_"
HABITS: tuple[Kind, ...] = ("habit", "context")
_LISTED = {
    name: (cast("Kind", kind), frozenset(marks))
    for name, kind, *marks in map(str.split, lines(Path(__file__).with_name("observations.txt")))
}


def marked(mark: Mark) -> frozenset[str]:
    """The observations with this mark."""
    return frozenset(name for name, (_, marks) in _LISTED.items() if mark in marks)


def kind_of(name: str) -> Kind:
    """The kind of an observation. One that is not listed is a confirmation if it ends in `_matched`, else a habit."""
    if name.startswith(PROVED):
        return "contradiction"
    listed = _LISTED.get(name)
    return listed[0] if listed else "confirmation" if name.endswith("_matched") else "habit"


_FOR = marked("for")


def sign(name: str) -> int:
    """1 where the observation can only speak for the query, -1 where only against it, 0 where it informs."""
    kind = kind_of(name)
    if kind == "context":
        return 0
    return 1 if kind == "confirmation" or name in _FOR else -1
