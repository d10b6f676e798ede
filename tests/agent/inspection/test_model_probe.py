"""What a model is good for, found by trying it at an endpoint that the test scripts; also by `model check`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agent.cli import exits
from agent.cli.model_command import model
from agent.config import ModelSettings
from agent.inspection.examples import example_questions
from agent.inspection.model_probe import probed, recommended
from agent.models import discovery
from agent.models.discovery import servers_here
from agent.models.trial import Trial
from agent.parser.engine import read
from eval.databases.base import Database
from eval.scoring.correctness import coefficients
from tests.jsonl import read_lines
from tests.openai_server import OpenAIServer, Reply, Request, completion, error
from tests.pairs import FIXTURES

COUNTING = " ".join(str(n) for n in range(1, 31))


def settings(endpoint: OpenAIServer, name: str = "m") -> ModelSettings:
    return ModelSettings(_env_file=None, OPENAI_BASE_URL=endpoint.url, TEXT2SQL_MODEL=name)


def a_model(
    shop: Database, *, about: str | None = "", judge: bool = True, city: str = "Lyon"
) -> Callable[[Request], Reply]:
    """A model that writes what the engine reads of questions about something, and knows a right query."""
    schema = shop.schema()
    known = {question: read(question, schema).sql for question in example_questions(schema)}

    def reply(request: Request) -> Reply:
        asked = (request.body.get("response_format") or {}).get("json_schema", {}).get("schema", {})
        wanted = asked.get("properties", {})
        question = next((q for q in known if request.prompt.endswith(q)), "")
        if "city" in wanted:
            return completion({"city": city})
        if "score" in wanted:
            counts = "How many" in request.prompt
            fits = ("COUNT" in request.prompt) is counts
            return completion({"reasoning": "I looked at it.", "score": (0.9 if fits else 0.1) if judge else 0.9})
        if question:
            return completion(
                f"```sql\n{known[question] if about is not None and about in question.lower() else WRONG}\n```"
            )
        return completion(COUNTING)

    return reply


WRONG = "SELECT name FROM cities"


@pytest.mark.parametrize("case", read_lines(FIXTURES / "replies/probes.jsonl"), ids=lambda case: case["why"])
async def test_what_a_model_does_tells_the_strategy(
    endpoint: OpenAIServer, shop: Database, case: dict[str, Any]
) -> None:
    endpoint.otherwise = a_model(shop, **case["behaves"])
    probe = await probed(settings(endpoint, case["name"]), shop)
    assert (probe.asked, probe.judges, probe.strategy) == (3, case["judges"], case["strategy"])
    assert probe.right in case["right"]
    assert probe.trial.copies_example is ("city" in case["behaves"])
    assert probe.trial.structured
    assert len(endpoint.requests) <= 13
    assert {r.body["temperature"] for r in endpoint.requests if r.body} == {0.0}  # the same again gives the same


async def test_a_server_that_refuses_schemas_is_no_failure(endpoint: OpenAIServer, shop: Database) -> None:
    model = a_model(shop)

    def reply(request: Request) -> Reply:
        if (request.body.get("response_format") or {}).get("type") == "json_schema":
            return error(400, "response_format json_schema is not supported")
        if "response_format" not in request.body and "city" in request.prompt:
            return completion('{"city": "Lyon"}')
        return model(request)

    endpoint.otherwise = reply
    trial = (await probed(settings(endpoint), shop)).trial
    assert (trial.ok, trial.structured, trial.copies_example) == (True, False, False)


async def test_a_reply_without_end_is_left(endpoint: OpenAIServer, shop: Database) -> None:
    endless = replace(completion("1000000 " * 3_000), pause=0.002)
    endpoint.otherwise = lambda request: endless if "numbers from 1" in request.prompt else error(400, "gone")
    probe = await probed(settings(endpoint), shop)
    assert endpoint.disconnected.wait(30)
    assert len(probe.trial.message) <= 400


@pytest.mark.parametrize(
    ("seconds", "context", "strategy"),
    [(2.0, 32_000, "standard"), (40.0, 32_000, "cascade"), (2.0, 4_096, "cascade"), (None, None, "standard")],
)
def test_slow_or_small_models_get_short_prompts(seconds: float | None, context: int | None, strategy: str) -> None:
    trial = Trial(True, "1 2 3", 1.0, (), "m", context_tokens=context)
    assert recommended(trial, 3, 3, seconds, judges=True)[0] == strategy


@pytest.mark.parametrize("able", [True, False])
async def test_verified_questions_tell_a_writers_prior(
    endpoint: OpenAIServer, shop: Database, tmp_path: Path, *, able: bool
) -> None:
    verified = {
        "How many are there of all that was ordered?": "SELECT COUNT(*) FROM orders",
        "Lands, please": "SELECT DISTINCT country FROM cities",
        "What is not there": "SELECT nothing FROM orders",
    }
    lines = [{"question": question, "sql": sql} for question, sql in verified.items()]
    lines.append({"question": "Of another database", "sql": "SELECT COUNT(*) FROM orders", "db": "other"})
    file = tmp_path / "verified.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    asked = []

    def reply(request: Request) -> Reply:
        question = next((one for one in verified if request.prompt.endswith(one)), None)
        if question is None:
            return completion(COUNTING)
        asked.append(question)
        return completion(f"```sql\n{verified[question] if able else 'SELECT email FROM customers'}\n```")

    endpoint.otherwise = reply
    probe = await probed(settings(endpoint), shop, verified=file)
    assert asked == list(verified)[:2]
    assert (probe.asked, probe.right) == (2, 2 if able else 0)
    assert probe.prior is not None
    assert (probe.prior > coefficients().prior) is able
    assert (await probed(settings(endpoint), shop)).prior is None


Check = Callable[..., Result]


@pytest.fixture
def check(shop_file: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TEXT2SQL_MODEL"):
        monkeypatch.setenv(name, "")

    def run(*words: str) -> Result:
        return CliRunner().invoke(model, ["check", "--db", str(shop_file), *words])

    return run


def test_a_server_that_refuses_is_exit_code_4_and_one_object(check: Check, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = error(401, "Incorrect API key provided.")
    done = check("--base-url", endpoint.url, "--model", "m", "--json")
    assert done.exit_code == exits.MODEL
    told = json.loads(done.output)["probe"]
    assert (told["trial"]["ok"], told["trial"]["name"], told["strategy"]) == (False, "m", "offline")


def test_without_a_setting_the_servers_here_are_found_and_the_first_is_tried(
    check: Check, endpoint: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.models = ({"id": "gemma", "owned_by": "llamacpp"},)
    endpoint.otherwise = completion("1 2 3")
    port = int(endpoint.url.rpartition(":")[2].removesuffix("/v1"))
    monkeypatch.setattr(discovery, "servers_here", lambda: servers_here([port]))
    assert f"found  {endpoint.url}  llama.cpp: gemma" in check().output
    monkeypatch.setattr(discovery, "servers_here", lambda: servers_here([]))
    none = check()
    assert (none.exit_code, "No model server was found" in none.output) == (exits.MODEL, True)
