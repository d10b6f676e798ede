"""Ages from dates of birth, where no column holds an age.

In: an age in a comparison (`under 18`, `between 20 and 30 years old`). Out: the condition on the date of birth.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.date_arithmetic import before, days_later
from agent.parser.interpretation import Condition, Expression, Operator
from agent.parser.question import LinkedQuestion
from eval.language.lexicon import word_set

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
