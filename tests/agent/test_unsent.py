"""A question whose SQL is written and checked, but not sent."""

from __future__ import annotations

from typing import Any

import pytest

from agent.runner import run
from eval.databases.base import Database
from eval.databases.types import ExecutionResult
from eval.statement import ReadStatement
from text2sql.testing import ScriptedModel


async def test_the_sql_is_there_and_nothing_was_executed(shop: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    executed: list[str] = []
    execute = type(shop).execute

    def recorded(self: Database, statement: ReadStatement, **options: Any) -> ExecutionResult:
        executed.append(statement.sql)
        return execute(self, statement, **options)

    monkeypatch.setattr(type(shop), "execute", recorded)

    answer = await run(
        "How many cities?", database=shop, model=ScriptedModel("SELECT COUNT(*) FROM cities -- all"), execute=False
    )

    assert answer.sql == "SELECT COUNT(*) FROM cities"
    assert answer.rows == []
    assert [sql for sql in executed if not sql.startswith("EXPLAIN ")] == []


async def test_what_may_not_run_is_still_tried_again(shop: Database) -> None:
    model = ScriptedModel("DROP TABLE cities", "SELECT nam FROM cities", "SELECT name FROM cities")

    answer = await run("Which cities?", database=shop, model=model, execute=False)

    assert [attempt.status for attempt in answer.attempts] == ["failed", "failed", "success"]
    assert answer.sql == "SELECT name FROM cities"
