"""Working in steps: the order of the tools, what a model may do wrong, its bounds; against a scripted endpoint."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from agent.events import Event, StepEvent
from agent.models.openai import OpenAIModel
from agent.models.protocol import Stepping
from agent.react import EDGES, OWN_STEPS, WRITES, Tool, constraints
from agent.runner import Answer
from eval.scoring.intent import read_intent
from tests.agent.conftest import Run
from tests.openai_server import OpenAIServer, Reply, completion, error
from tests.pairs import rows

QUESTION = "What are the names of the customers who live in Lyon?"
RIGHT = "SELECT c.name FROM customers c JOIN cities t ON t.id = c.city_id WHERE t.name = 'Lyon'"
BOUND = ["get_schema", "link_schema", "extract_constraints"]
CHECKED = ["validate_sql", "validate_constraints"]


def step(tool: str, sql: str = "", thought: str = "because") -> Reply:
    return completion({"thought": thought, "tool": tool, "sql": sql})


def steps(events: list[Event]) -> list[tuple[str, bool]]:
    return [(e.data.tool, e.data.ok) for e in events if isinstance(e, StepEvent)]


async def asked(ask: Run, model: OpenAIModel, **more: Any) -> tuple[list[Event], Answer]:
    return await ask(QUESTION, model, strategy="react/no-summary", **more)


async def test_a_query_is_written_checked_and_run(endpoint: OpenAIServer, remote: OpenAIModel, ask: Run) -> None:
    endpoint.script(step("generate_sql", RIGHT), step("finish", thought="two rows, both in Lyon"))

    events, answer = await asked(ask, remote)

    assert isinstance(remote, Stepping)
    assert [tool for tool, ok in steps(events) if ok] == [*BOUND, "generate_sql", *CHECKED, "run_sql", "finish"]
    assert (answer.status, sorted(answer.rows)) == ("success", [["Bo"], ["Chloé"]])
    assert answer.tokens.calls == 2
    assert answer.attempts[0].reasoning.startswith("two rows, both in Lyon\nSteps: get_schema → link_schema")
    last = endpoint.requests[1].prompt
    assert "<allowed>finish, repair_sql</allowed>" in last
    assert "Bo" in last
    assert "It asks for no order and no limit." in last
    allowed = endpoint.bodies[0]["response_format"]["json_schema"]["schema"]["properties"]["tool"]["enum"]
    assert allowed == ["generate_sql"]


async def test_what_is_not_there_is_repaired_first(endpoint: OpenAIServer, remote: OpenAIModel, ask: Run) -> None:
    endpoint.script(
        step("generate_sql", "SELECT nam FROM customers"), step("run_sql"), step("repair_sql", RIGHT), step("finish")
    )

    events, answer = await asked(ask, remote)

    assert steps(events)[3:7] == [
        ("generate_sql", True),
        ("validate_sql", False),
        ("run_sql", False),
        ("repair_sql", True),
    ]
    assert answer.sql == RIGHT
    assert "column nam (nearest: name" in endpoint.requests[1].prompt
    assert "'run_sql' is not allowed now; allowed: repair_sql." in endpoint.requests[2].prompt


async def test_a_statement_that_writes_never_runs(endpoint: OpenAIServer, remote: OpenAIModel, ask: Run) -> None:
    drop = step("generate_sql", "DROP TABLE customers")
    two = step("repair_sql", "DELETE FROM customers; SELECT 1")
    endpoint.script(drop, two, step("repair_sql", RIGHT), step("finish"))

    events, answer = await asked(ask, remote)

    assert [ok for tool, ok in steps(events) if tool == "validate_sql"] == [False, False, True]
    assert [tool for tool, _ in steps(events)].count("run_sql") == 1
    assert len(answer.rows) == 2


async def test_advice_may_be_overruled(endpoint: OpenAIServer, remote: OpenAIModel, ask: Run) -> None:
    with_key = RIGHT.replace("c.name FROM", "c.id, c.name FROM")
    endpoint.script(step("generate_sql", with_key), step("run_sql"), step("finish"))

    _, answer = await asked(ask, remote)

    assert "id columns: The query returns id" in endpoint.requests[1].prompt
    assert answer.sql == with_key


@pytest.mark.parametrize("garbage", ["", "I would look at the customers.", '{"tool": 7}', '{"thought": "', "[1, 2]"])
async def test_garbage_ends_in_plain_sql(endpoint: OpenAIServer, remote: OpenAIModel, ask: Run, garbage: str) -> None:
    def reply(request: Any) -> Reply:
        stepping = "Allowed now" in request.prompt
        return completion(garbage if stepping else {"reasoning": "plain", "sql": RIGHT})

    endpoint.otherwise = reply
    events, answer = await asked(ask, remote)

    assert [ok for _, ok in steps(events)][3:] == [False] * 3
    assert answer.sql == RIGHT
    assert answer.attempts[0].reasoning.endswith("→ a plain query")


async def test_one_that_never_ends_gets_its_last_query(endpoint: OpenAIServer, remote: OpenAIModel, ask: Run) -> None:
    count = iter(range(1, 100))

    def reply(request: Any) -> Reply:
        if "repair_sql" in request.prompt.rpartition("<allowed>")[2]:
            return step("repair_sql", f"{RIGHT} AND c.id < {1000 + next(count)}")
        return step("generate_sql", RIGHT)

    endpoint.otherwise = reply
    _, answer = await asked(ask, remote)

    assert len(endpoint.requests) == OWN_STEPS
    assert answer.rows
    assert "The steps ended" in answer.attempts[0].reasoning


async def test_an_endpoint_that_leaves_keeps_the_answer(endpoint: OpenAIServer, remote: OpenAIModel, ask: Run) -> None:
    endpoint.script(completion(f"```sql\n{RIGHT}\n```"))  # SQL alone is taken as the query
    endpoint.otherwise = error(401, "no")

    _, answer = await asked(ask, remote)
    _, without = await asked(ask, remote)

    assert (answer.sql, answer.status) == (RIGHT, "success")
    assert (without.status, without.error_kind) == ("error", "model_auth")


async def test_time_over_after_a_run_leaves_the_answer(endpoint: OpenAIServer, remote: OpenAIModel, ask: Run) -> None:
    endpoint.script(step("generate_sql", RIGHT))
    endpoint.otherwise = completion({"thought": "late", "tool": "finish", "sql": ""}, delay=30.0)

    _, answer = await asked(ask, remote, run_seconds=4.0)

    assert answer.sql == RIGHT
    assert sorted(answer.rows) == [["Bo"], ["Chloé"]]


async def test_masked_rows_never_reach_the_model(endpoint: OpenAIServer, remote: OpenAIModel, ask: Run) -> None:
    question = "What are the names of our customers?"
    endpoint.script(step("generate_sql", "SELECT name FROM customers"), step("finish"))

    _, answer = await ask(question, remote, strategy="react", privacy="masked")

    assert len(answer.rows) == 4
    sent = json.dumps(endpoint.bodies)
    assert "4 rows" in sent
    assert not any(name in sent for name in ("Chlo", "Ana", "Dai", "Lyon"))


def test_nothing_runs_unchecked() -> None:
    """Every way to `run_sql` leads over both checks, and none skips the schema."""
    for tool in get_args(Tool):
        for ok in (True, False):
            allowed = EDGES.get((tool, ok), ())
            if "run_sql" in allowed:
                assert tool == "validate_constraints"
            if "validate_constraints" in allowed:
                assert (tool, ok) == ("validate_sql", True)
            if "finish" in allowed:
                assert (tool, ok) == ("run_sql", True)
    assert {EDGES[tool, True] for tool in WRITES} == {("validate_sql",)}
    assert EDGES[None, True] == ("get_schema",)
    assert {after for edges in EDGES.values() for after in edges} == set(get_args(Tool))


@pytest.mark.parametrize(("question", "message"), rows("react/constraints.jsonl"))
def test_constraints_are_read_off_the_question(question: str, message: list[str]) -> None:
    sentences = list(constraints(read_intent(question)))

    assert [one for one in message if one not in sentences] == []
