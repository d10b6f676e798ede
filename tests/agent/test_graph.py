"""The whole state machine over a real database, with a model whose replies the test writes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.config import Settings
from agent.events import DoneEvent, ErrorEvent, Event, NodeEvent, PlanEvent, RetryEvent, TokenEvent
from agent.models.protocol import (
    Judgement,
    JudgeRequest,
    ModelError,
    ModelReplyError,
    PlanReply,
    PlanRequest,
    SqlReply,
    Summary,
    SummaryRequest,
)
from agent.runner import run, stream
from agent.state import QueryPlan, QueryTask, single_task_plan
from eval.databases import open_database
from eval.databases.base import Database
from eval.databases.types import ExecutionResult
from eval.language.words import READS_ENGLISH, is_english, without_names
from eval.statement import ReadStatement
from tests.agent.conftest import Run
from tests.pairs import rows
from tests.writing import sqlite_file
from text2sql.testing import ScriptedModel

OUTAGE = ModelError("the endpoint is away")

HOW_MANY = "How many customers are there?"
COUNT = "SELECT COUNT(*) FROM customers"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n, customers AS c "
ENDLESS += "WHERE n.i = c.id"
NAMES_BY_CITY = "SELECT c.name FROM customers AS c JOIN cities AS t ON t.id = c.city_id WHERE t.name = 'Lyon'"


def retries(events: list[Event]) -> list[str]:
    return [e.data.category for e in events if isinstance(e, RetryEvent)]


def nodes_done(events: list[Event]) -> list[str]:
    return [e.node for e in events if isinstance(e, NodeEvent) and e.status == "done"]


async def test_a_right_answer_passes_at_once_and_every_step_is_seen(ask: Run) -> None:
    events, answer = await ask(HOW_MANY, ScriptedModel(COUNT, relevance=0.9))
    assert answer.status == "success"
    assert answer.rows == [[4]]
    assert answer.score >= 0.70
    assert set(answer.dimensions) == {
        "correctness", "safety", "efficiency", "completeness", "semantic_accuracy", "best_practices", "plan_quality"
    }  # fmt: skip
    before = ["schema_analyzer", "planner", "set_first_task", "query_generator"]
    assert nodes_done(events) == [*before, "executor_eval", "check_remaining", "summarizer"]
    running = [e.node for e in events if isinstance(e, NodeEvent) and e.status == "running"]
    assert running == nodes_done(events)
    assert isinstance(events[0], NodeEvent)
    assert isinstance(events[-1], DoneEvent)
    assert sum(isinstance(e, PlanEvent) for e in events) == 1
    assert "".join(e.data for e in events if isinstance(e, TokenEvent)) == answer.answer
    assert answer.tokens.calls == 4
    assert answer.tokens.cost_usd is None  # no price is known, so the cost is unknown


async def test_every_event_is_one_valid_json_object(ask: Run) -> None:
    events, answer = await ask("Show the blobs", ScriptedModel("SELECT id, payload, amount, amount FROM blobs"))
    for event in events:
        json.loads(json.dumps(json.loads(event.model_dump_json()), allow_nan=False))
    assert answer.columns == ["id", "payload", "amount", "amount"]
    assert answer.rows[0][2] == "Infinity"
    assert answer.rows[1][1] is None


EMPTY = NAMES_BY_CITY.replace("'Lyon'", "'lyon city'")
NO_ROWS = (EMPTY, "empty_result", "returned no rows")


@pytest.mark.parametrize(("first", "category", "told"), [*rows("kinds/retries.jsonl"), NO_ROWS])
async def test_a_retry_is_told_what_was_wrong(ask: Run, first: str, category: str, told: str) -> None:
    relevance = [0.1, 0.9] if category == "relevance" else 0.5
    model = ScriptedModel(first, NAMES_BY_CITY if first == EMPTY else COUNT, relevance=relevance)
    events, answer = await ask("Which customers live in Lyon?" if first == EMPTY else HOW_MANY, model)
    assert retries(events) == [category]
    assert told in model.sql_requests[1].feedback
    assert model.sql_requests[1].failed_sql == first
    assert [a.retry_category for a in answer.attempts] == [category, None]
    assert answer.rows == ([["Bo"], ["Chloé"]] if first == EMPTY else [[4]])
    assert category not in ("safety", "hallucination") or answer.attempts[0].execution_time_ms == 0.0
    assert answer.attempts[0].score < 0.70 or category != "safety"


# Giving up.


async def test_when_retries_are_used_up_the_best_attempt_is_shown_with_the_doubt_stated(ask: Run) -> None:
    wrong = ["SELECT country FROM cities", "SELECT name FROM nowhere", "DROP TABLE orders", "SELECT 1"]
    model = ScriptedModel(*wrong)
    events, answer = await ask(HOW_MANY, model)
    assert len(answer.attempts) == 4
    assert len(retries(events)) == 3
    assert answer.status == "doubtful"
    assert answer.sql == wrong[0]
    assert "The question names customers; the query reads other tables" in answer.doubts[0]
    assert answer.verdict.startswith("Likely wrong: treat this with care: The question asks how many, but")
    assert "The question names customers; the query reads other tables" in answer.verdict
    assert model.summary_requests[0].doubts == tuple(answer.doubts)


async def test_a_writer_that_repeats_itself_is_not_asked_again(ask: Run) -> None:
    events, answer = await ask(HOW_MANY, ScriptedModel("SELECT country FROM cities"))
    assert len(answer.attempts) == 2
    assert len(retries(events)) == 1


PRAISED = ["SELECT 1", "", "SELECT country FROM cities", "SELECT COUNT(*) FROM customers, orders, cities"]


@pytest.mark.parametrize("sql", [*PRAISED, "DROP TABLE customers"])
async def test_empty_praise_passes_nothing(ask: Run, sql: str) -> None:
    _, answer = await ask(HOW_MANY, ScriptedModel(sql, relevance=1.0), max_retries=0)
    assert answer.status != "success"
    assert all(a.score < 0.70 for a in answer.attempts)


# Several tasks.


def several(*tasks: QueryTask) -> QueryPlan:
    return QueryPlan(plan_type="multi-sequential", confidence=0.9, tasks=list(tasks))


async def test_tasks_run_in_dependency_order_and_see_what_came_before(ask: Run) -> None:
    names = QueryTask(id="t2", description="Names of the customers in Lyon", depends_on=["t1"])
    plan = several(names, QueryTask(id="t1", description=HOW_MANY))
    model = ScriptedModel(COUNT, NAMES_BY_CITY, plan=plan, relevance=0.9)
    events, answer = await ask("How many customers are there, and which live in Lyon?", model)
    assert [r.task.id for r in model.sql_requests] == ["t1", "t2"]
    assert [r.data for r in model.sql_requests[1].previous] == [[[4]]]
    assert [a.task_id for a in answer.attempts] == ["t1", "t2"]
    assert "set_next_task" in nodes_done(events)
    assert [r.data for r in model.summary_requests[0].results] == [[[4]], [["Bo"], ["Chloé"]]]


CIRCLE = [QueryTask(id=one, description=one, depends_on=[other]) for one, other in ("ab", "ba")]


@pytest.mark.parametrize("plan", [OUTAGE, several(), several(*CIRCLE)], ids=["outage", "no tasks", "circular"])
async def test_a_failed_or_invalid_plan_becomes_one_task(ask: Run, plan: QueryPlan | Exception) -> None:
    _, answer = await ask(HOW_MANY, ScriptedModel(COUNT, plan=plan))
    assert answer.plan.confidence == 0.0
    assert [t.description for t in answer.plan.tasks] == [HOW_MANY]
    assert answer.rows == [[4]]


# Nothing crashes.


async def test_a_model_outage_while_writing_sql_is_an_error_answer_and_is_not_retried(ask: Run) -> None:
    events, answer = await ask(HOW_MANY, ScriptedModel(OUTAGE))
    assert answer.status == "error"
    assert answer.error_kind == "model"
    assert "the endpoint is away" in answer.answer
    assert retries(events) == []
    assert [e.data.kind for e in events if isinstance(e, ErrorEvent)] == ["model"]


@pytest.mark.parametrize("unusable", [ModelReplyError("the reply held no SQL"), "SELECT FROM WHERE"])
async def test_an_unusable_reply_is_tried_again(ask: Run, unusable: str | Exception) -> None:
    events, answer = await ask(HOW_MANY, ScriptedModel(unusable, COUNT))
    assert retries(events) == ["execution_error"]
    assert answer.rows == [[4]]


async def test_a_judge_that_fails_is_neutral(ask: Run) -> None:
    _, answer = await ask(HOW_MANY, ScriptedModel(COUNT, relevance=OUTAGE))
    assert answer.attempts[0].eval_report.relevance.score == 0.5
    assert answer.status == "success"


async def test_when_the_summary_fails_the_result_is_still_told(ask: Run) -> None:
    events, answer = await ask(HOW_MANY, ScriptedModel(COUNT, summary=OUTAGE))
    assert "4" in answer.answer
    assert "".join(e.data for e in events if isinstance(e, TokenEvent)) == answer.answer


async def test_numbers_of_the_answer_that_no_result_holds_are_pointed_out(ask: Run) -> None:
    _, answer = await ask(HOW_MANY, ScriptedModel(COUNT, summary="There are 4 customers, 17 of them new."))
    assert "17" in answer.answer.rsplit("Not found in the results", 1)[1]


async def test_an_abstaining_writer_ends_the_run_with_its_reason_and_its_offers(ask: Run) -> None:
    reply = SqlReply("", "I don't know what 'weather' is here", abstained=True, alternatives=("How many cities?",))
    events, answer = await ask("What is the weather?", ScriptedModel(reply))
    assert answer.status == "abstained"
    assert answer.abstained
    assert "weather" in answer.answer
    assert "How many cities?" in answer.answer
    assert retries(events) == []
    assert not [e for e in events if isinstance(e, ErrorEvent)]


async def test_a_missing_database_is_an_error_event_and_creates_nothing(tmp_path: Path) -> None:
    missing = tmp_path / "missing.sqlite"
    events = [e async for e in stream(HOW_MANY, database=str(missing), model=ScriptedModel(COUNT))]
    assert [type(e) for e in events] == [ErrorEvent, DoneEvent]
    assert events[0].data.kind == "database"
    assert not missing.exists()


@pytest.mark.parametrize("question", ["", "   \n", "x" * 30_000])
async def test_an_unusable_question_is_an_error_event(question: str, shop: Database) -> None:
    events = [e async for e in stream(question, database=shop, model=ScriptedModel(COUNT))]
    assert [type(e) for e in events] == [ErrorEvent, DoneEvent]
    assert events[0].data.kind == "question"


# Time and cancelling.


async def test_the_run_ends_when_its_time_is_over(ask: Run) -> None:
    started = time.monotonic()
    _, answer = await ask(HOW_MANY, ScriptedModel(COUNT, seconds=30), run_seconds=0.3)
    assert time.monotonic() - started < 15  # half of what the model takes
    assert answer.status == "error"
    assert answer.error_kind == "timeout"


async def test_a_reader_that_leaves_stops_the_model_call(shop: Database, config: Settings) -> None:
    model = ScriptedModel(COUNT, seconds=30)
    events = stream(HOW_MANY, database=shop, model=model, settings=config)
    async for event in events:
        if isinstance(event, NodeEvent) and event.node == "query_generator":
            break
    await asyncio.sleep(0.05)
    await events.aclose()
    assert model.cancelled == 1


async def test_a_reader_that_leaves_stops_the_statement(shop: Database, config: Settings) -> None:
    events = stream(HOW_MANY, database=shop, model=ScriptedModel(ENDLESS), settings=config)
    async for event in events:
        if isinstance(event, NodeEvent) and event.node == "executor_eval" and event.status == "running":
            break
    await asyncio.sleep(0.1)
    await asyncio.wait_for(events.aclose(), 30)
    assert (await run(HOW_MANY, database=shop, model=ScriptedModel(COUNT), settings=config)).rows == [[4]]


async def test_a_slow_statement_is_stopped_at_its_deadline_and_reported(ask: Run) -> None:
    _, answer = await ask(HOW_MANY, ScriptedModel(ENDLESS, COUNT), query_seconds=0.3)
    assert answer.attempts[0].status == "error"
    assert answer.rows == [[4]]


# One of everything.


async def test_a_table_that_is_new_since_the_schema_was_cached_is_found(shop_file: Path, config: Settings) -> None:
    with open_database(shop_file) as database:
        await run(HOW_MANY, database=database, model=ScriptedModel(COUNT), settings=config)
        script = "CREATE TABLE suppliers (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO suppliers VALUES (1, 'Acme')"
        sqlite_file(shop_file, script)
        model = ScriptedModel("SELECT COUNT(*) FROM suppliers")
        answer = await run("How many suppliers are there?", database=database, model=model, settings=config)
        assert answer.rows == [[1]]


RIGHT = "SELECT COUNT(*) FROM orders WHERE ordered_on >= '2024-01-01' AND ordered_on < '2025-01-01'"
WRONG = "SELECT COUNT(*) FROM orders WHERE ordered_on >= '2025-01-01' AND ordered_on < '2026-01-01'"
ENGLISH = "How many orders were placed in 2024?"
ASKED = ("Wie viele Bestellungen gab es im Jahr 2024?", "¿Cuántos pedidos hay en el año 2024?", "2024年有多少订单?")


def _plan(question: str, english: str) -> PlanReply:
    plan: QueryPlan = single_task_plan(question, 0.9)
    return PlanReply(plan.model_copy(update={"in_english": english}))


@pytest.mark.parametrize(("text", "english"), rows("kinds/english.jsonl"))
def test_small_words_and_letters_tell_english(text: str, english: bool) -> None:
    assert is_english(text) is english


def test_the_names_of_a_schema_tell_no_language() -> None:
    assert not is_english("total 销量 by 城市")
    assert is_english(without_names("total 销量 by 城市", ("城市_2024", "销量")))
    assert not is_english(without_names("每个城市的销量", ("城市", "销量")))


@pytest.mark.parametrize("question", ASKED)
async def test_right_and_wrong_are_told_in_other_languages(shop: Database, config: Settings, question: str) -> None:
    async def asked(sql: str) -> Any:
        model = ScriptedModel(sql, plan=_plan(question, ENGLISH), relevance=0.9, summary="4")
        return await run(question, database=shop, model=model, settings=config), model

    right, model = await asked(RIGHT)
    wrong, _ = await asked(WRONG)
    assert right.status == "success"
    assert wrong.status == "doubtful"
    assert any("2024" in doubt for doubt in wrong.doubts)
    assert model.plan_requests[0].translate
    assert model.summary_requests[0].question == question  # the answer is in the question's language


async def test_a_restatement_that_loses_a_value_is_not_used(shop: Database, config: Settings) -> None:
    question = ASKED[0]
    model = ScriptedModel(RIGHT, plan=_plan(question, "How many orders were placed?"))
    answer = await run(question, database=shop, model=model, settings=config)
    assert answer.plan.in_english == ""


@pytest.mark.parametrize("question", ASKED)
async def test_without_a_model_english_is_asked_for(shop: Database, config: Settings, question: str) -> None:
    answer = await run(question, database=shop, model="offline", settings=config)
    assert answer.status == "abstained"
    assert READS_ENGLISH.rstrip(".") in answer.answer


ORDERS_OF_EACH = "SELECT customer_id, COUNT(*) FROM orders GROUP BY customer_id"


class PatientModel(ScriptedModel):
    """A plan brings its query along, and the judge speaks only once the summary has been begun."""

    def __init__(
        self, *sql: str, planned: str = COUNT, relevance: float | list[float] = 1.0, together: bool = True
    ) -> None:
        super().__init__(*sql, relevance=relevance, summary="There are 4 customers.")
        self.planned = planned
        self.together = together
        self.begun = asyncio.Event()

    async def plan(self, request: PlanRequest) -> PlanReply:
        reply = await super().plan(request)
        sql = self.planned if request.write_sql else ""
        task = QueryTask(id="t1", description=request.question, sql=sql)
        return PlanReply(QueryPlan(plan_type="single", confidence=0.9, tasks=[task]), reply.usage)

    async def judge(self, request: JudgeRequest) -> Judgement:
        if self.together:
            async with asyncio.timeout(60):
                await self.begun.wait()
        return await super().judge(request)

    async def summarize(self, request: SummaryRequest, on_text: Callable[[str], None] | None = None) -> Summary:
        self.begun.set()
        return await super().summarize(request, on_text)


async def test_a_simple_question_waits_for_two_calls(ask: Run) -> None:
    model = PatientModel()
    _, answer = await ask(HOW_MANY, model)
    assert (answer.status, answer.rows, answer.answer) == ("success", [[4]], "There are 4 customers. ")
    assert not model.sql_requests  # the plan brought the query, and judge and summary ran side by side
    assert (len(model.plan_requests), len(model.judge_requests), len(model.summary_requests)) == (1, 1, 1)
    assert answer.tokens.calls == 3


@pytest.mark.parametrize("switch", ["no-plan-sql", "no-summary-ahead", "no-judge"])
async def test_each_saving_can_be_switched_off(ask: Run, switch: str) -> None:
    model = PatientModel(COUNT, together=switch == "no-plan-sql")
    _, answer = await ask(HOW_MANY, model, strategy=f"standard/{switch}")
    assert answer.rows == [[4]]
    assert len(model.sql_requests) == (switch == "no-plan-sql")
    assert len(model.judge_requests) == (switch != "no-judge")


async def test_a_summary_of_a_query_that_does_not_pass_is_never_shown(ask: Run) -> None:
    model = PatientModel(COUNT, planned=ORDERS_OF_EACH, relevance=[0.0, 1.0])
    events, answer = await ask(HOW_MANY, model)
    assert answer.rows == [[4]]
    assert "".join(event.data for event in events if event.event == "token") == answer.answer
    assert [request.results[0].sql for request in model.summary_requests] == [ORDERS_OF_EACH, COUNT]
    assert model.sql_requests[0].failed_sql == ORDERS_OF_EACH


async def test_the_sql_is_there_and_nothing_was_executed(shop: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    executed: list[str] = []
    execute = type(shop).execute

    def recorded(self: Database, statement: ReadStatement, **options: Any) -> ExecutionResult:
        executed.append(statement.sql)
        return execute(self, statement, **options)

    monkeypatch.setattr(type(shop), "execute", recorded)

    answer = await run(
        "How many cities?", database=shop, model=ScriptedModel("SELECT COUNT(*) FROM cities -- all"), execute=False
    )

    assert answer.sql == "SELECT COUNT(*) FROM cities"
    assert answer.rows == []
    assert [sql for sql in executed if not sql.startswith("EXPLAIN ")] == []


async def test_what_may_not_run_is_still_tried_again(shop: Database) -> None:
    model = ScriptedModel("DROP TABLE cities", "SELECT nam FROM cities", "SELECT name FROM cities")

    answer = await run("Which cities?", database=shop, model=model, execute=False)

    assert [attempt.status for attempt in answer.attempts] == ["failed", "failed", "success"]
    assert answer.sql == "SELECT name FROM cities"
