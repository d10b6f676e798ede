"""The tasks that evaluators send, with their schemas as a list and by name: each gives SQL or an honest error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.a2a.answer import answered
from agent.a2a.task import read_task
from agent.config import Settings
from eval.databases import open_database
from eval.schema import Schema
from eval.sql import check, parse, resolve
from tests.samples import sampled

CONFIG = Settings(_env_file=None, OPENAI_API_KEY=None, OPENAI_BASE_URL=None)


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
