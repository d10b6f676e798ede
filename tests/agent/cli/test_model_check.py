"""`model check` without a file: the servers of this machine, and what a model is good for, with an exit code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from agent.cli import exits
from agent.cli.model_command import model
from agent.config import settings
from agent.models import discovery
from agent.models.discovery import servers_here
from tests.openai_server import OpenAIServer, completion, error

Check = Callable[..., Result]


@pytest.fixture
def check(shop_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Check]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TEXT2SQL_MODEL"):
        monkeypatch.setenv(name, "")
    settings.cache_clear()
    yield lambda *words: CliRunner().invoke(model, ["check", "--db", str(shop_file), *words])
    settings.cache_clear()


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
