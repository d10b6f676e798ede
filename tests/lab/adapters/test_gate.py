"""The gate: the agent answers held-out questions with both models at an endpoint; only proof lets an adapter pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.config import Settings
from eval.databases import open_database
from tests.jsonl import read_lines, write_lines
from tests.lab.adapters.conftest import KINDS, verified
from tests.lab.adapters.test_data import made
from tests.openai_server import OpenAIServer, Reply, Request, completion
from text2sql_lab.adapters.commands import app
from text2sql_lab.adapters.gate import decided, gate, table
from text2sql_lab.questions import read_questions


def answering(right: Callable[[str, int, str], bool]) -> Callable[[Request], Reply]:
    """An endpoint whose models are right where `right(model, examples shown, question)` says so."""
    golds = {q["question"]: q["gold_sql"] for q in verified()}

    def reply(request: Request) -> Reply:
        user = request.body["messages"][1]["content"]
        question = next(q for q in golds if q in user.partition("<question>\n")[2] or user.endswith(q))
        good = right(request.body["model"], user.count("\nSQL: "), question)
        return completion({"reasoning": "", "sql": golds[question] if good else "SELECT 'wrong'"})

    return reply


@pytest.fixture
async def data(firm: Path, tmp_path: Path, config: Settings) -> Path:
    quick = config.changed(judging={"max_retries": 0})
    return await made(firm, tmp_path / "data", quick, how="standard/no-plan/no-judge")


async def judged(firm: Path, data: Path, config: Settings, url: str, **options: Any) -> Any:
    database = open_database(firm / "firm.sqlite")
    given = {"base": "plain", "adapter": "tuned", "identity": "one", **options}
    quick = config.changed(judging={"max_retries": 0})
    return await gate(data, lambda _: database, quick, data.parent / "gate", endpoint=url, **given)


async def test_an_adapter_that_wins_is_used(firm: Path, data: Path, config: Settings, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = answering(lambda model, *_: model == "tuned")

    verdict = await judged(firm, data, config, endpoint.url)

    assert verdict.use
    assert verdict.verdict == "use it"
    n = verdict.pairs[0].n
    assert [(p.k, p.base_k, p.base, p.adapter, p.won, p.lost) for p in verdict.pairs] == [
        (k, b, 0, n, n, 0) for k in (0, 3) for b in (0, 3)
    ]
    asked = len(endpoint.requests)
    assert await judged(firm, data, config, endpoint.url) == verdict
    assert len(endpoint.requests) == asked  # its answers were kept
    assert {r.body["model"] for r in endpoint.requests} == {"plain", "tuned"}


async def test_questions_prove_less_again(firm: Path, data: Path, config: Settings, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = answering(lambda model, *_: model == "tuned")

    first = await judged(firm, data, config, endpoint.url, examples=(0,))
    second = await judged(firm, data, config, endpoint.url, examples=(0,), identity="two")

    assert (first.readings, second.readings) == (1, 2)
    assert second.pairs[0].p == pytest.approx(2 * first.pairs[0].p, abs=2e-6)


@pytest.mark.parametrize("tokens", [8_000, 30])
async def test_the_schema_is_as_short_as_what_was_learned(
    tokens: int, firm: Path, tmp_path: Path, config: Settings, endpoint: OpenAIServer
) -> None:
    brief = config.changed(limits={"schema_tokens": tokens})
    data = await made(firm, tmp_path / "short", brief, how="cascade/no-engine")
    endpoint.otherwise = answering(lambda *_: True)

    await judged(firm, data, config, endpoint.url, examples=(0,))

    learned = read_lines(data / "train.jsonl")[0]["prompt"]
    sent = endpoint.requests[0].body["messages"]
    whole = tokens == 8_000  # else each question has its own part
    assert (learned[0] == sent[0]) == whole
    assert ["\n  Also: " in chat[0]["content"] for chat in (learned, sent)] == [not whole] * 2


def test_beating_the_base_at_one_number_of_examples_is_not_enough() -> None:
    counts = {("base", 0): 0, ("base", 3): 40, ("adapter", 0): 30, ("adapter", 3): 38}

    verdict = decided({place: [True] * right + [False] * (40 - right) for place, right in counts.items()})

    assert (verdict.use, verdict.verdict) == (False, "don't use it")
    assert verdict.why == "It beats the base with as many examples, but not the base at its best."


def test_a_small_gain_proves_nothing_and_the_table_says_how_many_would() -> None:
    verdict = decided({("base", 0): [True] * 20 + [False] * 10, ("adapter", 0): [True] * 23 + [False] * 7})

    assert (verdict.verdict, verdict.use) == ("nothing proved", False)
    assert (verdict.pairs[0].won, verdict.pairs[0].lost, verdict.pairs[0].p) == (3, 0, 0.25)
    assert table(verdict).endswith("About 281 held-out questions prove a gain of 5 points; these are 30.")


async def test_too_few_are_not_asked(firm: Path, tmp_path: Path, config: Settings, endpoint: OpenAIServer) -> None:
    few = write_lines(tmp_path / "few.jsonl", [q for q in verified() if q["id"].startswith("Ada")])
    data = await made(firm, tmp_path / "few", config, questions=read_questions(few, "db"))

    verdict = await judged(firm, data, config, endpoint.url)

    assert (verdict.verdict, verdict.pairs) == ("nothing proved", ())
    assert f"{len(KINDS) // 2} held-out questions cannot prove anything: 7 is the least" in verdict.why
    assert endpoint.requests == []
    assert not (data / "judged.txt").exists()


def test_the_command_tells_by_its_exit_code(
    firm: Path, data: Path, endpoint: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEXT2SQL_MAX_RETRIES", "1")
    adapter = tmp_path / "run/adapter"
    adapter.mkdir(parents=True)
    (adapter / "adapter_model.safetensors").write_bytes(b"weights")
    endpoint.otherwise = answering(lambda model, k, _: model == "tuned")
    given = ["gate", str(tmp_path / "run"), "--data", str(data), "--db", str(firm / "firm.sqlite"), "-q"]
    models = ["--endpoint", endpoint.url, "--base", "plain", "--adapter"]

    good = CliRunner().invoke(app, [*given, *models, "tuned", "--json"])
    same = CliRunner().invoke(app, [*given, *models, "plain"])
    bare = CliRunner().invoke(app, ["gate", str(tmp_path / "nothing"), *given[2:], *models, "tuned"])

    assert good.exit_code == 0, good.output
    assert json.loads(good.stdout)["k"] == 0
    assert json.loads((tmp_path / "run/gate.json").read_text())["use"] is True
    assert (same.exit_code, bare.exit_code) == (2, 2)
    assert "the same name" in same.output
    assert "contains no adapter" in bare.output
    endpoint.otherwise = answering(lambda model, k, _: model != "tuned")
    worse = CliRunner().invoke(app, [*given, "--endpoint", endpoint.url + "/", *models[2:], "tuned"])
    assert worse.exit_code == 1, worse.output
    assert "Don't use it." in worse.stdout
