"""Whole runs of the lab: what is accepted, what is not, and that a killed run ends as if it had not been; an
interrupt in a terminal, progress while it works, and the kit that it made."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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
from tests import commands
from tests.jsonl import write_lines
from tests.lab.conftest import NAMES, Tuned, candidates, means, verified
from tests.lab.test_reflective import answering
from tests.openai_server import OpenAIServer, Reply, Request, completion
from tests.settings import overridden
from text2sql_lab.__main__ import app
from text2sql_lab.budget import Budget, BudgetSpent
from text2sql_lab.evolvers import evolver
from text2sql_lab.journal import Journal
from text2sql_lab.proof import needed
from text2sql_lab.questions import read_questions, splits
from text2sql_lab.ratings import bradley_terry, elo
from text2sql_lab.run import too_few


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


async def test_more_rounds_read_the_held_out_questions_again_and_p_counts_it(session: Tuned, tmp_path: Path) -> None:
    kits = [means("city", "pay"), means("wergild", "pay"), {"instructions.md": "Be brief."}]
    options = {"evolver": "scripted", "candidates": candidates(tmp_path, kits), "rounds": 2}
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


PATIENCE = 60


def command(firm: Path, out: str, *options: str) -> list[str]:
    words = ["-m", "agent.lab", "tune", "--db", str(firm / "firm.sqlite"), "--out", out]
    return [*words, "--questions", str(firm / "verified.jsonl"), "--jobs", "1", *options]


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    places = {"TEXT2SQL_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(Path(__file__).parents[2])}
    return {**kept, **places, "TEXT2SQL_STRATEGY": "stage-0/no-short", **more}


@contextmanager
def started(words: list[str], folder: Path, **variables: str) -> Iterator[commands.Process]:
    process = commands.Process(
        *words, cwd=folder, env=environment(folder, **variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


class Stuck:
    """Answers so many requests, and the later ones only after a very long time."""

    def __init__(self, answered: int) -> None:
        self.left, self.usual, self.reached = answered, answering(faults=False), threading.Event()

    def __call__(self, request: Request) -> Reply:
        if self.left:
            self.left -= 1
            return self.usual(request)
        self.reached.set()
        return Reply(delay=PATIENCE)


def test_an_interrupted_command_goes_on_as_if_uninterrupted(firm: Path, endpoint: OpenAIServer, tmp_path: Path) -> None:
    there = {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "x"}
    options = ("--evolver", "reflective", "--rounds", "1", "--approach", "refine")
    endpoint.otherwise = answering(faults=False)
    with started(command(firm, "whole", *options), tmp_path, **there) as process:
        told = process.stderr.read()
        assert process.wait(PATIENCE) == 0
    assert "\r" not in told  # in a file, progress is a line for each event; the first says that the questions are few
    assert len(told.splitlines()) == (tmp_path / "whole/journal.jsonl").read_bytes().count(b"\n")
    endpoint.otherwise = stuck = Stuck(answered=70)

    with started(command(firm, "stopped", *options), tmp_path, **there) as process:
        assert stuck.reached.wait(PATIENCE)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        text = process.stderr.read()
    assert "Traceback" not in text
    assert "The same command goes on; `python -m agent.lab status stopped` shows how far." in text
    before = (tmp_path / "stopped/journal.jsonl").read_bytes()
    whole = (tmp_path / "whole/journal.jsonl").read_bytes()
    assert whole.startswith(before)
    assert len(before) < len(whole)

    endpoint.otherwise = answering(faults=False)
    with started(command(firm, "stopped", *options, "--json"), tmp_path, **there) as process:
        assert json.loads(process.stdout.read())["random"]["n"] > 0
    assert (tmp_path / "stopped/journal.jsonl").read_bytes() == whole


def test_a_tuned_kit_answers_in_a_terminal(session: Tuned, firm: Path, tmp_path: Path) -> None:
    kit = asyncio.run(session().finish()).kit
    asked, database = "What is the wergild of Zoe?", str(firm / "firm.sqlite")
    words = ("-m", "agent.main", "--kit", kit, "--db", database, "--json", asked)
    done = commands.run(*words, cwd=tmp_path, env=environment(tmp_path), check=True)
    assert json.loads(done.stdout)["rows"] == [[1_000 + NAMES.index("Zoe")]]
