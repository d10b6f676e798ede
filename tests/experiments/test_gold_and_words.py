"""Through the whole agent, right queries pass at once; and the words of a query say all that it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from eval.metrics.comparison import same_result
from eval.metrics.items import executed
from eval.sql import orders_rows, parse
from eval.tasks.demos import demo_path
from eval.tasks.library import tasks
from experiments.judge.gold_played import all_played
from experiments.judge.sources import Question
from experiments.read_back import read_back
from tests.pairs import FIXTURES
from tests.samples import sampled
from tests.writing import sqlite_file


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


QUERIES = (FIXTURES / "experiments/read_back_queries.sql").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def firm(tmp_path_factory: pytest.TempPathFactory) -> Database:
    script = (FIXTURES / "experiments/read_back.sql").read_text(encoding="utf-8")
    return open_database(sqlite_file(Path(tmp_path_factory.mktemp("firm")) / "firm.sqlite", script))


def same(sql: str, database: Database) -> bool:
    words, again = read_back(sql, database.schema())
    parsed = parse(sql, "sqlite")
    rows, found = executed(parsed, database), executed(parse(again, "sqlite"), database)
    assert rows.ok, rows.error
    assert found.ok, (words, again, found.error)
    return same_result(rows, found, ordered=orders_rows(parsed))


@pytest.mark.parametrize("sql", QUERIES)
def test_what_is_said_gives_the_same_rows(firm: Database, sql: str) -> None:
    assert same(sql, firm)


@pytest.mark.parametrize("name", ["shop", "enterprise"])
def test_what_is_said_of_the_library_gives_the_same_rows(name: str) -> None:
    with open_database(demo_path(name)) as database:
        wrong = [task.id for task in tasks() if task.database == name and not same(task.gold.sql, database)]
    assert wrong == []
