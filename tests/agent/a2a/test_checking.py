"""SQL without a database: it is compiled, tried again with what was wrong, and never blamed for no rows."""

from __future__ import annotations

from agent.a2a.answer import answered, answering
from agent.a2a.task import SqlTask, TaskAnswer, read_task
from agent.config import Settings
from tests.agent.a2a.conftest import CUSTOMERS
from text2sql.testing import ScriptedModel

CONFIG = Settings(_env_file=None, OPENAI_API_KEY=None, OPENAI_BASE_URL=None)


def asked(dialect: str = "sqlite") -> SqlTask:
    return read_task({"question": "Which customers?", "schema": CUSTOMERS, "dialect": dialect, "task_id": "t"})


async def test_duckdbs_binder_speaks_where_names_and_guard_are_content() -> None:
    model = ScriptedModel("SELECT id, count(*) FROM customers", "SELECT id FROM customers")
    events = [event async for event in answering(asked("duckdb"), CONFIG, model)]

    [retry] = [e for e in events if not isinstance(e, TaskAnswer) and e.event == "retry"]
    assert retry.data.category == "execution_error"
    assert "must appear in the GROUP BY clause" in retry.data.feedback
    assert events[-1] == TaskAnswer(sql="SELECT id FROM customers", reasoning=events[-1].reasoning, task_id="t")
    assert "Shows: id of customers." in (events[-1].reasoning or "")


async def test_a_name_that_is_not_there_is_tried_again_with_the_nearest() -> None:
    for dialect in ("sqlite", "postgres"):
        model = ScriptedModel("SELECT ids FROM customers", "SELECT id FROM customers")

        assert (await answered(asked(dialect), CONFIG, model)).sql == "SELECT id FROM customers"
        assert "nearest: id" in model.sql_requests[1].feedback


async def test_sql_that_never_passes_is_not_handed_out() -> None:
    for bad in ("DROP TABLE customers", "SELECT nothing FROM customers", "SELECT id FROM"):
        answer = await answered(asked(), CONFIG, ScriptedModel(bad))

        assert answer.sql == ""
        assert answer.error
        assert answer.task_id == "t"


async def test_a_schema_that_no_engine_can_hold_is_an_answer() -> None:
    task = read_task({"question": "q", "schema": {"t": [f"c{i}" for i in range(5_000)]}, "dialect": "sqlite"})

    assert "too many columns" in ((await answered(task, CONFIG, ScriptedModel("SELECT 1"))).error or "")


# --- the tasks that evaluators send, with their schemas as a list and by name ---
