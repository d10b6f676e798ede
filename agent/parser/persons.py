"""People: their tables, by name (`members`) or by what they store (a salary), and their ages, from dates of birth.

In: words and tables; an age in a comparison (`under 18`, `between 20 and 30 years old`). Out: whether they mean people;
the condition on the date of birth, where no column holds an age.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.interpretation import Condition, Expression, Operator
from agent.parser.periods import before, days_later
from agent.parser.question import LinkedQuestion
from agent.parser.word_lists import word_list
from eval.language.lexicon import word_set

_DOES = ("er", "or", "ist", "ian", "ant", "ee", "man", "woman")
"""Endings of words for people, behind two letters at least."""
_IS = (
    "person", "nurse", "coach", "chef", "staff", "crew", "boss", "friend", "student", "client", "patient", "president",
    "parent", "child", "kid", "pupil", "guest", "agent", "host", "rep", "singer", "people", "men", "women", "king",
    "queen", "head", "contact", "user", "lead",
)  # fmt: skip
_NO_PERSON = word_list("no_person")
_PERSONAL = word_set("first last birth birthday gender sex email hire hired salary nationality age phone person")

SERVING = word_list("serving")
"""People who serve others, or sell to them."""
SERVED = word_list("served")
"""People who are served, or buy."""


def personal(vocabulary: Vocabulary, table: str) -> bool:
    """Whether the rows of a table are people."""
    return called_person(vocabulary, table) or any(_PERSONAL & set(c.words) for c in vocabulary.by_table[table])


def called_person(vocabulary: Vocabulary, table: str) -> bool:
    """Whether a table is called like people."""
    return any(person_word(w) for w in vocabulary.tables[table].words)


def person_word(word: str) -> bool:
    """Whether a word (a lemma) ends like one for people."""
    activity = word.endswith("ing") and word != "king"  # a booking
    return word not in _NO_PERSON and not activity and (word[2:].endswith(_DOES) or word.endswith(_IS))


_BORN = word_set("birth birthday birthdate born dob")
_OLDEST = 130


def birth_columns(vocabulary: Vocabulary, *tables: str) -> list[ColumnWord]:
    """The dates of birth, of all tables or of these."""
    return [
        c
        for t in tables or tuple(vocabulary.by_table)
        for c in vocabulary.by_table.get(t, ())
        if c.role == "date" and _BORN & set(c.words)
    ]


def of_age(column: ColumnWord, operator: Operator, years: int | float, today: dt.date) -> Condition | None:
    """The condition on a date of birth that an age gives; the operator compares the dates: `<` is older."""
    if not isinstance(years, int) or not 0 < years < _OLDEST or not _BORN & set(column.words):
        return None
    return Condition(Expression(column=column.key), operator, (before(today, years, "year"),))


def between_ages(column: ColumnWord, low: int, high: int, today: dt.date) -> Condition:
    """The condition on a date of birth that `between 20 and 30 years old` gives, both ends included."""
    first, last = (days_later(before(today, years, "year"), 1) for years in (high + 1, low))
    return Condition(Expression(column=column.key), "between", (first, last), half_open=True)


def born_here(q: LinkedQuestion, tables: Sequence[str]) -> ColumnWord | None:
    """The date of birth of the first of these tables, if it is the only one."""
    columns = birth_columns(q.vocabulary, *tables[:1]) if tables else []
    return columns[0] if len(columns) == 1 else None
