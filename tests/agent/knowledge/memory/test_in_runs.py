"""What a team knows in whole runs: in the prompt of a model, at the offline engine, and when a file is bad."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.config import Settings
from agent.events import AnswerEvent
from agent.models.openai import OpenAIModel
from agent.runner import stream
from eval.databases.base import Database
from tests.agent.conftest import Run
from tests.openai_server import OpenAIServer, completion
from tests.settings import overridden

Kept = Callable[[str, str], Path]
SQL = "SELECT COUNT(*) FROM customers WHERE segment = 'A'"
EXAMPLES = json.dumps({"question": "How many customers live in Porto?", "sql": "SELECT COUNT(*) FROM customers"}) + "\n"
GLOSSARY = """
terms:
  - term: big spender
    means: customers.segment = 'A'
"""


@pytest.fixture(autouse=True)
def _writes_sql_and_works_in_steps(endpoint: OpenAIServer) -> None:
    endpoint.otherwise = completion({"reasoning": "counts", "sql": SQL, "thought": "t", "tool": "generate_sql"})


@pytest.fixture
def files(kept: Kept) -> dict[str, str]:
    return {"examples": str(kept("e.jsonl", EXAMPLES)), "glossary": str(kept("g.yaml", GLOSSARY))}


QUESTION = "How many big spenders live in Lyon?"


async def test_a_model_sees_examples_and_terms_before_the_question(
    endpoint: OpenAIServer, remote: OpenAIModel, ask: Run, files: dict[str, str]
) -> None:
    await ask(QUESTION, remote, strategy="few-shot-1/glossary/no-summary", **files)

    (request,) = endpoint.requests
    body = request.prompt
    places = [body.index(text) for text in ("Schema:", "big spender: customers.segment = 'A'", "Porto?", QUESTION)]
    assert places == sorted(places)


async def test_steps_see_them_too(endpoint: OpenAIServer, remote: OpenAIModel, ask: Run, files: dict[str, str]) -> None:
    await ask(QUESTION, remote, strategy="react/no-summary", **files)

    assert "big spender: customers.segment = 'A'" in endpoint.requests[0].prompt
    assert "Porto?" in endpoint.requests[0].prompt


async def test_what_is_confirmed(endpoint: OpenAIServer, remote: OpenAIModel, shop: Database, config: Settings) -> None:
    confirmed = [("How many customers live in Turku?", "SELECT COUNT(*) FROM customers WHERE city = 'Turku'")]
    settings = overridden(config, strategy="few-shot/no-summary")

    events = [e async for e in stream(QUESTION, database=shop, model=remote, settings=settings, confirmed=confirmed)]

    assert any(isinstance(e, AnswerEvent) for e in events)
    assert "city = 'Turku'" in endpoint.requests[0].prompt


async def test_the_offline_engine_takes_the_glossary(ask: Run, files: dict[str, str]) -> None:
    _, knowing = await ask("How many big spenders are there?", "offline", glossary=files["glossary"])
    _, unknowing = await ask("How many big spenders are there?", "offline")

    assert (knowing.status, knowing.rows) == ("success", [[2]])
    assert unknowing.rows != knowing.rows
    assert knowing.question == "How many big spenders are there?"
