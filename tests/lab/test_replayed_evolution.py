"""A reflective evolution that was recorded is played again from the recording, through outages, to the same end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.config import Settings
from agent.models.failures import RetryPolicy
from agent.models.quirks import forget
from experiments.recorded.exchanges import Exchanges, Recorder, load_exchanges
from experiments.recorded.faults import Faults
from experiments.recorded.proxy import RecordingProxy
from experiments.recorded.server import application, running
from tests.lab.conftest import Tuned
from tests.lab.test_reflective import RULE, answering
from tests.openai_server import OpenAIServer

OUTAGES = {"429": 0.15, "cut": 0.1}
"""Failures after which the same request is sent again; others may change what is asked."""


async def test_a_recorded_evolution_ends_the_same_through_outages(
    session: Tuned,
    endpoint: OpenAIServer,
    there: Settings,
    few: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent.models.openai.RetryPolicy", lambda: RetryPolicy(first_wait=0.01))
    endpoint.otherwise = answering()  # with garbage and refusals, which are recorded too
    options = {"model": "", "questions": few, "evolver": "reflective", "rounds": 2, "jobs": 1}
    with (
        Recorder(tmp_path / "run.jsonl") as recorder,
        running(RecordingProxy(endpoint.url, recorder).application()) as url,
    ):
        first = await session("recorded", settings=there.changed(model={"base_url": url}), **options).finish()
    sent = len(endpoint.requests)
    assert first.random.after > first.random.before

    forget()
    replies = Exchanges(load_exchanges(tmp_path / "run.jsonl")[0])
    with running(application(replies, faults=Faults(OUTAGES, retry_after=0.0))) as url:
        second = await session("played", settings=there.changed(model={"base_url": url}), **options).finish()

    assert len(endpoint.requests) == sent
    assert replace(second, kit="") == replace(first, kit="")
    journals = [(tmp_path / name / "journal.jsonl").read_text() for name in ("recorded", "played")]
    assert journals[0] == journals[1]
    assert RULE in (Path(second.kit) / "instructions.md").read_text()
    calls = [(tmp_path / name / "spent.jsonl").read_text().count('"calls": 1') for name in ("recorded", "played")]
    assert calls[1] > calls[0]
