"""Through the whole agent: a model that writes the right query is not told to try again."""

from __future__ import annotations

import pytest

from eval.tasks.demos import demo_path
from eval.tasks.library import tasks
from experiments.judge.gold_played import all_played
from experiments.judge.sources import Question
from tests.samples import sampled


@pytest.mark.parametrize("name", ["shop", "enterprise"])
async def test_every_task_of_the_library_ends_in_its_first_attempt(name: str) -> None:
    questions = [
        Question(task.id, demo_path(task.database), task.question, (task.gold.sql,), hint=task.evidence)
        for task in sampled(tasks(name), 8)
    ]
    outcomes = await all_played(questions)
    assert len(outcomes) == len(questions) > 8
    assert [one.question for one in outcomes if one.attempts > 1] == []
    assert sum(one.status == "success" for one in outcomes) >= 0.9 * len(
        outcomes
    )  # some are likely, but not likely enough
