"""A scenario: an evaluator and participants, started together, one assessment, and the ranking.

In: a `scenario.toml` with `[green_agent] endpoint, cmd`, `[[participants]] role, endpoint, cmd` and `[config]`. Out:
the artifact, and progress messages. A part without `cmd` must already be running.
"""

from __future__ import annotations

import contextlib
import json
import tomllib
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eval.assessment import ParticipantUnusable, participant
from eval.assessment.subprocesses import spawned
from eval.errors import InputError
from eval.green_agent.request import RequestUnusable, read_request

_Text = Annotated[str, Field(min_length=1, max_length=2_000)]


class ScenarioError(InputError):
    """The scenario cannot be read or run; the message says why."""


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    endpoint: _Text
    cmd: str = ""


class Player(Part):
    role: _Text


class Scenario(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    green_agent: Part
    participants: tuple[Player, ...] = Field(min_length=1)
    config: dict[str, Any] = {}

    @property
    def request(self) -> dict[str, Any]:
        return {"participants": {p.role: p.endpoint for p in self.participants}, "config": self.config}


def read_scenario(path: Path) -> Scenario:
    """The scenario in a file. Raises ScenarioError."""
    try:
        scenario = Scenario.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        if len({p.role for p in scenario.participants}) < len(scenario.participants):
            raise ScenarioError(f"{path}: two participants have the same role")
        participant("green_agent", scenario.green_agent.endpoint)
        read_request(scenario.request)
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path} is not TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ScenarioError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (RequestUnusable, ParticipantUnusable) as error:
        raise ScenarioError(f"{path}: {error}") from None
    return scenario


def run_scenario(scenario: Scenario, report: Callable[[str], None]) -> dict[str, Any]:
    """Start the parts that have a command, ask the evaluator over A2A, and return its artifact. `report` receives
    progress messages. Raises ScenarioError, SpawnError."""
    with contextlib.ExitStack() as stack:
        for part in (*scenario.participants, scenario.green_agent):
            if part.cmd:
                report(f"Starting {part.cmd}")
                stack.enter_context(spawned(part.cmd, url=part.endpoint.rstrip("/")))
        return _assessed(scenario, report)


def _assessed(scenario: Scenario, report: Callable[[str], None]) -> dict[str, Any]:
    part = {"kind": "text", "text": json.dumps(scenario.request)}
    message = {"kind": "message", "role": "user", "messageId": uuid.uuid4().hex, "parts": [part]}
    body = {"jsonrpc": "2.0", "id": "1", "method": "message/stream", "params": {"message": message}}
    url, last = scenario.green_agent.endpoint.rstrip("/") + "/", ""
    try:
        with (
            httpx.Client(trust_env=False, timeout=httpx.Timeout(None, connect=10.0)) as http,
            http.stream("POST", url, json=body, headers={"accept": "text/event-stream"}) as response,
        ):
            for event in _events(response):
                if event.get("kind") == "artifact-update":
                    parts = event.get("artifact", {}).get("parts", [])
                    data = next((p["data"] for p in parts if isinstance(p.get("data"), dict)), None)
                    if data is None:
                        raise ScenarioError("the evaluator's artifact contains no data")
                    return dict(_whole_numbers(data))
                told = ((event.get("status") or {}).get("message") or {}).get("parts", [])
                if text := " ".join(p["text"] for p in told if isinstance(p.get("text"), str)):
                    last = text
                    report(text)
    except httpx.HTTPError as error:
        raise ScenarioError(f"the evaluator at {url} cannot be reached: {error or type(error).__name__}") from None
    raise ScenarioError(f"the evaluator gave no artifact: {last or 'it printed nothing'}")


def _events(response: httpx.Response) -> Iterator[Mapping[str, Any]]:
    """The results in a stream of JSON-RPC responses. Raises ScenarioError for a JSON-RPC error."""
    for line in response.iter_lines():
        text = line.removeprefix("data:").strip()
        if not text.startswith("{"):
            continue
        try:
            event = json.loads(text)
        except ValueError:
            raise ScenarioError("the evaluator's reply cannot be read as JSON") from None
        if problem := event.get("error"):
            raise ScenarioError(f"the evaluator refuses: {str(problem)[:500]}")
        if isinstance(event.get("result"), dict):
            yield event["result"]


def _whole_numbers(value: Any) -> Any:
    """Restore whole numbers: A2A data parts have only floats, so 20 arrives as 20.0."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole_numbers(inner) for key, inner in value.items()}
    return [_whole_numbers(inner) for inner in value] if isinstance(value, list) else value
