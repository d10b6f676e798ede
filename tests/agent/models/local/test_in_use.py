"""A fetched model answers at every door without further settings; the engine stays where it is asked for by name."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from agent.config import Settings
from agent.models.discovery import ModelServer
from tests.agent.models.local.conftest import TINY, WEIGHTS, Hub, alive, environment, starts
from tests.agent.server.running import BEN, running, settings_for
from tests.waiting import becomes


def configured(tmp_path: Path, program: Path, **more: Any) -> dict[str, Any]:
    cache = str(tmp_path / "cache")
    return {"TEXT2SQL_LOCAL_MODEL": "", "TEXT2SQL_CACHE_DIR": cache, "TEXT2SQL_LLAMA_SERVER": str(program), **more}


def test_which_model_answers(
    fetched: Path, llama_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answering(**more: Any) -> str:
        return Settings(_env_file=None, **configured(tmp_path, llama_server, **more)).model.answering

    assert answering() == "tiny"
    assert answering(TEXT2SQL_LOCAL_MODEL="off") == "offline"
    assert answering(TEXT2SQL_MODEL="offline") == "offline"
    assert answering(OPENAI_API_KEY="sk-x") == "gpt-5"
    assert answering(OPENAI_BASE_URL="http://gpu/v1") == ""
    assert answering(TEXT2SQL_LOCAL_MODEL="other") == "other"  # its first call says that it is not there
    assert answering(TEXT2SQL_LOCAL_MODEL=str(tmp_path / "own.gguf")) == "own"
    fetched.with_name("newer.gguf").write_bytes(b"")
    assert answering() == "newer"
    assert answering(TEXT2SQL_MODEL="tiny") == "tiny"
    monkeypatch.setenv("PATH", "")
    assert answering(TEXT2SQL_LLAMA_SERVER="") == "offline"  # nothing could serve it
    fetched.unlink()
    fetched.with_name("newer.gguf").unlink()
    assert answering() == "offline"


def test_the_command_line_asks_it_and_says_so(fetched: Path, llama_server: Path, tmp_path: Path) -> None:
    def asked(*words: str) -> tuple[dict[str, Any], str]:
        done = subprocess.run(
            [sys.executable, "-m", "agent.main", "--json", *words, "How many customers are there?"],
            env=environment(tmp_path, llama_server),
            capture_output=True,
            text=True,
            check=False,
        )
        return json.loads(done.stdout), done.stderr

    engine, _ = asked("--model", "offline")
    assert (engine["model"], starts(llama_server)) == ("offline", [])
    answer, told = asked("--strategy", "zero-shot/no-summary")  # the engine alone would be sure enough
    assert (answer["model"], answer["status"]) == ("tiny", "success"), answer
    assert answer["tokens"]["calls"] == 1
    assert answer["tokens"]["cost_usd"] == 0
    assert "The model tiny on this machine answers" in told
    (start,) = starts(llama_server)
    assert becomes(lambda: not alive(start["pid"]), seconds=8)


def test_a_server_gets_tries_and_uses_it_while_it_runs(hub: Hub, llama_server: Path, tmp_path: Path) -> None:
    hub.waits = threading.Event()
    config = settings_for(tmp_path, **configured(tmp_path, llama_server))
    with running(config) as server, server.client() as client:
        assert client.get("/health").json()["model"] == "offline"
        (offered,) = client.get("/model/local").json()
        assert [offered[name] for name in ("name", "size", "state", "needs")] == ["tiny", len(WEIGHTS), "absent", ""]
        assert client.post("/model/local", json={"name": "other"}).status_code == 404
        (begun,) = client.post("/model/local", json={"name": "tiny"}).json()
        assert begun["state"] == "fetching"
        client.delete("/model/local")
        hub.waits.set()
        assert becomes(lambda: client.get("/model/local").json()[0]["state"] == "absent")
        (stopped,) = client.get("/model/local").json()
        assert "The download was stopped" in stopped["problem"]
        assert 0 < stopped["bytes"] < TINY.size
        client.post("/model/local", json={"name": "tiny"})
        assert becomes(lambda: client.get("/model/local").json()[0]["state"] == "fetched")

        assert client.get("/health").json()["model"] == "tiny"
        setting = client.get("/model").json()
        assert (setting["offline"], setting["strategy"], starts(llama_server)) == (False, "cascade", [])
        tried = client.post("/model/test", json={"base_url": None, "name": "tiny", "api_key": ""}).json()
        assert (tried["ok"], tried["server"], tried["name"]) == (True, "llama.cpp", "tiny")
        kept = client.put("/model", json={"base_url": None, "name": "tiny", "strategy": "cascade"})
        assert kept.json()["name"] == "tiny"
        answers = [server.ask("How many customers are there?").of("answer")[0] for _ in range(2)]
        assert [answer["model"] for answer in answers] == ["tiny", "tiny"]
        assert server.ask("How many customers are there?", model="offline").of("answer")[0]["model"] == "offline"
        assert len(starts(llama_server)) == 1
        client.put("/model", json={"base_url": None, "name": "offline"})
        assert server.ask("How many customers are there?").of("answer")[0]["model"] == "offline"


def test_only_those_who_choose_the_model_get_one(hub: Hub, llama_server: Path, tmp_path: Path) -> None:
    config = settings_for(tmp_path, **configured(tmp_path, llama_server, TEXT2SQL_TOKENS=f"ben={BEN}"))
    with running(config) as server, server.client() as client:
        client.headers["Authorization"] = f"Bearer {BEN}"
        assert client.get("/model/local").status_code == 403
        assert client.post("/model/local", json={"name": "tiny"}).status_code == 403
        assert client.delete("/model/local").status_code == 403
    assert hub.asked == []


def test_the_command_asks_before_it_downloads_and_removes_what_it_got(
    hub: Hub, llama_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from agent.cli.model_command import model
    from agent.config import settings
    from agent.models import discovery

    async def here() -> tuple[ModelServer, ...]:
        return (ModelServer("http://127.0.0.1:11434/v1", "Ollama", ("qwen3",)),)

    monkeypatch.setattr(discovery, "servers_here", here)
    for name, value in configured(tmp_path, llama_server).items():
        monkeypatch.setenv(name, value)
    settings.cache_clear()
    refused = CliRunner().invoke(model, ["get"])
    assert refused.exit_code == 2
    assert "Ollama runs here already, with qwen3: OPENAI_BASE_URL=http://127.0.0.1:11434/v1 uses it" in refused.output
    assert "Tiny (1.0 MB, Apache-2.0)" in refused.output
    assert hub.asked == []
    unknown = CliRunner().invoke(model, ["get", "large"])
    assert (unknown.exit_code, "there are tiny" in unknown.output) == (2, True)
    assert CliRunner().invoke(model, ["get", "tiny", "--yes"]).exit_code == 0
    assert settings().model.answering == "tiny"
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("TEXT2SQL_LLAMA_SERVER", "")
    settings.cache_clear()
    missing = CliRunner().invoke(model, ["get", "tiny"])
    assert (missing.exit_code, "install llama.cpp" in missing.output) == (0, True)
    removed = CliRunner().invoke(model, ["remove"])
    assert removed.output == "tiny was removed: 1.0 MB.\n"
    assert settings().model.answering == "offline"
