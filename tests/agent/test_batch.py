"""Answering a file of questions, one JSON line for each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.batch import app
from agent.config import settings
from tests.jsonl import as_lines, read_lines
from tests.openai_server import OpenAIServer, Reply, Request, completion, error
from tests.writing import sqlite_file

FIELDS = ["id", "sql", "confidence", "abstained", "reason", "rows", "answer", "retries", "seconds"]
Answer = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def databases(tmp_path: Path) -> Path:
    folder = tmp_path / "databases"
    folder.mkdir()
    for name, table, rows in (("zoo", "animals", "('n0'), ('n1'), ('n2')"), ("port", "ships", "('n0'), ('n1')")):
        script = f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO {table} (name) VALUES {rows}"
        sqlite_file(folder / f"{name}.sqlite", script)
    return folder


@pytest.fixture
def answer(alone: None, databases: Path) -> Answer:
    """Answer records (or raw lines), with the given options and variables."""

    def answered(*lines: dict[str, Any] | str, options: tuple[str, ...] = (), **variables: str) -> list[dict[str, Any]]:
        settings.cache_clear()
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        done = CliRunner().invoke(app, ["answer", "--databases", str(databases), *options], input=text, env=variables)
        assert done.exit_code == 0, done.output
        return read_lines(done.stdout)

    return answered


def test_each_line_gets_its_answer_from_its_database(answer: Answer) -> None:
    first, second = answer(
        {"id": "a", "db": "zoo", "question": "How many animals are there?"},
        {"id": 2, "db": "port", "question": "How many ships are there?"},
        options=("--offline",),
    )

    assert list(first) == FIELDS
    assert (first["id"], first["rows"], first["abstained"], first["retries"]) == ("a", [[3]], False, 0)
    assert (second["id"], second["sql"], second["rows"]) == (2, "SELECT COUNT(*) AS ships FROM ships", [[2]])
    assert 0 < first["confidence"] <= 1
    assert first["seconds"] > 0


def test_a_question_that_cannot_be_read_is_declined_with_the_reason(answer: Answer) -> None:
    (declined,) = answer({"id": 1, "db": "zoo", "question": "flurbs of the wibble?"}, options=("--offline",))

    assert declined["abstained"] is True
    assert (declined["sql"], declined["rows"]) == ("", [])
    assert declined["reason"]


def test_lines_that_cannot_be_answered_do_not_stop_the_rest(answer: Answer) -> None:
    question = "How many animals are there?"

    lines = answer(
        "{nonsense",
        {"id": 1, "db": "nowhere", "question": question},
        {"id": 2, "db": "../zoo", "question": question},
        {"id": 3, "db": "zoo", "question": " "},
        {"id": 4, "db": "zoo"},
        {"id": 5, "question": question},
        {"id": 6, "db": "zoo", "question": question},
        options=("--offline",),
    )

    assert [sorted(line) for line in lines[:-1]] == [["error", "id"]] * 6
    assert [line["id"] for line in lines] == [None, 1, 2, 3, 4, 5, 6]
    assert "'db' is missing" in lines[5]["error"]
    assert lines[-1]["rows"] == [[3]]


def test_questions_to_a_model_run_side_by_side_and_come_back_in_order(answer: Answer) -> None:
    def reply(request: Request) -> Reply:
        table = "animals" if "animals" in request.prompt and "ships" not in request.prompt else "ships"
        tasks = [{"id": "t1", "description": "count", "depends_on": []}]
        plan = {"plan_type": "single", "confidence": 0.9, "tasks": tasks}
        return completion({**plan, "sql": f"SELECT COUNT(*) FROM {table}", "reasoning": "as asked", "score": 1.0})

    with OpenAIServer() as server:
        server.otherwise = reply
        questions = [
            {"id": n, "db": "zoo" if n % 2 else "port", "question": f"How many {'animals' if n % 2 else 'ships'}?"}
            for n in range(6)
        ]
        lines = answer(*questions, options=("--jobs", "3"), OPENAI_BASE_URL=server.url, OPENAI_API_KEY="k")

    assert [line["id"] for line in lines] == list(range(6))
    assert [line["rows"] for line in lines] == [[[3]] if n % 2 else [[2]] for n in range(6)]


def test_a_wrong_key_is_an_error_on_each_line_and_evidence_is_sent_with_the_question(answer: Answer) -> None:
    asked = {"db": "zoo", "question": "How many old animals?", "evidence": "old means over 10"}
    with OpenAIServer() as server:
        server.otherwise = error(401, "Incorrect API key provided")
        key = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-secret"}
        lines = answer({"id": 1, **asked}, {"id": 2, **asked}, **key)

        assert "old means over 10" in server.requests[0].prompt
    assert [sorted(line) for line in lines] == [["error", "id"]] * 2
    assert "sk-secret" not in json.dumps(lines)


def test_a_conversation_completes_what_leans_on_the_turn_before_and_changes_nothing_else(databases: Path) -> None:
    settings.cache_clear()
    talk = {"id": "t", "db": "zoo", "turns": ["List all animals", "how many are there?", "How many animals are there?"]}
    lines = f"{json.dumps(talk)}\n{json.dumps({'id': 'u', 'db': 'zoo', 'turns': []})}\n"
    done = CliRunner().invoke(app, ["converse", "--offline", "-q", "--databases", str(databases)], input=lines)

    assert done.exit_code in (0, 1), done.output
    body, failed = read_lines(done.stdout)
    assert [turn["question"] for turn in body["turns"]] == talk["turns"]
    assert body["turns"][1]["read_as"] == "How many animals are there?"
    assert body["turns"][1]["sql"] == body["turns"][2]["sql"] == "SELECT COUNT(*) AS animals FROM animals"
    assert body["turns"][2]["read_as"] == "How many animals are there?"
    assert list(body["turns"][0]) == ["question", "read_as", "sql", "confidence", "abstained", "answer"]
    assert "turns" in failed["error"]


def scored(databases: Path, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    return read_lines(CliRunner().invoke(app, ["score", "--databases", str(databases)], input=as_lines(lines)).stdout)


def test_relevance_counts_and_is_checked(databases: Path) -> None:
    line = {"db": "zoo", "question": "How many animals are there?", "sql": "SELECT COUNT(*) FROM animals"}
    low, neutral, high, beyond, text = scored(
        databases,
        {"id": 1, **line, "relevance": 0.0},
        {"id": 2, **line},
        {"id": 3, **line, "relevance": 1},
        {"id": 4, **line, "relevance": 1.5},
        {"id": 5, **line, "relevance": "high"},
    )
    assert low["score"] < neutral["score"] < high["score"]
    assert "relevance" in beyond["error"]
    assert "relevance" in text["error"]
