"""A model whose server reads less than the prompt: the schema shrinks, the run goes on, the user is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.config import Settings
from agent.events import Event, NodeEvent
from agent.models.openai import OpenAIModel
from agent.runner import run, stream
from eval.databases import open_database
from eval.databases.base import Database
from tests.openai_server import OpenAIServer, Reply, Request, answering, asked_for, completion, error
from tests.writing import sqlite_file

QUESTION = "How many rows are in area_7?"
FITS = 9_000
"""Characters of a prompt that the server takes."""


@pytest.fixture
def wide(tmp_path: Path) -> Iterator[Database]:
    columns = ", ".join(f"figure_{n}_of_area TEXT" for n in range(12))
    tables = "".join(f"CREATE TABLE area_{n} ({columns});" for n in range(19))
    file = sqlite_file(tmp_path / "wide.sqlite", tables)
    with open_database(str(file)) as database:
        yield database


def answer(request: Request) -> Reply:
    length = len(request.prompt)
    if length > FITS:
        words = (
            f"request ({length // 3} tokens) exceeds the available context size ({FITS // 3} tokens), try increasing it"
        )
        return error(400, words, type="exceed_context_size_error", code=400)
    return answering("SELECT COUNT(*) FROM area_7", summary="There are 0 rows.")(request)


async def test_the_schema_shrinks_until_the_prompt_fits_and_the_user_is_told(
    wide: Database, config: Settings, endpoint: OpenAIServer, remote: OpenAIModel
) -> None:
    endpoint.otherwise = answer
    first = await run(QUESTION, database=wide, model=remote, settings=config)
    assert first.rows == [[0]]
    (told,) = [doubt for doubt in first.doubts if "too long" in doubt]
    assert "TEXT2SQL_SCHEMA_TOKENS=" in told
    assert "3,000 fit" in told
    requests = endpoint.requests
    plans = [r.prompt.partition("</schema>")[0] for r in requests if "tasks" in asked_for(r)]
    assert len(plans) > 1
    assert all("area_7" in schema for schema in plans)
    asked = len(requests)
    again = await run(QUESTION, database=wide, model=remote, settings=config)
    assert not any("too long" in doubt for doubt in again.doubts)
    assert not any(len(r.prompt) > FITS for r in requests[asked:])


async def test_a_step_that_went_on_without_its_model_says_so(
    wide: Database, config: Settings, endpoint: OpenAIServer, remote: OpenAIModel
) -> None:
    def copying(request: Request) -> Reply:
        task = {"id": "t1", "description": "...", "depends_on": [], "sql": "SELECT ..."}
        plan = {"plan_type": "single", "confidence": 0.9, "tasks": [task]}
        return completion(json.dumps(plan)) if "tasks" in asked_for(request) else answer(request)

    endpoint.otherwise = copying
    small = config.changed(limits={"schema_tokens": 500})
    events: list[Event] = [e async for e in stream(QUESTION, database=wide, model=remote, settings=small)]
    ended = {e.node: e.problem for e in events if isinstance(e, NodeEvent) and e.status == "done"}
    assert ended["planner"].startswith("no usable plan, so the question is one task: ")
    assert "it is a placeholder" in ended["planner"]
    assert ended["query_generator"] == ended["summarizer"] == ""
