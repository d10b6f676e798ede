"""Strategies: their names, what can be switched, and what a run then does and leaves out."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from agent.config import Settings
from agent.models.openai import OpenAIModel
from agent.strategies import strategy
from tests.agent.conftest import Run
from tests.openai_server import OpenAIServer, Request, answering, asked_for
from tests.pairs import sections

QUESTION = "What are the names of the customers?"


def kind(request: Request) -> str:
    """Which of the agent's prompts it is."""
    if request.body["messages"][0]["content"].startswith("You write one"):
        return "sql"
    return next((name for name in ("tasks", "score", "sql") if name in asked_for(request)), "summary")


def test_a_name_says_how_many_examples() -> None:
    assert [strategy(name).examples for name in ("few-shot", "few-shot-5", "few-shot:0", "zero-shot")] == [3, 5, 0, 0]
    assert strategy("few-shot:5").name == "few-shot-5"


def test_every_part_can_be_switched_off_and_on() -> None:
    bare = strategy("full/no-plan/no-judge/no-examples/no-glossary/no-retries/no-candidates/no-verify")

    assert (bare.plan, bare.judge, bare.examples, bare.glossary) == (False, False, 0, False)
    assert (bare.retries, bare.candidates, bare.verify_rounds) == (0, 1, 0)
    rich = strategy("zero-shot/plan/judge/examples=2/glossary/retries=3/candidates=4/verify=1")
    assert (rich.plan, rich.judge, rich.examples, rich.glossary) == (True, True, 2, True)
    assert (rich.retries, rich.candidates, rich.verify_rounds) == (3, 4, 1)


def test_each_stage_adds_one_thing() -> None:
    stages = [strategy(f"stage-{number}") for number in range(4)]

    assert [s.retries for s in stages] == [0, 1, 1, 1]
    assert [s.candidates for s in stages] == [1, 1, 4, 4]
    assert ["execution_error" in s.retry_on for s in stages[1:]] == [False, False, True]


@pytest.mark.parametrize(("name", "message"), sections("kinds/strategies.txt")["refused"])
def test_what_is_no_strategy_is_refused_with_what_there_is(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        strategy(name)
    with pytest.raises(ValidationError):
        Settings.model_validate({"TEXT2SQL_STRATEGY": name})


def test_the_setting_takes_a_changed_strategy() -> None:
    assert Settings.model_validate({"TEXT2SQL_STRATEGY": "Full/No-Judge"}).judging.strategy == "full/no-judge"


@pytest.mark.parametrize(("name", "parts"), sections("kinds/strategies.txt")["calls"])
async def test_a_strategy_calls_the_model_for_its_parts_alone(
    endpoint: OpenAIServer, remote: OpenAIModel, ask: Run, name: str, parts: str
) -> None:
    endpoint.otherwise = answering("SELECT name FROM customers")

    _, answer = await ask(QUESTION, remote, strategy=name)

    calls, kinds = parts.split(), [kind(request) for request in endpoint.requests]
    assert kinds[:2] == calls[:2]
    assert sorted(kinds[2:]) == sorted(calls[2:])  # the judge and the summary run side by side
    assert len(answer.rows) == 4


@pytest.mark.parametrize(("name", "first", "attempts"), sections("kinds/strategies.txt")["attempts"])
async def test_what_is_tried_again_is_the_strategys(
    endpoint: OpenAIServer, remote: OpenAIModel, ask: Run, name: str, first: str, attempts: str
) -> None:
    endpoint.otherwise = answering(first, "SELECT name FROM customers")

    _, answer = await ask(QUESTION, remote, strategy=name)

    assert len(answer.attempts) == int(attempts)


async def test_plain_prompting_has_no_notes_on_the_data(endpoint: OpenAIServer, remote: OpenAIModel, ask: Run) -> None:
    endpoint.otherwise = answering("SELECT name FROM customers")

    await ask("Which customers live in Lyon?", remote, strategy="zero-shot/no-summary")
    await ask("Which customers live in Lyon?", remote, strategy="stage-0/no-summary")

    plain, with_notes = (request.prompt for request in endpoint.requests)
    assert "'Lyon'" not in plain
    assert "'Lyon'" in with_notes
