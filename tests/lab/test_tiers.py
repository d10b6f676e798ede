"""Tiers: models with and without a kit on the same questions, in one report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agent.config import settings
from eval.metrics.intervals import wilson_interval
from tests.lab.conftest import NAMES, candidates, means
from tests.lab.test_reflective import RULE, answering
from tests.lab.test_tuning_runs import PATIENCE
from tests.openai_server import OpenAIServer, Reply
from tests.pairs import rows
from text2sql_lab.__main__ import app

Compare = Callable[..., Result]


@pytest.fixture
def kit(tmp_path: Path) -> str:
    """What the word means, for the engine and for a model."""
    files = {**means("wergild", "pay"), "instructions.md": RULE, "EVIDENCE.md": "None yet."}
    return candidates(tmp_path, [files], "firm <b>kit")[0]


@pytest.fixture
def tiers(firm: Path, few: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: OpenAIServer) -> Compare:
    """The command on the firm's questions; a model is there."""
    endpoint.otherwise = answering(faults=False)
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("TEXT2SQL_STRATEGY", "stage-0/no-short")
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path / "cache"))

    def run(*options: str, questions: str = few) -> Result:
        settings.cache_clear()
        words = ["tiers", "--db", str(firm / "firm.sqlite"), "--questions", questions, "--out", str(tmp_path / "tiers")]
        return CliRunner().invoke(app, [*words, *options])

    return run


def written(tmp_path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((tmp_path / "tiers/tiers.json").read_text())["tiers"]
    return found


def test_models_and_the_engine_are_compared_with_and_without_a_kit(
    tiers: Compare, kit: str, tmp_path: Path, endpoint: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEXT2SQL_KIT", kit)  # what the settings say is not how a tier without a kit answers
    prices = ("--price", "small=1/2", "--price", "org/big=10/20")
    done = tiers("--offline", "--model", "small", "--model", "org/big", "--kit", kit, *prices)

    assert done.exit_code == 0, done.output
    found = written(tmp_path)
    assert [(t["model"], bool(t["kit"])) for t in found] == [
        (model, with_kit) for model in ("small", "org/big", "offline") for with_kit in (False, True)
    ]
    half, n = len(NAMES), 2 * len(NAMES)
    for naive, evolved in zip(found[::2], found[1::2], strict=True):
        assert (naive["n"], naive["right"], evolved["right"], naive["gain"]) == (n, half, n, None)
        assert naive["ex_interval"] == [pytest.approx(bound, abs=1e-4) for bound in wilson_interval(half, n)]
        assert (evolved["gain"]["difference"], evolved["gain"]["won"], evolved["gain"]["lost"]) == (0.5, half, 0)
        assert evolved["gain"]["p"] == pytest.approx(2 / 2**half)
    usage = {"small": 100 * 1 + 20 * 2, "org/big": 100 * 10 + 20 * 20}  # one request of 100 and 20 tokens a question
    for one in found[:4]:
        assert (one["calls"], one["tokens"]) == (1, 120)
        assert one["dollars"] == pytest.approx(usage[one["model"]] / 1e6)
        assert 0 < one["first_word_p50"] <= one["seconds_p50"] <= one["seconds_p95"]
    for one in found[4:]:
        assert (one["calls"], one["tokens"], one["dollars"], one["first_word_p50"]) == (0, 0, 0, None)
        assert 0 < one["seconds_p50"] <= one["seconds_p95"]
    assert {r.body["model"] for r in endpoint.requests} == {"small", "org/big"}


def test_the_budget_holds_over_all_starts(tiers: Compare, endpoint: OpenAIServer, tmp_path: Path) -> None:
    done = tiers("--model", "small", "--calls", "10")
    assert (done.exit_code, len(endpoint.requests)) == (4, 10)
    assert "The budget is spent: 10 calls." in done.output

    assert tiers("--model", "small", "--calls", "10").exit_code == 4
    assert len(endpoint.requests) == 10
    assert tiers("--model", "small", "--calls", "28").exit_code == 0
    assert len(endpoint.requests) == written(tmp_path)[0]["n"] == 28


def test_only_questions_that_a_run_held_out_are_asked(
    tiers: Compare, firm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified, run = str(firm / "verified.jsonl"), str(tmp_path / "run")
    words = ["--db", str(firm / "firm.sqlite"), "--questions", verified, "--out", run, "--offline", "--json", "-q"]
    tuned = json.loads(CliRunner().invoke(app, ["tune", *words]).stdout)

    done = tiers("--offline", "--kit", tuned["kit"], "--held-out", run, "--json", "-q", questions=verified)

    naive, evolved = json.loads(done.stdout)["tiers"]
    assert naive["n"] == evolved["n"] == tuned["random"]["n"]
    assert (naive["ex"], evolved["ex"]) == (tuned["random"]["before"], tuned["random"]["after"])
    assert evolved["kit"] == Path(tuned["kit"]).name
    assert evolved["gain"]["p"] == pytest.approx(tuned["random"]["p"], abs=1e-6)
    (Path(run) / "journal.jsonl").write_text("")
    refused = tiers("--offline", "--held-out", run, questions=verified)
    assert (refused.exit_code, "has not read its held-out questions yet" in refused.output) == (2, True)


@pytest.mark.parametrize(("options", "code", "said"), rows("lab/tiers_refused.jsonl"))
def test_what_cannot_be_used_is_told(options: list[str], code: int, said: str, tiers: Compare, tmp_path: Path) -> None:
    done = tiers("--model", "small", *options)

    assert (done.exit_code, said in done.output, "Traceback" in done.output) == (code, True, False), done.output
    assert not (tmp_path / "tiers").exists()


def test_other_questions_and_other_runs_are_refused_and_a_model_that_is_away_ends_the_command(
    tiers: Compare, firm: Path, few: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tune(out: str) -> Result:
        words = ["--db", str(firm / "firm.sqlite"), "--questions", few, "--offline", "-q", "--out", str(tmp_path / out)]
        return CliRunner().invoke(app, ["tune", *words])

    assert tune("tuned").exit_code == 0
    before = (tmp_path / "tuned/run.json").read_bytes()
    refused = tiers("--offline", "--out", str(tmp_path / "tuned"))
    assert (refused.exit_code, "tuned holds a run of tune" in refused.output) == (2, True)
    assert (tmp_path / "tuned/run.json").read_bytes() == before

    assert tiers("--offline").exit_code == 0
    assert tune("tiers").exit_code == 2
    assert tiers("--offline").exit_code == 0
    other = tiers("--offline", questions=str(firm / "verified.jsonl"))
    assert (other.exit_code, "holds a run with other settings" in other.output) == (2, True)

    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("TEXT2SQL_MODEL_SECONDS", "0.5")
    away = tiers("--offline", "--model", "small")
    assert (away.exit_code, "The model does not answer" in away.output) == (4, True)


def test_a_verified_query_that_fails_is_told_and_a_question_whose_time_runs_out_is_wrong(
    tiers: Compare, firm: Path, tmp_path: Path, endpoint: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prices of the settings are those of the configured model."""
    usual = answering(faults=False)
    endpoint.otherwise = lambda request: Reply(delay=PATIENCE) if "Zoe" in request.prompt else usual(request)
    for name, value in (("MODEL", "small"), ("PRICE_INPUT", "1"), ("PRICE_OUTPUT", "2"), ("RUN_SECONDS", "2")):
        monkeypatch.setenv(f"TEXT2SQL_{name}", value)
    lines = [line for line in (firm / "verified.jsonl").read_text().splitlines() if "city of" in line]
    bad = json.loads(lines[0]) | {"id": "<bad>", "gold_sql": "SELECT nothing FROM people"}
    (tmp_path / "some.jsonl").write_text("\n".join([*lines[-2:], json.dumps(bad)]))

    done = tiers("--model", "small", "--json", "-q", questions=str(tmp_path / "some.jsonl"))

    assert json.loads(done.stdout)["gold_failures"] == ["<bad>"]
    (one,) = written(tmp_path)
    assert (one["n"], one["right"]) == (3, 1)
    assert one["dollars"] > 0
    page = (tmp_path / "tiers/report.html").read_text()
    assert "Verified queries that fail, so that no answer is right: &lt;bad&gt;." in page
