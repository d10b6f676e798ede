"""The command line as a user types it: what is printed where, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agent.cli.report import FIELDS
from agent.config import settings
from agent.main import app
from agent.runtime.catalogue import close_all
from tests.openai_server import OpenAIServer, answering, error
from tests.pairs import rows
from tests.writing import sqlite_file

Type = Callable[..., Result]


@pytest.fixture
def type_(alone: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Type]:
    """Type a command in an empty folder, with no setting in the environment but those given."""
    monkeypatch.setenv("TEXT2SQL_CACHE_DIR", str(tmp_path / "cache"))

    def typed(*words: str, stdin: str = "", **variables: str) -> Result:
        settings.cache_clear()
        return CliRunner().invoke(app, list(words), input=stdin, env=variables)

    yield typed
    close_all()


def test_a_question_is_answered_without_any_key_and_its_steps_told_apart(type_: Type, shop_file: Path) -> None:
    done = type_("--db", str(shop_file), "How many customers are there?")

    assert done.exit_code == 0
    assert done.stdout.startswith("SELECT COUNT(*) AS customers FROM customers\n")
    assert "|         4 |" in done.stdout
    assert "How sure: very likely right. About 9 in 10 such answers are right." in done.stdout

    assert done.stderr.splitlines()[0] == "· starting"
    assert "✓ read the schema · 4 tables, 15 columns" in done.stderr
    assert "✓ ran and checked it · 1 row" in done.stderr
    assert done.stderr.count("OPENAI_API_KEY") == 1
    assert "✓" not in done.stdout

    done = type_("--dry-run", "--db", str(shop_file), "How many customers are there?")
    assert (done.exit_code, done.stdout) == (0, "SELECT COUNT(*) AS customers FROM customers\n")


def test_json_prints_exactly_one_object_with_the_promised_fields_and_rows(type_: Type, shop_file: Path) -> None:
    done = type_("--json", "--db", str(shop_file), "How many customers are there?")

    (line,) = done.stdout.splitlines()
    answer = json.loads(line)
    assert tuple(answer)[: len(FIELDS)] == FIELDS
    assert (answer["status"], answer["rows"], answer["model"]) == ("success", [[4]], "offline")

    cut = json.loads(type_("--json", "--max-rows", "2", "--db", str(shop_file), "List all customers").stdout)
    assert (len(cut["rows"]), cut["truncated"]) == (2, True)


def test_json_holds_a_failure_too(type_: Type) -> None:
    done = type_("--json", "--db", "missing.sqlite", "How many?")

    answer = json.loads(done.stdout)
    assert done.exit_code == 3
    assert tuple(answer)[: len(FIELDS)] == FIELDS
    assert (answer["status"], answer["error_kind"]) == ("error", "database")
    assert "missing.sqlite" in answer["answer"]


def test_a_question_on_standard_input(type_: Type, shop_file: Path) -> None:
    for words in ((), ("-",)):
        done = type_("-q", "--db", str(shop_file), *words, stdin="How many customers are there?\n")
        assert done.exit_code == 0
        assert "SELECT COUNT(*) AS customers FROM customers" in done.stdout


def test_an_empty_question_is_said(type_: Type) -> None:
    for words in ([""], ["   "], ["-"], []):
        done = type_("-q", *words)
        assert (done.exit_code, done.stdout, done.stderr) == (2, "", "The question is empty.\n")


@pytest.mark.parametrize(("target", "message"), rows("databases/unopened.jsonl"))
def test_a_database_that_cannot_be_opened_is_one_clear_line(type_: Type, target: str, message: str) -> None:
    done = type_("-q", "--db", target, "How many?")

    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert "hunter2" not in done.stderr


def test_a_bad_setting_is_named(type_: Type, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TEXT2SQL_MAX_RETRIES=many\nOPENAI_API_KEY=sk-secret\n")

    done = type_("-q", "How many?")

    assert done.exit_code == 2
    assert done.stderr.startswith("A setting is not usable: TEXT2SQL_MAX_RETRIES: ")
    assert "sk-secret" not in done.stderr


def test_a_model_answers_and_its_failed_attempt_is_seen(type_: Type, shop_file: Path, endpoint: OpenAIServer) -> None:
    count = "SELECT COUNT(*) AS customers FROM customers"
    endpoint.otherwise = answering(count.replace("FROM customers", "FROM custmers"), count, summary="**4** customers.")

    there = {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "sk-test", "TEXT2SQL_MODEL": "small"}
    done = type_("--explain", "--db", str(shop_file), "How many customers are there?", **there)

    assert done.exit_code == 0, done.stderr
    assert "**4** customers." in done.stdout
    assert "[-custmers-] {+" in done.stdout
    assert "↻ trying again, it names what is not there" in done.stderr
    assert "✓ wrote SQL (attempt 2)" in done.stderr
    assert "OPENAI_API_KEY" not in done.stderr


def test_a_wrong_key_is_one_clear_line(type_: Type, shop_file: Path, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = error(401, "Incorrect API key provided")

    there = {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "sk-test-secret"}
    done = type_("-q", "--db", str(shop_file), "How many?", **there)

    assert (done.exit_code, done.stdout) == (4, "")
    assert done.stderr.count("\n") == 1
    assert "key" in done.stderr.lower()
    assert "sk-test-secret" not in done.stderr


def test_hostile_cells_do_not_reach_the_terminal(type_: Type, tmp_path: Path) -> None:
    customer = "INSERT INTO customers VALUES (1, '\x1b]0;owned\x07[red]x[/red]')"
    sqlite_file(tmp_path / "x.sqlite", f"CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); {customer}")
    for form in ((), ("--json",), ("--explain",)):
        done = type_(*form, "--db", "x.sqlite", "List the names of all customers")
        assert "owned" in done.stdout
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x07" not in done.stdout + done.stderr
        assert "[red]x[/red]" in done.stdout


def test_a_session_answers_line_after_line(type_: Type, shop_file: Path) -> None:
    commands = (r"\sql", r"\schema", r"\schema orders", r"\nonsense", r"\db nowhere", r"\quit")
    lines = "\n".join(["How many customers are there?", *commands, "How many cities are there?\n"])

    done = type_("-q", "-i", "--db", str(shop_file), stdin=lines)

    assert done.exit_code == 0
    assert done.stdout.count("SELECT COUNT(*) AS customers FROM customers\n") == 2
    assert "orders  5 columns  4 rows" in done.stdout
    assert "customer_id  INTEGER not null → customers.id" in done.stdout
    assert r"There is no command \nonsense. \help lists them." in done.stderr
    assert "no preset named 'nowhere'" in done.stderr
    assert "FROM cities" not in done.stdout  # the session had been ended
