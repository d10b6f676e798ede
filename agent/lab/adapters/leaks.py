"""Finds training questions that a test set already holds, by their words or by the form of their query.

In: questions with verified queries. Out: for each leaking question, why. A form is the query in one spelling, read on
its tree: constants masked, aliases and needless qualifiers dropped. A leak makes every later figure worthless, so the
callers treat it as an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

from agent.knowledge.memory.similarity import plain_question, sql_template
from agent.lab.questions import Question
from eval.metrics.exact_match import canonical
from eval.schema import Dialect

__all__ = ["Leak", "form", "leaks"]

Leak = Literal["same question", "same form"]


@lru_cache(maxsize=16_384)
def form(sql: str, dialect: Dialect) -> str:
    """The form of a query; its text where it cannot be parsed."""
    return sql_template(canonical(sql, dialect) or sql, dialect)


def leaks(training: Iterable[Question], tests: Sequence[Question], dialect: Dialect) -> dict[str, Leak]:
    """Why each training question must not be learned from, by id; questions that may are left out. Databases are not
    told apart: the same words or the same form are a leak wherever they come from."""
    asked = {plain_question(test.text) for test in tests}
    forms = {form(gold, dialect) for test in tests for gold in test.golds}
    by_id: dict[str, Leak] = {}
    for one in training:
        if plain_question(one.text) in asked:
            by_id[one.id] = "same question"
        elif any(form(gold, dialect) in forms for gold in one.golds):
            by_id[one.id] = "same form"
    return by_id
