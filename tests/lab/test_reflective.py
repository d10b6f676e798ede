"""A model that writes kits, at an endpoint that also fails, sends garbage and goes away; recorded and played again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent.config import Settings
from agent.knowledge.kit import read_kit
from agent.models.failures import RetryPolicy
from agent.models.quirks import forget
from experiments.recorded.exchanges import Exchanges, Recorder, load_exchanges
from experiments.recorded.faults import Faults
from experiments.recorded.proxy import RecordingProxy
from experiments.recorded.server import application, running
from tests.jsonl import read_lines
from tests.lab.conftest import Tuned
from tests.openai_server import OpenAIServer, Reply, Request, completion, error
from text2sql_lab.measurement import LabStopped

RULE = "A wergild is the pay of a person."
KIT = {"reasoning": "The word wergild is not known.", "instructions": RULE, "glossary": "", "analysis": ""}
HOSTILE = KIT | {"analysis": "print(open('/etc/passwd').read())"}


def answering(*, faults: bool = True) -> Callable[[Request], Reply]:
    """An agent that reads its instructions, and a writer of kits; with faults, each fifth request fails."""
    seen = [0]

    def reply(request: Request) -> Reply:
        seen[0] += 1
        if faults and seen[0] % 11 == 0:
            return error(503, "overloaded", headers={"Retry-After": "0"})
        if faults and seen[0] % 17 == 0:
            return completion("I would rather talk about something else.")
        if "You improve an agent" in request.prompt:
            return completion(HOSTILE if seen[0] % 2 else KIT)
        question = request.prompt.rsplit("<question>", 1)[-1]
        name = question.split("?")[0].split()[-1]
        column = "city" if "city" in question else "pay" if RULE in request.prompt else "id"
        sql = f"SELECT {column} FROM people WHERE name = '{name.removesuffix('</question>')}'"
        return completion({"reasoning": "as asked", "sql": sql})

    return reply


async def test_a_whole_evolution_with_outages_and_garbage(
    reflective: Tuned, endpoint: OpenAIServer, tmp_path: Path
) -> None:
    endpoint.otherwise = answering()

    result = await reflective(rounds=2).finish()

    assert result.random.after > result.random.before
    assert read_kit(result.kit).memory.instructions == RULE
    assert read_kit(result.kit).memory.analysis == ""
    assert "root:" not in "".join(request.prompt for request in endpoint.requests)
    assert sum(line.get("calls", 0) for line in read_lines(tmp_path / "out/spent.jsonl")) == len(endpoint.requests)


async def test_what_is_usable_of_a_kit_is_tried(reflective: Tuned, endpoint: OpenAIServer) -> None:
    agent = answering(faults=False)
    spoilt = completion(HOSTILE | {"glossary": "wergild is the pay"})
    endpoint.otherwise = lambda request: spoilt if "You improve an agent" in request.prompt else agent(request)

    result = await reflective(rounds=1).finish()

    kept = read_kit(result.kit).memory
    assert (kept.instructions, kept.analysis, kept.glossary.entries) == (RULE, "", ())


@pytest.mark.parametrize("calls", [0, 7])
async def test_no_request_goes_beyond_the_budget(calls: int, reflective: Tuned, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = answering()

    result = await reflective(calls=calls, jobs=3).finish()

    assert len(endpoint.requests) == calls
    assert not result.accepted
    assert f"{calls} calls" in result.why


async def test_a_model_that_stays_away_ends_the_command_and_the_next_one_goes_on(
    reflective: Tuned, endpoint: OpenAIServer
) -> None:
    endpoint.otherwise = error(401, "no such key")
    with pytest.raises(LabStopped, match="does not answer"):
        await reflective(rounds=1).finish()
    endpoint.otherwise = answering(faults=False)

    result = await reflective(rounds=1).finish()

    assert result.random.n > 0


async def test_gepa_evolves_the_instructions(reflective: Tuned, endpoint: OpenAIServer) -> None:
    pytest.importorskip("gepa", reason="the extra `lab` is not installed")
    usual = answering(faults=False)

    def reply(request: Request) -> Reply:
        return completion({"text": RULE}) if '{"text": "your reply"}' in request.prompt else usual(request)

    endpoint.otherwise = reply
    result = await reflective(evolver="gepa").finish()

    assert read_kit(result.kit).memory.instructions == RULE
    assert result.random.lost == 0


OUTAGES = {"429": 0.15, "cut": 0.1}
"""Failures after which the same request is sent again; others may change what is asked."""


async def test_a_recorded_evolution_ends_the_same_through_outages(
    reflective: Tuned, endpoint: OpenAIServer, there: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.models.openai.RetryPolicy", lambda: RetryPolicy(first_wait=0.01))
    endpoint.otherwise = answering()  # with garbage and refusals, which are recorded too
    with (
        Recorder(tmp_path / "run.jsonl") as recorder,
        running(RecordingProxy(endpoint.url, recorder).application()) as url,
    ):
        first = await reflective("recorded", settings=there.changed(model={"base_url": url}), rounds=2).finish()
    sent = len(endpoint.requests)
    assert first.random.after > first.random.before

    forget()
    replies = Exchanges(load_exchanges(tmp_path / "run.jsonl")[0])
    with running(application(replies, faults=Faults(OUTAGES, retry_after=0.0))) as url:
        second = await reflective("played", settings=there.changed(model={"base_url": url}), rounds=2).finish()

    assert len(endpoint.requests) == sent
    assert replace(second, kit="") == replace(first, kit="")
    journals = [(tmp_path / name / "journal.jsonl").read_text() for name in ("recorded", "played")]
    assert journals[0] == journals[1]
    assert RULE in (Path(second.kit) / "instructions.md").read_text()
    calls = [(tmp_path / name / "spent.jsonl").read_text().count('"calls": 1') for name in ("recorded", "played")]
    assert calls[1] > calls[0]
