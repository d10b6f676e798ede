"""`examples check`, `examples export`, `glossary check`, `profile`, `explain` and `fix` on the command line."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent import main
from agent.cli import exits
from agent.config import StateSettings
from agent.store import open_store
from agent.store.records import FeedbackRecord, RunRecord
from tests import commands
from tests.agent.access.conftest import build
from tests.agent.server.processes import environment
from tests.agent.statements.test_mending import MADE
from tests.writing import sqlite_file


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return sqlite_file(tmp_path / "shop.sqlite", "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")


def ran(folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    there = environment(folder, TEXT2SQL_CACHE_DIR=str(folder / "cache"), **settings)
    return commands.run("-m", "agent.main", *words, cwd=folder, env=there)


def test_examples_are_checked(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "examples.jsonl"
    file.write_text(
        '{"question": "a", "sql": "SELECT name FROM customers"}\n{"question": "b", "sql": "DELETE FROM customers"}\n'
        '{"question": "c", "sql": "SELECT x FROM y", "db": "other"}\n'
    )
    done = ran(tmp_path, "examples", "check", str(file), "--db", str(shop))
    assert done.returncode == 2
    assert done.stdout.startswith("examples.jsonl, line 2: the guard refuses its SQL")

    file.write_text('{"question": "a", "sql": "SELECT name FROM customers"}\n')
    done = ran(tmp_path, "examples", "check", str(file), "--db", str(shop))
    assert (done.returncode, done.stdout) == (0, "examples.jsonl: 1 examples fit shop.\n")


def test_a_glossary_is_checked(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "glossary.yaml"
    file.write_text("terms:\n  - term: client\n    means: customers.nam\n")

    done = ran(tmp_path, "glossary", "check", str(file), "--db", str(shop))

    assert done.returncode == 2
    assert "glossary.yaml, line 2: client: the schema has no column customers.nam (nearest: name" in done.stdout


def test_what_people_confirmed_is_exported(tmp_path: Path) -> None:
    async def give_feedback() -> None:
        store = await open_store(StateSettings.model_validate({"TEXT2SQL_STATE_DIR": str(tmp_path / "state")}))
        now = datetime.now(UTC)
        for number, verdict in enumerate(("right", "wrong", "corrected")):
            known: dict[str, Any] = {
                "run_id": f"r{number}",
                "owner": "local",
                "preset": "shop",
                "question": f"q{number}",
            }
            given = {"feedback_id": f"f{number}", "sql": f"SELECT {number}", "verdict": verdict, "created": now}
            await store.begin_run(RunRecord(started=now, **known))
            await store.add_feedback(FeedbackRecord.model_validate(known | given))
        await store.close()

    asyncio.run(give_feedback())
    done = ran(tmp_path, "examples", "export", "--preset", "shop")

    assert done.returncode == 0, done.stderr
    exported = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(e["question"] for e in exported) == ["q0", "q2"]


# --- profile: what a database's rows look like, as text and as JSON ---


SECTIONS = ["ddl", "tables", "columns", "keys", "values", "ranges", "formats", "patterns", "validation", "guidance"]


def test_the_text_and_json_have_the_sections_within_the_budget(tmp_path: Path) -> None:
    done = ran(tmp_path, "profile", "--db", "shop", "--budget", "1500")

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n## ") + done.stdout.startswith("## ") == 10
    assert "more lines not shown" in done.stdout
    assert "orders: 3,600 rows" in done.stdout

    reply = json.loads(ran(tmp_path, "profile", "--db", "shop", "--json").stdout)

    assert list(reply["sections"]) == SECTIONS
    assert (reply["database"], reply["dialect"], reply["privacy"]) == ("shop", "sqlite", "full")
    assert reply["tables_profiled"] == len(reply["facts"]["tables"]) == 8


def test_the_privacy_mode_holds_for_the_command_and_a_missing_database_is_exit_code_3(tmp_path: Path) -> None:
    done = ran(tmp_path, "profile", "--db", "shop", TEXT2SQL_PRIVACY="masked")

    assert "orders.status TEXT: 5 distinct of 3,600 -- processing" in done.stdout  # as the schema itself says
    assert "'shipped'" not in done.stdout

    done = ran(tmp_path, "profile", "--db", str(tmp_path / "gone.sqlite"))

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.strip()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("commands") / "my shop.db"
    build(f"sqlite://{path}", MADE)
    return str(path)


def said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int | str | None, str]:
    monkeypatch.setattr(sys, "argv", ["text2sql", *words])
    with pytest.raises(SystemExit) as ended:
        main.main()
    return ended.value.code, capsys.readouterr().out


def test_explain(file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = said(monkeypatch, capsys, "explain", "SELECT town, COUNT(*) FROM clients GROUP BY town", "--db", file)
    assert (code, out.splitlines()) == (
        exits.ANSWERED,
        ["Shows town and the number of rows of clients.", "One row for each town."],
    )
    code, out = said(monkeypatch, capsys, "explain", "--json", "--db", file, "SELECT twn FROM clients")
    assert code == exits.NO_ANSWER
    assert json.loads(out)["unknown"] == ["column twn (nearest: town)"]


def test_fix(file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = said(monkeypatch, capsys, "fix", "SELECT twn FROM client", "--db", file)
    assert code == exits.ANSWERED
    assert out.startswith("SELECT town FROM clients\n- There is no table `client`")
    assert "Oslo" in out
    asked = ("--question", "How many clients are there?", "--db", file, "--json")
    code, out = said(monkeypatch, capsys, "fix", "SELECT COUNT(*) FROM client", *asked)
    told = json.loads(out)
    assert (code, told["rows"], told["problem"]) == (exits.ANSWERED, [[2]], "")
    assert told["probability"] > 0.5
    code, out = said(monkeypatch, capsys, "fix", "SELECT town FROM client WHERE town = 'Oslo'", *asked)
    assert code == exits.DOUBTFUL
    code, out = said(monkeypatch, capsys, "fix", "SELECT weather FROM planets", "--db", file)
    assert code == exits.NO_ANSWER
    assert "It still does not run" in out


def test_a_question_that_begins_so_stays_a_question(
    tmp_path: Path, file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("explain how many clients there are", "--db", file, "--model", "offline", "--json")
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path))
    _, out = said(monkeypatch, capsys, *words)
    assert json.loads(out)["question"].startswith("explain how many")
