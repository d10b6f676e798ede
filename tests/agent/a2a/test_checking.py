"""SQL without a database: it is compiled, tried again with what was wrong, and never blamed for no rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.a2a.answer import answered, answering
from agent.a2a.task import SqlTask, TaskAnswer, read_task
from agent.config import Settings
from eval.databases import open_database
from eval.schema import Schema
from eval.sql import check, parse, resolve
from tests.agent.a2a.conftest import CUSTOMERS
from tests.samples import sampled
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


def sent(schema: Schema, form: str) -> dict[str, Any]:
    """A structure as an evaluator sends it."""
    tables: dict[str, dict[str, Any]] = {}
    for table in schema.tables:
        keys = {k.columns[0]: f"{k.ref_table}.{k.ref_columns[0]}" for k in table.foreign_keys if not k.inferred}
        columns = [
            {
                "name": c.name,
                "type": c.type,
                "nullable": c.nullable,
                "primary_key": c.primary_key,
                "foreign_key": keys.get(c.name),
                "default": c.default,
            }
            for c in table.columns
        ]
        tables[table.name] = {"name": table.name, "schema": None, "columns": columns, "row_count": table.row_count}
    return {"dialect": "sqlite", "tables": [*tables.values()] if form == "list" else tables}


@pytest.mark.bench
@pytest.mark.parametrize("dialect", sampled(["sqlite", "duckdb", "postgresql"], 2))
async def test_every_task_gets_sql_that_names_what_is_there_or_says_why_not(bench_dir: Path, dialect: str) -> None:
    lines = (bench_dir / "agentx_tasks" / "questions.jsonl").read_text().splitlines()
    databases = {}
    with_sql = 0
    for line in lines:
        given = json.loads(line)
        if given["db"] not in databases:
            with open_database(bench_dir / "agentx_tasks" / "databases" / f"{given['db']}.sqlite") as database:
                databases[given["db"]] = database.schema()
        by_form = {}
        for form in ("list", "by name"):
            schema = sent(databases[given["db"]], form)
            body = {"task_id": given["id"], "question": given["question"], "schema": schema, "dialect": dialect}
            by_form[form] = read_task(json.loads(json.dumps(body)))
        task = by_form["list"]
        assert task == by_form["by name"]
        answer = await answered(task, CONFIG)

        assert answer.task_id == given["id"]
        assert bool(answer.sql) != bool(answer.error)
        assert "inside" not in (answer.error or "")
        if answer.sql:
            with_sql += 1
            parsed = parse(answer.sql, task.dialect)
            assert check(parsed).allowed
            assert resolve(parsed, task.schema).phantoms == ()
    assert len(lines) == 58
    assert with_sql >= 10
