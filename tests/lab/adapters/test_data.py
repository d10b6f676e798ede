"""Training data: the agent's own prompts, nothing of the test set, the same bytes each time; and missing packages."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.config import Settings
from agent.models import shared_model
from agent.runner import run
from eval.databases import open_database
from eval.errors import InputError
from tests.jsonl import read_lines, write_lines
from tests.lab.adapters.conftest import verified
from tests.openai_server import OpenAIServer, completion
from text2sql_lab.adapters.commands import app
from text2sql_lab.adapters.data import Leaked, make_data, read_data
from text2sql_lab.adapters.export import export
from text2sql_lab.questions import Question, form, leaks, read_questions


async def made(firm: Path, out: Path, config: Settings, **options: Any) -> Path:
    questions = options.pop("questions", None) or read_questions(firm / "verified.jsonl", "db")
    database = open_database(firm / "firm.sqlite")
    await make_data(questions, lambda _: database, config, out, single=True, **options)
    return out


@pytest.mark.parametrize("k", [0, 2])
@pytest.mark.parametrize(
    ("how", "reply"),
    [
        ("standard/no-plan/no-judge", '{{"reasoning": "Tables: people. Columns: {columns}.", "sql": "{sql}"}}'),
        ("cascade/no-engine", "```sql\n{sql}\n```"),
    ],
)
async def test_a_row_is_what_the_agent_sends(
    how: str, reply: str, k: int, firm: Path, tmp_path: Path, config: Settings, endpoint: OpenAIServer
) -> None:
    data = await made(firm, tmp_path / "data", config, examples=(k,), how=how)
    row = read_lines(data / "train.jsonl")[0]
    question = next(q for q in verified() if q["id"] == row["id"])
    endpoint.otherwise = completion({"reasoning": "", "sql": question["gold_sql"]})
    form_of_it = question["gold_sql"].split("'")[0]
    others = [e for e in read_lines(data / "examples.jsonl") if not e["sql"].startswith(form_of_it)]
    examples = str(write_lines(tmp_path / "e.jsonl", others))
    judging = {"strategy": f"{how}/no-summary/examples={k}", "examples": examples}
    sent = config.changed(model={"base_url": endpoint.url}, judging=judging)

    model = shared_model(sent.model, "any")
    await run(question["question"], database=open_database(firm / "firm.sqlite"), model=model, settings=sent)

    assert endpoint.requests[0].body["messages"] == row["prompt"]
    assert row["prompt"][1]["content"].count("\nSQL: ") == (k if others else 0)
    columns = f"people.{question['gold_sql'].split()[1]}, people.name"
    content = reply.format(columns=columns, sql=question["gold_sql"])
    assert row["completion"] == [{"role": "assistant", "content": content}]


async def test_no_form_is_learned_and_held_out_and_the_bytes_stay(firm: Path, tmp_path: Path, config: Settings) -> None:
    first, second = [await made(firm, tmp_path / name, config, examples=(0, 3)) for name in ("a", "b")]

    assert {f.name: f.read_bytes() for f in first.iterdir()} == {f.name: f.read_bytes() for f in second.iterdir()}
    forms = {
        part: {form(line.get("gold_sql") or line["sql"], "sqlite") for line in read_lines(first / f"{part}.jsonl")}
        for part in ("examples", "held_out")
    }
    assert forms["examples"]
    assert forms["held_out"]
    assert not forms["examples"] & forms["held_out"]
    assert read_data(first).held_out + len(read_lines(first / "examples.jsonl")) < len(verified())  # the rest chooses
    held_out = {line["question"] for line in read_lines(first / "held_out.jsonl")}
    shown = "".join(row["prompt"][1]["content"] for row in read_lines(first / "train.jsonl"))
    assert not [question for question in held_out if question in shown]


def test_a_leak_is_the_same_words_or_the_same_form_in_other_spelling() -> None:
    learned = questions(
        ("How many people?", "SELECT COUNT(*) FROM people"),
        ("Names by age", "SELECT name AS n FROM people AS p WHERE p.age > 30 ORDER BY n"),
        ("Cities", "SELECT city FROM people"),
    )
    tests = questions(
        ("how MANY people", "SELECT COUNT(id) FROM people"),
        ("Others", 'select "name" from people where age > 7 order by name'),
    )

    assert leaks(learned, tests, "sqlite") == {"0": "same question", "1": "same form"}


def questions(*pairs: tuple[str, str]) -> tuple[Any, ...]:
    return tuple(Question(str(n), "db", text, (gold,)) for n, (text, gold) in enumerate(pairs))


async def test_a_leak_ends_the_work_unless_it_is_left_out(firm: Path, tmp_path: Path, config: Settings) -> None:
    tests = questions(("Ada's wage?", "SELECT pay FROM people WHERE name = 'Ada'"))

    with pytest.raises(Leaked, match="14 of 56 questions are in the held-out file"):
        await made(firm, tmp_path / "data", config, held_out=tests)
    assert not (tmp_path / "data").exists()

    data = await made(firm, tmp_path / "data", config, held_out=tests, drop_leaks=True)
    assert read_data(data).refused == {"same form": 14}
    assert "SELECT pay" not in (data / "train.jsonl").read_text() + (data / "validation.jsonl").read_text()


async def test_a_query_that_fails_is_left_out_and_counted(firm: Path, tmp_path: Path, config: Settings) -> None:
    bad = ("The boss of nobody?", "SELECT boss FROM people WHERE name = 'Ada'")
    held_out = questions(("Ages", "SELECT age FROM people"))
    asked = (*questions(bad), *(q for q in read_questions(firm / "verified.jsonl", "db")))

    data = await made(firm, tmp_path / "data", config, questions=asked, held_out=held_out)

    assert read_data(data).refused == {"query does not run": 1}
    assert "boss" not in (data / "train.jsonl").read_text() + (data / "examples.jsonl").read_text()


def test_the_command_says_what_it_made(firm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["data", "--questions", str(firm / "verified.jsonl"), "--out", str(tmp_path / "data")]

    done = CliRunner().invoke(app, [*given, "--db", str(firm / "firm.sqlite")])
    unnamed = CliRunner().invoke(app, given)
    unknown = CliRunner().invoke(app, [*given, "--db", str(firm / "firm.sqlite"), "--strategy", "react"])

    assert done.exit_code == 0, done.output
    assert "questions held out; left out: none" in done.stdout
    assert (unnamed.exit_code, unknown.exit_code) == (2, 2)
    assert "--db or --databases" in unnamed.output
    assert "react writes in steps" in unknown.output


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    given = ["--data", str(tmp_path), "--out", str(tmp_path / "out")]

    trained = CliRunner().invoke(app, ["train", *given, "--base", "any", "--qlora"])
    tiny = CliRunner().invoke(app, ["tiny", *given])
    served = CliRunner().invoke(app, ["serve", "--base", "any"])

    assert [one.exit_code for one in (trained, tiny, served)] == [2, 2, 2]
    assert "Not installed: torch, transformers, peft, trl, accelerate, datasets, bitsandbytes." in trained.output
    assert "pip install 'askwell[adapters]'" in tiny.output
    assert not (tmp_path / "out").exists()


def test_an_export_of_nothing_or_under_a_bad_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not the folder of a training run"):
        export(tmp_path, tmp_path / "out", "tuned")
    with pytest.raises(InputError, match="small letters"):
        export(tmp_path, tmp_path / "out", "../tuned")
