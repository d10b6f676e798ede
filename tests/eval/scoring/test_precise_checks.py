"""Windows, absences and joins: each mistake is named, and its repair is not blamed."""

from __future__ import annotations

import pytest

from eval.databases.base import Database
from eval.examination import Query, examine
from eval.scoring.evidence.features import observations
from eval.scoring.evidence.question_reading import Reading
from tests.eval.scoring.conftest import QUESTIONS


def _seen(database: Database, question: str, sql: str) -> set[str]:
    return {o.name for o in observations(Reading(examine(Query(question, sql), database)))}


@pytest.mark.parametrize(("mistake", "wrong", "right"), QUESTIONS["yard: mistakes"])
def test_a_mistake_is_named_and_its_repair_is_not(yard: Database, mistake: str, wrong: str, right: str) -> None:
    name, question = mistake.split(": ", 1)
    assert name in _seen(yard, question, wrong)
    assert name not in _seen(yard, question, right)


@pytest.mark.parametrize(("looks_like", "sql"), QUESTIONS["yard: left alone"])
def test_what_only_looks_like_a_mistake_is_none(yard: Database, looks_like: str, sql: str) -> None:
    name, question = looks_like.split(": ", 1)
    assert name not in _seen(yard, question, sql)
