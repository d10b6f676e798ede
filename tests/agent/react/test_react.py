"""Working in steps: the order of the tools, what a model may do wrong, its bounds; against a scripted endpoint."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from itertools import product
from typing import Any, get_args

import pytest

from agent.events import Event, StepEvent
from agent.models.failures import RetryPolicy
from agent.models.openai import OpenAIModel
from agent.models.protocol import Endpoint, Stepping
from agent.models.quirks import forget
from agent.react.loop import EDGES, OWN_STEPS, WRITES, Tool, following
from agent.react.tools import constraints
from agent.runner import Answer
from eval.databases.base import Database
from eval.databases.types import ExecutionResult
from eval.scoring.intent import read_intent
from eval.statement import ReadStatement
from tests.agent.conftest import Run
from tests.openai_server import OpenAIServer, Reply, completion, error
from tests.pairs import rows

QUESTION = "What are the names of the customers who live in Lyon?"
RIGHT = "SELECT c.name FROM customers c JOIN cities t ON t.id = c.city_id WHERE t.name = 'Lyon'"
BOUND = ["get_schema", "link_schema", "extract_constraints"]
CHECKED = ["validate_sql", "validate_constraints"]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    forget()
    with OpenAIServer() as running:
        yield running
    forget()


@pytest.fixture
async def model(server: OpenAIServer) -> AsyncIterator[OpenAIModel]:
    settings = Endpoint(model="m", base_url=server.url, api_key="sk-test-123456", seconds=60.0)
    made = OpenAIModel(settings, retry=RetryPolicy(first_wait=0.01, longest_wait=0.02))
    yield made
    await made.close()


def step(tool: str, sql: str = "", thought: str = "because") -> Reply:
    return completion({"thought": thought, "tool": tool, "sql": sql})


def steps(events: list[Event]) -> list[tuple[str, bool]]:
    return [(e.data.tool, e.data.ok) for e in events if isinstance(e, StepEvent)]


async def asked(ask: Run, model: OpenAIModel, **more: Any) -> tuple[list[Event], Answer]:
    return await ask(QUESTION, model, strategy="react/no-summary", **more)


async def test_a_query_is_written_checked_run_and_finished(server: OpenAIServer, model: OpenAIModel, ask: Run) -> None:
    server.script(step("generate_sql", RIGHT), step("finish", thought="two rows, both in Lyon"))

    events, answer = await asked(ask, model)

    assert isinstance(model, Stepping)
    assert [tool for tool, ok in steps(events) if ok] == [*BOUND, "generate_sql", *CHECKED, "run_sql", "finish"]
    assert (answer.status, sorted(answer.rows)) == ("success", [["Bo"], ["Chloé"]])
    assert answer.tokens.calls == 2
    assert answer.attempts[0].reasoning.startswith("two rows, both in Lyon\nSteps: get_schema → link_schema")
    last = server.requests[1].prompt
    assert "<allowed>finish, repair_sql</allowed>" in last
    assert "Bo" in last
    assert "It asks for no order and no limit." in last
    allowed = server.bodies[0]["response_format"]["json_schema"]["schema"]["properties"]["tool"]["enum"]
    assert allowed == ["generate_sql"]


async def test_the_query_that_the_steps_ran_is_not_run_again(
    server: OpenAIServer, model: OpenAIModel, ask: Run, shop: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    execute = type(shop).execute

    def recorded(self: Database, statement: ReadStatement, **more: Any) -> ExecutionResult:
        sent.append(statement.sql)
        return execute(self, statement, **more)

    monkeypatch.setattr(type(shop), "execute", recorded)
    server.script(step("generate_sql", RIGHT), step("finish"))

    _, answer = await asked(ask, model)

    assert answer.status == "success"
    assert sum("JOIN cities AS t ON t.id" in sql for sql in sent) == 1  # the second opinion writes its own


async def test_what_does_not_exist_has_to_be_repaired_before_anything_runs(
    server: OpenAIServer, model: OpenAIModel, ask: Run
) -> None:
    server.script(
        step("generate_sql", "SELECT nam FROM customers"),
        step("run_sql"),
        step("repair_sql", RIGHT),
        step("finish"),
    )

    events, answer = await asked(ask, model)

    assert steps(events)[3:7] == [
        ("generate_sql", True),
        ("validate_sql", False),
        ("run_sql", False),
        ("repair_sql", True),
    ]
    assert answer.sql == RIGHT
    assert "column nam (nearest: name" in server.requests[1].prompt
    assert "'run_sql' is not allowed now; allowed: repair_sql." in server.requests[2].prompt


async def test_a_statement_that_writes_never_runs(server: OpenAIServer, model: OpenAIModel, ask: Run) -> None:
    drop = step("generate_sql", "DROP TABLE customers")
    two = step("repair_sql", "DELETE FROM customers; SELECT 1")
    server.script(drop, two, step("repair_sql", RIGHT), step("finish"))

    events, answer = await asked(ask, model)

    assert [ok for tool, ok in steps(events) if tool == "validate_sql"] == [False, False, True]
    assert [tool for tool, _ in steps(events)].count("run_sql") == 1
    assert len(answer.rows) == 2


async def test_advice_may_be_overruled(server: OpenAIServer, model: OpenAIModel, ask: Run) -> None:
    with_key = RIGHT.replace("c.name FROM", "c.id, c.name FROM")
    server.script(step("generate_sql", with_key), step("run_sql"), step("finish"))

    _, answer = await asked(ask, model)

    assert "id columns: The query returns id" in server.requests[1].prompt
    assert answer.sql == with_key


@pytest.mark.parametrize("garbage", ["", "I would look at the customers.", '{"tool": 7}', '{"thought": "', "[1, 2]"])
async def test_garbage_costs_steps_and_then_a_plain_query_is_asked_for(
    server: OpenAIServer, model: OpenAIModel, ask: Run, garbage: str
) -> None:
    def reply(request: Any) -> Reply:
        stepping = "Allowed now" in request.prompt
        return completion(garbage if stepping else {"reasoning": "plain", "sql": RIGHT})

    server.otherwise = reply
    events, answer = await asked(ask, model)

    assert [ok for _, ok in steps(events)][3:] == [False] * 3
    assert answer.sql == RIGHT
    assert answer.attempts[0].reasoning.endswith("→ a plain query")


async def test_a_model_that_never_finishes_gets_its_last_query_that_ran(
    server: OpenAIServer, model: OpenAIModel, ask: Run
) -> None:
    count = iter(range(1, 100))

    def reply(request: Any) -> Reply:
        if "repair_sql" in request.prompt.rpartition("<allowed>")[2]:
            return step("repair_sql", f"{RIGHT} AND c.id < {1000 + next(count)}")
        return step("generate_sql", RIGHT)

    server.otherwise = reply
    _, answer = await asked(ask, model)

    assert len(server.requests) == OWN_STEPS
    assert answer.rows
    assert "The steps ended" in answer.attempts[0].reasoning


async def test_an_endpoint_that_goes_away_after_a_run_leaves_the_answer(
    server: OpenAIServer, model: OpenAIModel, ask: Run
) -> None:
    server.script(completion(f"```sql\n{RIGHT}\n```"))  # SQL alone is taken as the query
    server.otherwise = error(401, "no")

    _, answer = await asked(ask, model)
    _, without = await asked(ask, model)

    assert (answer.sql, answer.status) == (RIGHT, "success")
    assert (without.status, without.error_kind) == ("error", "model_auth")


async def test_time_that_runs_out_after_a_run_leaves_the_answer(
    server: OpenAIServer, model: OpenAIModel, ask: Run
) -> None:
    server.script(step("generate_sql", RIGHT))
    server.otherwise = completion({"thought": "late", "tool": "finish", "sql": ""}, delay=30.0)

    _, answer = await asked(ask, model, run_seconds=4.0)

    assert answer.sql == RIGHT
    assert sorted(answer.rows) == [["Bo"], ["Chloé"]]


async def test_masked_rows_never_reach_the_model(server: OpenAIServer, model: OpenAIModel, ask: Run) -> None:
    question = "What are the names of our customers?"
    server.script(step("generate_sql", "SELECT name FROM customers"), step("finish"))

    _, answer = await ask(question, model, strategy="react", privacy="masked")

    assert len(answer.rows) == 4
    sent = json.dumps(server.bodies)
    assert "4 rows" in sent
    assert not any(name in sent for name in ("Chlo", "Ana", "Dai", "Lyon"))


def test_nothing_runs_unchecked() -> None:
    """Every way to `run_sql` leads over both checks, and none skips the schema."""
    for tool in get_args(Tool):
        for ok in (True, False):
            if "run_sql" in following(tool, ok):
                assert tool == "validate_constraints"
            if "validate_constraints" in following(tool, ok):
                assert (tool, ok) == ("validate_sql", True)
            if "finish" in following(tool, ok):
                assert (tool, ok) == ("run_sql", True)
    for tool, ok in product(WRITES, (True,)):
        assert following(tool, ok) == ("validate_sql",)
    assert following(None, True) == ("get_schema",)
    assert {after for edges in EDGES.values() for after in edges} == set(get_args(Tool))


@pytest.mark.parametrize(("question", "message"), rows("react/constraints.jsonl"))
def test_constraints_are_read_off_the_question(question: str, message: list[str]) -> None:
    sentences = list(constraints(read_intent(question)))

    assert [one for one in message if one not in sentences] == []
