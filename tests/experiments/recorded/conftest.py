"""Recordings of a few answers, the agent's own prompts as requests, and a small database to answer from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.models.failures import RetryPolicy
from agent.models.openai import OpenAIModel
from agent.models.prompts import Prompt
from agent.models.protocol import Endpoint
from agent.models.quirks import forget
from agent.models.structured import JUDGE_SCHEMA, REVIEW_SCHEMA, SQL_SCHEMA, plan_schema
from eval.databases import open_database
from eval.databases.base import Database
from tests.jsonl import write_lines
from tests.writing import sqlite_file

Body = dict[str, Any]
COUNT = "How many ships are there?"
HEAVY = "Which ships weigh more than 10 tons?"
QUESTIONS = [
    {"id": "q1", "db": "port", "question": COUNT},
    {"id": "q2", "db": "port", "question": HEAVY},
]
ANSWERS = [
    {"system": "first", "id": "q1", "db": "port", "sql": "SELECT COUNT(*) FROM ships"},
    {"system": "second", "id": "q1", "db": "port", "sql": "SELECT COUNT(*)  FROM ships;"},
    {"system": "third", "id": "q1", "db": "port", "sql": "SELECT COUNT(id) FROM ships"},
    {"system": "first", "id": "q2", "db": "port", "sql": "SELECT name FROM boats WHERE tons > 10"},
    {"system": "second", "id": "q2", "db": "port", "sql": "SELECT name FROM ships WHERE weight > 10"},
    {"system": "third", "id": "q2", "db": "port", "sql": "SELECT name FROM ships WHERE tons > 10"},
]
SCHEMAS = {
    "plan": plan_schema(with_sql=False, in_conversation=False),
    "sql": SQL_SCHEMA,
    "judge": JUDGE_SCHEMA,
    "review": REVIEW_SCHEMA,
}


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "questions.jsonl", QUESTIONS)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "answers.jsonl", ANSWERS)


def body_of(prompt: Prompt, kind: str, mode: str = "json_schema", **more: Any) -> Body:
    """A request as the agent sends it for one of its prompts."""
    body: Body = {
        "model": "m",
        "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
        **more,
    }
    if kind in SCHEMAS and mode == "json_schema":
        schema = {"name": "reply", "strict": True, "schema": SCHEMAS[kind]}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif kind in SCHEMAS and mode == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


SHIPS = """
CREATE TABLE ships (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tons REAL NOT NULL);
INSERT INTO ships (name, tons) VALUES ('Ida', 4.5), ('Bo', 12.0), ('Ra', 30.0);
"""


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Database]:
    with open_database(sqlite_file(tmp_path / "port.sqlite", SHIPS)) as database:
        yield database


ModelAt = Callable[..., OpenAIModel]


@pytest.fixture
async def model_at() -> AsyncIterator[ModelAt]:
    """Makes models for a base URL, with waits short enough for a test; closes them."""
    made: list[OpenAIModel] = []
    forget()

    def make(url: str, **settings: Any) -> OpenAIModel:
        given = {"model": "m", "api_key": None, "base_url": url, "seconds": 60.0, **settings}
        made.append(OpenAIModel(Endpoint(**given), retry=RetryPolicy(first_wait=0.01, longest_wait=0.05)))
        return made[-1]

    yield make
    for model in made:
        await model.close()
    forget()
