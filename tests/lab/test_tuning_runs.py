"""Whole runs of the lab: what is accepted, what is not, and that a killed run ends as if it had not been."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.config import Settings, settings
from agent.knowledge.kit import read_kit
from agent.models import shared_model
from agent.models.openai import OpenAIModel
from agent.models.prompts import Prompt
from agent.models.protocol import ModelError
from agent.runner import run
from eval.databases import open_database
from eval.errors import InputError
from tests.jsonl import write_lines
from tests.lab.conftest import NAMES, Tuned, verified
from tests.openai_server import OpenAIServer, completion
from tests.settings import overridden
from text2sql_lab.__main__ import app
from text2sql_lab.budget import Budget, BudgetSpent
from text2sql_lab.evolvers import evolver
from text2sql_lab.journal import Journal
from text2sql_lab.proof import needed
from text2sql_lab.questions import read_questions, splits
from text2sql_lab.ratings import bradley_terry, elo
from text2sql_lab.run import too_few

GOOD = {"glossary.yaml": "terms:\n  - term: wergild\n    means: people.pay\n"}
BAD = {"glossary.yaml": "terms:\n  - term: city\n    means: people.pay\n"}


async def test_mined_learns_the_word_and_proves_it(session: Tuned, firm: Path, tmp_path: Path, config: object) -> None:
    opened = session()
    result = await opened.finish()

    assert result.accepted
    assert result.random.n == len(verified()) // 2
    assert result.random.after == 1.0
    assert (result.random.lost, result.random.won) == (0, round(result.random.n * (1 - result.random.before)))
    assert result.random.p < 0.001
    kit = read_kit(result.kit)
    assert {entry.expression for entry in kit.memory.glossary.entries} == {"people.pay"}
    assert "Accepted." in (Path(result.kit) / "EVIDENCE.md").read_text()
    answer = await run(
        "What is the wergild of Zoe?",
        database=open_database(firm / "firm.sqlite"),
        model="offline",
        settings=overridden(config, kit=result.kit),  # type: ignore[arg-type]
    )
    assert answer.rows == [[1_000 + NAMES.index("Zoe")]]


async def test_nothing_is_accepted_where_labels_are_shuffled(session: Tuned, tmp_path: Path) -> None:
    questions = write_lines(tmp_path / "shuffled.jsonl", verified(5)[:18])
    result = await session(questions=str(questions)).finish()

    assert not result.accepted
    assert result.why == "Nothing proved better."


def scripted(tmp_path: Path) -> tuple[str, ...]:
    folders = []
    for number, files in enumerate((BAD, GOOD, {"instructions.md": "Be brief."})):
        folder = tmp_path / f"candidate {number}"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        folders.append(str(folder))
    return tuple(folders)


async def test_more_rounds_read_the_held_out_questions_again_and_p_counts_it(session: Tuned, tmp_path: Path) -> None:
    options = {"evolver": "scripted", "candidates": scripted(tmp_path), "rounds": 2}
    before = await session(**options).finish()
    Journal(tmp_path / "out/journal.jsonl").add({"event": "extended", "rounds": 1})

    after = await session(**options).finish()

    assert after.random.won == before.random.won
    assert after.random.p == pytest.approx(2 * before.random.p, rel=0.01)


async def test_settings_are_searched_with_optuna(session: Tuned) -> None:
    pytest.importorskip("optuna", reason="the extra `lab` is not installed")
    result = await session(evolver="knobs", rounds=2).finish()

    assert result.random.n == len(verified()) // 2


def test_the_splits_share_nothing_and_the_second_no_form(firm: Path) -> None:
    questions = read_questions(firm / "verified.jsonl")
    for split in splits(questions, 3, "sqlite", choosing=True):
        parts = [{q.id for q in part} for part in (split.mine, split.choose, split.held_out)]
        assert sum(map(len, parts)) == len(set.union(*parts)) == len(questions)
    forms = [{"pay" if "pay" in q.golds[0] else "city" for q in part} for part in (split.mine, split.held_out)]
    assert not forms[0] & forms[1]


def test_few_questions_are_said_to_prove_little_and_what_cannot_be_run_is_refused(session: Tuned) -> None:
    assert "30 held-out questions cannot prove" in too_few(30)
    assert str(needed()) in too_few(30)
    assert too_few(100) == ""
    assert 270 < needed(0.05) < 290
    session(seed=1)
    with pytest.raises(InputError, match="another seed"):
        session(seed=2)
    with pytest.raises(InputError, match="there are mined, knobs"):
        evolver("magic")


def test_ratings_follow_from_the_rounds() -> None:
    rounds = [{"a": 3, "b": 2}, {"a": 5, "b": 1, "c": 1}]

    assert elo(rounds)["a"] > 1500 > elo(rounds)["b"]
    assert elo([{"a": 1, "b": 0}]) == {"a": 1516.0, "b": 1484.0}
    strengths = bradley_terry(rounds)
    assert strengths["a"] > strengths["c"] > strengths["b"] - 1
    assert sum(strengths.values()) / 3 == pytest.approx(1500)


def test_a_budget_refuses_the_call_that_would_go_beyond_it(tmp_path: Path) -> None:
    budget = Budget(calls=2, kept=tmp_path / "spent")
    budget.before_call()
    budget.after_call(0.0)
    budget.before_call()
    with pytest.raises(BudgetSpent, match="2 calls"):
        budget.before_call()
    assert len((tmp_path / "spent").read_text().splitlines()) == 3

    dollars = Budget(dollars=1.0)
    dollars.before_call()
    dollars.after_call(0.4)
    dollars.before_call()  # under way, at 0.4 at most
    with pytest.raises(BudgetSpent, match="1 dollars"):
        dollars.before_call()

    now = [0.0]
    hours = Budget(hours=1.0, clock=lambda: now[0])
    hours.before_call()
    now[0] = 3_601.0
    with pytest.raises(BudgetSpent, match="1 hours"):
        hours.before_call()


def test_a_budget_counts_what_was_spent_after_a_kill_cut_a_line_short(tmp_path: Path) -> None:
    kept = tmp_path / "spent"
    killed = Budget(kept=kept)
    killed.before_call()
    killed.after_call(0.25)
    with kept.open("a") as file:
        file.write('{"calls": 1')

    resumed = Budget(kept=kept)
    resumed.before_call()
    resumed.after_call(0.5)

    again = Budget(kept=kept)
    assert (again.spent_calls, again.spent_dollars, again.dearest) == (2, 0.75, 0.5)


async def test_a_request_that_never_left_is_given_back(config: Settings, endpoint: OpenAIServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    budget, prompt = Budget(calls=2), Prompt("Reply in JSON.", "Now.")
    endpoint.otherwise = completion({"said": "yes"})
    away = shared_model(config.changed(model={"base_url": nobody, "seconds": 1.0}).model, "m", budget)
    there = shared_model(config.changed(model={"base_url": endpoint.url}).model, "m", budget)
    assert isinstance(away, OpenAIModel)
    assert isinstance(there, OpenAIModel)

    with pytest.raises(ModelError):
        await away.compose(prompt, {"type": "object"})
    await there.compose(prompt, {"type": "object"})

    assert budget.spent_calls == len(endpoint.requests) == 1
    assert budget.under_way == 0
    await away.close()
    await there.close()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TEXT2SQL_KIT"):
        monkeypatch.setenv(name, "")
    settings.cache_clear()
    return CliRunner()


def test_the_commands(terminal: CliRunner, firm: Path, tmp_path: Path) -> None:
    words = ["tune", "--databases", str(firm), "--questions", str(firm / "verified.jsonl"), "--out", "o"]
    done = terminal.invoke(app, [*words, "--evolver", "mined", "--offline", "--seed", "1", "--json", "-q"])
    reply = json.loads(done.stdout)

    assert reply["accepted"] is True
    assert set(reply["random"]) == set(reply["form_disjoint"]) == {"n", "before", "after", "won", "lost", "p"}
    assert "ended: True" in terminal.invoke(app, ["status", "o"]).stdout
    compared = terminal.invoke(app, ["compare", "o", "base", Path(reply["kit"]).name, "--json"])
    assert json.loads(compared.stdout)["won"] > 0
    summary = Path("o/summary.json").read_bytes()
    Path("o/summary.json").unlink()  # as in a run of an earlier version
    page = Path(terminal.invoke(app, ["report", "o"]).stdout.strip()).read_text()
    assert Path("o/summary.json").read_bytes() == summary
    assert "+ - term: the wergild of" in page
    assert terminal.invoke(app, ["accept", "o"]).exit_code == 0
    assert Path(".env").read_text() == f"TEXT2SQL_KIT={Path(reply['kit']).resolve()}\n"
    assert terminal.invoke(app, ["status", "nowhere"]).exit_code == 2
    more = terminal.invoke(app, ["extend", "o", "--rounds", "1", "--json", "-q"])
    assert json.loads(more.stdout)["random"]["p"] >= reply["random"]["p"]
