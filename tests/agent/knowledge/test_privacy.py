"""In the modes `masked` and `schema`, no value of the database ever reaches the model's endpoint.

The database holds marker values wherever a value can be: rows, types, defaults, comments, and what the engine quotes in
its errors. A run is driven through every call of the protocol and every retry, against a server that records all.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.config import Settings
from agent.conversations import Conversation
from agent.conversations.checkpointer import memory_checkpointer
from agent.knowledge.privacy import for_feedback, kinds, scrubbed, visible_schema, visible_turn
from agent.models import shared_model
from agent.models.calls import PromptLog
from agent.runner import run
from agent.state import Analysis, EvalReport, Evidence, QueryResult, Turn
from eval.databases import open_database
from eval.databases.base import Database
from eval.schema import Column, Schema, Table
from eval.sql import check, parse
from tests.openai_server import OpenAIServer, Reply, Request, completion, error
from tests.pairs import FIXTURES, rows, sections
from tests.writing import url_on, write

MARK = "zqx"
"""Begins every marker; no name of the schema, no word of a question and no word of an engine holds it."""
NUMBER = 9173645501
COMMENT = "commentmark"

QUESTION = "Which people earn the most, and which team is called Paris?"
STATEMENTS = sections("privacy/statements.txt")
ATTEMPTS = STATEMENTS["attempts of a model"][0]


class Endpoint:
    """Plays a model: two tasks that build on each other, every kind of bad query, doubtful judgements."""

    def __init__(self, server: OpenAIServer) -> None:
        self._sql = 0
        server.otherwise = self

    def __call__(self, request: Request) -> Reply:
        asked = json.dumps(request.body.get("response_format", {}))
        if '"tasks"' in asked:
            first = {"id": "a", "description": "List the people with their salary.", "depends_on": []}
            second = {"id": "b", "description": "Which of those teams is called Paris?", "depends_on": ["a"]}
            return completion({"plan_type": "multi-sequential", "confidence": 0.9, "tasks": [first, second]})
        if '"sql"' in asked:
            sql = ATTEMPTS[self._sql % len(ATTEMPTS)]
            self._sql += 1
            return completion({"reasoning": "because", "sql": sql})
        if '"score"' in asked:
            return completion({"reasoning": "It lists other columns.", "score": 0.3})
        return completion("Here is the answer.")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute((FIXTURES / "privacy/people.sql").read_text(encoding="utf-8"))
    with open_database(f"duckdb:///{path}") as opened:
        yield opened


def settings(server: OpenAIServer, **more: object) -> Settings:
    variables = {"OPENAI_BASE_URL": server.url, "TEXT2SQL_MODEL": "m", "TEXT2SQL_MAX_RETRIES": 8, **more}
    return Settings(_env_file=None, **variables)


@pytest.mark.parametrize("mode", ["masked", "schema"])
async def test_no_value_reaches_the_endpoint(mode: str, database: Database) -> None:
    with OpenAIServer() as server:
        Endpoint(server)
        answer = await run(QUESTION, database=database, settings=settings(server, TEXT2SQL_PRIVACY=mode))
        sent = [json.dumps(request.body, ensure_ascii=False) for request in server.requests]

    assert len(answer.attempts) == 18
    categories = {attempt.retry_category for attempt in answer.attempts}
    assert categories >= {"execution_error", "hallucination", "safety"}
    assert any(MARK in (attempt.error or "") for attempt in answer.attempts), "the engine quotes no value any more"
    for body in sent:
        assert MARK not in body.lower()
        assert str(NUMBER)[:7] not in body
        assert (COMMENT in body) is (mode == "masked" and "<schema>" in body)
    assert any("'Paris'" in body for body in sent), "what the user and the model wrote themselves is shown"
    judged = [body for body in sent if "Judge whether the result" in body]
    assert bool(judged) is (mode == "masked")
    assert not any("Answer the question from the results" in body for body in sent)
    if mode == "masked":
        assert any("(text, hidden)" in body and "(whole number, hidden)" in body for body in judged)
        assert any("(3 rows)" in body for body in sent)
    else:
        assert not any("rows)" in body or "rows=" in body for body in sent)
    assert MARK in answer.answer, "the answer is put together here, from the rows"


@pytest.mark.parametrize("mode", ["masked", "schema"])
@pytest.mark.parametrize("plans", [True, False])
async def test_what_a_conversation_remembers_stays_here_too(mode: str, plans: bool, database: Database) -> None:
    """The first turn is the offline engine's, which sees everything; the second goes to the endpoint."""
    thread = Conversation("t", memory_checkpointer())
    with OpenAIServer() as server:
        endpoint = Endpoint(server)
        if not plans:
            server.otherwise = lambda asked: error(400, "no") if '"tasks"' in str(asked.body) else endpoint(asked)
        config = settings(server, TEXT2SQL_PRIVACY=mode, TEXT2SQL_MAX_RETRIES=1)
        first = await run(
            "List the name of all people", database=database, model="offline", settings=config, conversation=thread
        )
        await run("And their salary?", database=database, settings=config, conversation=thread)
        sent = [json.dumps(request.body, ensure_ascii=False) for request in server.requests]

    assert MARK in str(first.rows)
    assert any("Question 1: List the name of all people" in body for body in sent)
    assert any("(text, hidden)" in body for body in sent) is (mode == "masked")
    for body in sent:
        assert MARK not in body.lower()
        assert str(NUMBER)[:7] not in body


async def test_what_full_mode_sends_is_in_the_log_word_for_word(database: Database, tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    with OpenAIServer() as server:
        Endpoint(server)
        config = settings(server, TEXT2SQL_PROMPT_LOG=str(path), TEXT2SQL_MAX_RETRIES=0)
        await run(QUESTION, database=database, settings=config)
        sent = [request.body["messages"] for request in server.requests]

    assert MARK in str(sent), "in the mode `full`, rows and errors are sent"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["messages"] for line in lines] == sent
    assert {line["call"] for line in lines} >= {"plan", "write_sql"}
    assert len({line["run"] for line in lines}) == 1
    assert all(len(line["run"]) == 32 and line["model"] == "m" and line["error"] is None for line in lines)
    assert lines[0]["tokens"] == {"input": 100, "output": 20}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_failed_request_is_in_the_log_too(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    with OpenAIServer() as server:
        config = settings(server, TEXT2SQL_PROMPT_LOG=str(path))
        model = shared_model(config.model)
        assert not isinstance(model, str)
        answer = await run("How many customers are there?", model=model, settings=config)
        await model.close()

    assert answer.status == "error"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines
    assert all(line["error"] and line["tokens"] is None for line in lines)


def test_the_log_is_bounded_and_private(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    path.touch(mode=0o644)
    log = PromptLog(path, max_bytes=2_000)

    for number in range(30):
        log.write("plan", "m", [("user", f"question {number} " + "x" * 100)], started=0.0)

    files = sorted(tmp_path.iterdir())
    assert [f.name for f in files] == ["prompts.jsonl", "prompts.jsonl.1"]
    assert all(f.stat().st_size <= 2_000 for f in files)
    assert "question 29 " in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_log_follows_no_link(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    victim = tmp_path / "victim"
    victim.touch()
    (tmp_path / "prompts.jsonl").symlink_to(victim)

    PromptLog(tmp_path / "prompts.jsonl").write("plan", "m", [("user", "secret")], started=0.0)

    assert victim.read_text() == ""
    assert "could not be written" in caplog.text


@pytest.mark.parametrize(("message", "shown"), rows("privacy/errors.jsonl"))
def test_words_of_an_error_that_nobody_knows_are_hidden(message: str, shown: str) -> None:
    known = frozenset({"select", "name", "from", "people", "cast", "as", "integer", "paris"})
    assert scrubbed(message, known) == shown


def test_result_shapes_tell_kinds_and_no_value() -> None:
    rows: list[list[Any]] = [
        [1, "zqx", None, 1.5, "2024-01-02", True],
        [2, None, None, 2, "2024-01-02 10:11:12", False],
    ]
    told = ["whole number", "null or text", "null", "number or whole number", "date", "boolean"]

    assert kinds(list("abcdef"), rows) == [[f"({kind}, hidden)" for kind in told]]
    assert kinds(["a"], []) == []


MOOD = Column("mood", "enum('zqxone','it''s zqxtwo','a\\'b zqx')", comment="how they feel")
PEOPLE = Table("people", (MOOD, Column("n", "decimal(10,2)")), row_count=12, comment="staff")
SCHEMA = Schema("mysql", (PEOPLE,))


def test_values_listed_in_a_type_are_hidden() -> None:
    masked, bare = visible_schema(SCHEMA, "masked").tables[0], visible_schema(SCHEMA, "schema").tables[0]

    assert [c.type for c in masked.columns] == ["enum(…,…,…)", "decimal(10,2)"]
    assert (masked.row_count, masked.comment, masked.columns[0].comment) == (12, "staff", "how they feel")
    assert (bare.row_count, bare.comment, bare.columns[0].comment) == (None, None, None)


@pytest.mark.parametrize("mode", ["masked", "schema"])
def test_an_earlier_turn_shows_only_what_the_user_wrote(mode: Any) -> None:
    sql = "SELECT n FROM people WHERE mood = 'zqxone' AND city = 'Paris' AND x = \"zqx\""
    asked = {"asked": "Who is in a good mood in Paris?", "question": "Who is in a zqxone mood in Paris?", "sql": sql}
    turn = Turn(number=1, **asked, answer="zqxAda", columns=["n"], rows=[["zqxAda"]])

    seen = visible_turn(turn, SCHEMA, mode)

    assert "zqx" not in seen.model_dump_json()
    assert seen.sql == "SELECT n FROM people WHERE mood = '…' AND city = 'Paris' AND x = \"…\""
    assert seen.columns == (["n"] if mode == "masked" else [])


def test_evidence_that_was_looked_up_among_the_values_is_left_out() -> None:
    evidence = [
        Evidence(name=name, supports=False, weight=-1.0, text=text)
        for name, text in {
            "value_stored_otherwise": "mood holds “Paris” in other capitals only.",
            "value_foreign": "The query looks for “zqxother”.",
            "count_missing": "The query counts nothing.",
        }.items()
    ]
    report = EvalReport(
        overall=0.4,
        overall_before_relevance=0.4,
        dimensions={"safety": 1.0, "completeness": 0.2},
        analysis=Analysis(evidence=evidence),
        vetoes=["The database could not run it: Could not convert string 'zqxAda' to INT32."],
    )
    result = QueryResult(
        task_id="a", attempt=1, sql="SELECT n FROM people", data=[["zqx"]], status="success", eval_report=report
    )

    masked = for_feedback(result, "masked", SCHEMA, "How many in Paris?")
    bare = for_feedback(result, "schema", SCHEMA, "How many in Paris?")

    assert "zqx" not in masked.model_dump_json()
    assert [e.name for e in masked.eval_report.analysis.evidence] == ["value_foreign", "count_missing"]
    assert (bare.data, bare.rows_returned) == ([], 1)
    assert (bare.eval_report.analysis.evidence, bare.eval_report.vetoes) == ([], [])
    assert bare.eval_report.dimensions == {"safety": 1.0}


@pytest.mark.parametrize("engine", ["sqlite", "postgres", "mysql"])
def test_errors_are_readable_without_values(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    rows = [("1", f"{MARK}Ada", NUMBER), ("2", f"{{{MARK}json", NUMBER + 1)]
    values = ", ".join(f"({n}, '{name}', {salary})" for n, name, salary in rows)
    create = "CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(40), salary BIGINT)"
    url = url_on(engine, request, tmp_path)
    write(url, create, f"INSERT INTO people VALUES {values}")
    shown = []
    with open_database(url) as opened:
        schema = opened.schema()
        for sql in STATEMENTS[f"failing on {engine}"][0]:
            statement = check(parse(sql, schema.dialect)).statement
            assert statement is not None, sql
            done = opened.execute(statement)
            result = QueryResult(task_id="a", attempt=1, sql=sql, status="error", error=done.error)
            shown.append(for_feedback(result, "masked", schema, "Who earns what?").error or "")

    for message in shown:
        assert MARK not in message.lower()
        assert str(NUMBER)[:7] not in message
    assert any(STATEMENTS[f"readable on {engine}"][0][0] in message for message in shown), shown
