"""Flags: columns that only say yes or no, and the condition that one of them says either.

In: a column, the value index. Out: whether it is a flag, and its condition.
"""

from __future__ import annotations

import re

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import Condition, Expression
from eval.language.inflection import lemma
from eval.language.lexicon import word_set

_YES = ("yes", "y", "true", "t", "1")
_NO = ("no", "n", "false", "f", "0")
ANSWERS = 5
"""Values at most of a column of yes and no, with `maybe`, `not sure`, `no answer`."""
_COUNTED = word_set(
    "founded established built released opened created sold played lost won used scored received ordered shipped "
    "produced printed employed visited owned bought born hired joined started ended published issued launched added "
    "earned speed need seed feed bed weed reed breed unemployed acquired updated modified completed passed failed"
)
"""Numbers that end like a participle without being a state."""
_QUANTITIES = word_set("count number quantity amount total level size age rank order position score rating stock value "
                       "capacity grade priority version step sum point length duration price cost fee")  # fmt: skip
_STATES = word_set("discontinued deleted archived disabled enabled blocked active inactive available unavailable "
                   "verified approved published cancelled canceled closed retired hidden locked")  # fmt: skip


def is_flag(values: ValueIndex, column: ColumnWord) -> bool:
    """Whether a column only says yes or no: by its type, by its values, or as an integer named after a state."""
    integer = column.role == "number" and re.search("int|bit|number", column.column.type, re.IGNORECASE)
    if column.role == "flag":
        return True
    if integer and len(column.words) == 1 and is_state(column.words[0]):
        greatest = values.facts(*column.key).greatest
        return not isinstance(greatest, int | float) or greatest <= 1  # `delayed` may be minutes
    if integer and _PLACED.match(column.name):
        facts = values.facts(*column.key)
        return (facts.least, facts.greatest) in ((0, 1), (1, 1), (0, 0))
    known = [v.lower() for v in values.values(*column.key)]
    if column.role == "number" and _counts(column):  # `children`, `quantity`: no more than one so far
        return False
    return 1 <= len(known) <= 3 and all(v in _YES + _NO for v in known)


_PLACED = re.compile(r"(?:in|on|at|can|was|needs|wants)_", re.IGNORECASE)
"""How names of flags begin: `on_display`, `can_swim`."""


def _counts(column: ColumnWord) -> bool:
    """Whether a number is called like a quantity or like several things."""
    last = column.name.lower().rsplit("_", 1)[-1]
    return bool(_QUANTITIES & set(column.words)) or (last.endswith("s") and lemma(last) != last)


def is_state(word: str) -> bool:
    """Whether a word says how something is or what became of it (`returned`, `taxable`), and names no thing."""
    described = word.endswith(_DESCRIBING) and word not in _NO_STATES
    return word in _STATES or described or (word.endswith("ed") and word not in _COUNTED)


_DESCRIBING = ("ous", "able", "ible", "ergic", "organic")
"""Endings of adjectives that name a yes-or-no column (`hazardous`, `taxable`)."""
_NO_STATES = word_set("previous various table cable variable")


def says(values: ValueIndex, column: ColumnWord, wanted: bool) -> Condition | None:
    """The condition that a column says yes, or no; None for a column that cannot say either."""
    left, known = Expression(column=column.key), values.values(*column.key)
    stored = next((v for v in known if v.lower() in (_YES if wanted else _NO)), None)
    if stored is not None:
        return Condition(left, "=", (_typed(column, stored),))
    if is_flag(values, column) and (other := next((v for v in known if v.lower() in _YES + _NO), None)):
        return Condition(left, "<>", (_typed(column, other),))
    if re.search("bool", column.column.type, re.IGNORECASE):
        return Condition(left, "=", (wanted,))
    return Condition(left, "=", (int(wanted),)) if column.numeric and is_flag(values, column) else None


def _typed(column: ColumnWord, stored: str) -> object:
    return int(stored) if column.numeric and stored in "01" else stored
