"""`python -m eval.green_agent` and `… scenario FILE` as processes."""

from __future__ import annotations

import importlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from eval.assessment.subprocesses import free_port
from eval.green_agent.request import read_request
from eval.green_agent.scenario import ScenarioError, read_scenario
from experiments.reference_participants import serving
from tests.commands import Process, run
from tests.pairs import FIXTURES, rows

ROOT = Path(__file__).resolve().parents[3]
ENV = {**os.environ, "OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "COLUMNS": "160"}


def started(*arguments: str) -> Process:
    words, pipe = ("-m", "eval.green_agent", *arguments), subprocess.PIPE
    return Process(*words, cwd=ROOT, env=ENV, stdout=pipe, stderr=pipe)


def ended(*arguments: str) -> tuple[int, str, str]:
    done = run("-m", "eval.green_agent", *arguments, cwd=ROOT, env=ENV)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def running(place: Path) -> Iterator[str]:
    process = started("--port", "0", "--tasks", str(place / "tasks.jsonl"))
    assert process.stdout is not None
    try:
        assert select.select([process.stdout], [], [], 60)[0]
        match = re.match(r"Evaluator at (http://127\.0\.0\.1:\d+/), card \1\.", process.stdout.readline())
        assert match
        yield match[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode in (0, -signal.SIGTERM)


def test_it_listens_on_loopback_says_so_and_assesses(running: str, golds: dict[str, str]) -> None:
    assert httpx.get(running + "health").json() == {"status": "ok"}
    assert httpx.get(running + ".well-known/agent-card.json").json()["url"] == running
    with serving(lambda task: {"sql": golds[task["task_id"]]}) as stand:
        reply = httpx.post(running + "assess", json={"participants": {"p": stand.url}}, timeout=60).json()
    assert reply["participants"]["p"]["scores"]["ex"] == 1.0


def test_it_refuses_in_words() -> None:
    code, _, err = ended("--card-url", "http://0.0.0.0:9009/", "--port", "0")
    assert (code, "--card-url" in err, "Traceback" in err) == (2, True, False)
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        assert ended("--port", str(port)) == (3, "", f"Cannot listen at 127.0.0.1:{port}: Address already in use.\n")


def scenario(folder: Path, place: Path, ports: tuple[int, int]) -> Path:
    """The evaluator, a participant that is started with it, and one that is not there."""
    text = (FIXTURES / "assessment/scenario.toml").read_text(encoding="utf-8")
    filled = text.format(evaluator=ports[0], counts=ports[1], tasks=place / "tasks.jsonl")
    (folder / "scenario.toml").write_text(filled)
    return folder / "scenario.toml"


def test_a_scenario_starts_its_parts_asks_and_ends_them(tmp_path: Path, place: Path) -> None:
    ports = (free_port(), free_port())
    code, out, err = ended("scenario", str(scenario(tmp_path, place, ports)), "--out", str(tmp_path / "artifact.json"))
    assert code == 0, err
    assert re.search(r"1 +│ counts +│ 0\.\d+ +│ 50\.0 %", out)
    assert re.search(r"2 +│ gone +│ 0\.000 +│ 0\.0 % .* 2 of 2", out)
    assert "4 of 4 answers judged, 1 right." in err
    artifact = json.loads((tmp_path / "artifact.json").read_text())
    assert [r["participant"] for r in artifact["rankings"]] == ["counts", "gone"]
    assert '"correct": 1,' in (tmp_path / "artifact.json").read_text()
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=5)


def test_a_scenario_takes_nobody_elses_server_for_its_own(tmp_path: Path, place: Path) -> None:
    with serving(lambda task: {"sql": "SELECT 1"}) as other:
        file = scenario(tmp_path, place, (free_port(), int(other.url.rpartition(":")[2])))
        code, _, err = ended("scenario", str(file))
    assert code == 2
    assert f"something answers at {other.url} already" in err


def test_the_commands_of_the_scenario_are_installed_with_the_package() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    scenario_file = read_scenario(ROOT / "scenario.toml")
    for part in (scenario_file.green_agent, *scenario_file.participants):
        module, _, function = scripts[part.cmd.split()[0]].partition(":")
        assert callable(getattr(importlib.import_module(module), function))


def manifest(name: str) -> dict[str, Any]:
    """One of the manifests for AgentBeats; JSON5 as far as they use it."""
    text = re.sub(r"^\s*//.*$", "", (ROOT / "agentbeats" / name).read_text(), flags=re.MULTILINE)
    text = re.sub(r"(?<=[{,\s])(\w+):\s", r'"\1": ', text)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text))


@pytest.mark.parametrize(("name", "module"), [("green-agent", "eval.green_agent"), ("purple-agent", "agent.a2a")])
def test_a_manifest_starts_a_server_at_the_port_that_it_declares(name: str, module: str) -> None:
    content = manifest(f"{name}.json5")
    [endpoint] = content["program"]["network"]["endpoints"]
    assert content["program"]["entrypoint"].startswith(f"python -m {module} ")
    assert content["program"]["entrypoint"].endswith(f" --port {endpoint['port']}")
    assert content["provides"]["a2a"]["endpoint"] == endpoint["name"]


def test_the_scenario_for_agentbeats_is_a_request_that_the_evaluator_understands() -> None:
    content = manifest("scenario.json5")
    gateway = content["components"]["gateway"]["config"]
    sharded = {**gateway["assessment_config"], "shard_index": 0, "num_shards": 2, "num_instances": 10}
    sharded.pop("task_count")
    request = read_request({"participants": {"agent": "http://127.0.0.1:1/agent"}, "config": sharded})
    assert (request.config.ignored, request.config.task_count) == ((), 10)
    assert set(content["metadata"]["agentbeats_ids"]) == set(gateway["participant_roles"].values())
    assert set(gateway["participant_roles"].values()) < set(content["components"])
    for part in ("evaluator", "agent"):
        assert (ROOT / "agentbeats" / content["components"][part]["manifest"]).is_file()


GREEN = '[green_agent]\nendpoint = "http://127.0.0.1:9"\n'
ONE = '[[participants]]\nrole = "a"\nendpoint = "http://h"\n'


@pytest.mark.parametrize(("text", "message"), rows("assessment/scenarios_refused.jsonl"))
def test_a_scenario_that_cannot_be_run_says_why(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(ScenarioError, match=re.escape(message)):
        read_scenario(tmp_path / "s.toml")


def test_a_scenario_whose_evaluator_is_not_there_or_refuses_ends_with_its_reason(tmp_path: Path, running: str) -> None:
    (tmp_path / "s.toml").write_text(GREEN.replace(":9", ":1") + ONE)
    assert "cannot be reached" in ended("scenario", str(tmp_path / "s.toml"))[2]
    (tmp_path / "s.toml").write_text(GREEN.replace("http://127.0.0.1:9", running) + ONE + '[config]\ntags = "absent"')
    code, _, err = ended("scenario", str(tmp_path / "s.toml"))
    assert code == 2
    assert "there is no tag 'absent'" in err
