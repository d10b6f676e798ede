"""Verdicts in the store become a learned judge, by the command and in the background of a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.cli.judge_commands import judge
from agent.config import DatabaseSettings, JudgingSettings, StateSettings, settings
from agent.judging.local import local_judge
from agent.runtime.catalogue import close_all
from agent.server.access import Client
from agent.server.judge_refits import JudgeRefits
from agent.server.presets import Presets
from agent.store import Store, open_store
from agent.store.records import FeedbackRecord, RunRecord
from eval.scoring.correctness import coefficients
from eval.tasks.demos import demo_path


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A state with 24 verdicts on one model's answers, all of them wrong; the file to learn into."""
    monkeypatch.setenv("TEXT2SQL_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("TEXT2SQL_LEARNED_JUDGE", str(tmp_path / "judge.json"))
    settings.cache_clear()
    asyncio.run(_verdicts_given())
    yield tmp_path / "judge.json"
    close_all()


async def _verdicts_given() -> None:
    store = await open_store(StateSettings())
    now = datetime.now(UTC)
    for number in range(24):
        run = RunRecord(
            run_id=f"r{number}",
            owner="local",
            preset="shop",
            started=now,
            question=f"How many customers are there in city {number}?",
            sql="SELECT COUNT(*) FROM customers",
            model="m",
        )
        await store.begin_run(run)
        of_run = {"owner": "local", "run_id": run.run_id, "preset": "shop", "question": run.question, "sql": run.sql}
        await store.add_feedback(FeedbackRecord(feedback_id=f"f{number}", verdict="wrong", created=now, **of_run))
    await store.close()


def test_the_command_learns_and_takes_back(judged: Path) -> None:
    result = CliRunner().invoke(judge, ["learn", "shop", "--db", str(demo_path("shop"))])
    assert result.exit_code == 0, result.output
    assert "24 judged answers" in result.output
    learned = local_judge(str(judged), "local", "shop")
    assert learned is not None
    assert learned.priors["m"] < coefficients().prior - 0.2
    assert f"prior: m {learned.priors['m']:.2f}" in CliRunner().invoke(judge, ["show"]).output
    assert "in use again" in CliRunner().invoke(judge, ["forget", "shop"]).output
    assert local_judge(str(judged), "local", "shop") is None


def test_a_server_learns_after_so_many_verdicts(judged: Path) -> None:
    chosen = JudgingSettings.model_validate({"TEXT2SQL_LEARNED_JUDGE": str(judged), "TEXT2SQL_LEARN_EVERY": 2})

    class Shop(Presets):
        def __init__(self) -> None:
            super().__init__(DatabaseSettings(), chosen, sources=None)  # type: ignore[arg-type]

    async def noticed(store: Store) -> None:
        refits = JudgeRefits(chosen, store, Shop())
        refits.noticed(Client("local"), "shop")
        assert not refits.busy
        refits.noticed(Client("local"), "shop")
        await asyncio.gather(*refits.busy)

    async def run() -> None:
        store = await open_store(StateSettings())
        await noticed(store)
        await store.close()

    asyncio.run(run())
    assert local_judge(str(judged), "local", "shop") is not None


def test_a_learned_judge_needs_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEXT2SQL_LEARNED_JUDGE", raising=False)
    settings.cache_clear()
    result = CliRunner().invoke(judge, ["show"])
    assert result.exit_code == 2
