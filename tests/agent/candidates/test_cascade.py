"""A cascade: the built-in engine first, then a model with short repairs, then samples; evidence chooses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.candidates.choice import Candidate, Ran, choose, labelled
from agent.candidates.live import FORBIDDEN, UNREAD, Answer, estimates, evidence_of
from agent.config import Settings
from agent.models.openai import OpenAIModel
from agent.models.protocol import Endpoint, ModelUnavailable, SqlReply
from agent.runner import run
from agent.runtime.attempts import best_attempt
from agent.sources.structure import written_for
from agent.state import QueryResult
from agent.strategies import strategy
from eval.databases import open_database
from eval.databases.base import Database
from eval.databases.types import ExecutionResult
from eval.examination import Query, examine
from tests.agent.conftest import Run
from tests.jsonl import read_lines
from tests.openai_server import OpenAIServer, Reply, Request, completion, error
from tests.pairs import FIXTURES
from tests.settings import overridden
from tests.writing import sqlite_file
from text2sql.testing import ScriptedModel

HOW_MANY = "How many customers are there?"
IN_LYON = "Who among the customers has a home down in Lyon?"
LYON = "SELECT c.name FROM customers AS c JOIN cities AS t ON t.id = c.city_id WHERE t.name = 'Lyon'"


def at(endpoint: OpenAIServer) -> OpenAIModel:
    return OpenAIModel(Endpoint("m", base_url=endpoint.url, seconds=20.0))


def fenced(sql: str) -> Reply:
    return completion(f"```sql\n{sql};\n```")


async def test_what_the_engine_surely_reads_asks_no_model(ask: Run) -> None:
    model = ScriptedModel("SELECT name FROM cities")
    _, answer = await ask(HOW_MANY, model, strategy="cascade")
    assert (answer.rows, answer.status) == ([[4]], "success")
    assert answer.reason.startswith("Read without the model: ")
    assert (len(model.plan_requests), len(model.sql_requests), len(model.judge_requests)) == (0, 0, 0)
    assert (strategy("small").name, strategy("small/retries=2").retries) == ("cascade", 2)
    assert not strategy("cascade/no-cascade").cascade


async def test_all_questions_share_the_prompt_up_to_the_question(ask: Run, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = fenced(LYON)
    model = at(endpoint)
    for question in (IN_LYON, "Which of them folks ever bought stuff twice?"):
        await ask(question, model, strategy="cascade")
    asked = [r.body["messages"] for r in endpoint.requests if "messages" in r.body]
    systems = {messages[0]["content"] for messages in asked}
    assert len(systems) == 1
    assert "CREATE TABLE customers" in systems.pop()
    assert all(messages[0]["role"] == "system" and messages[1]["role"] == "user" for messages in asked)


async def test_a_wrong_column_goes_back_with_the_table_that_has_it(ask: Run, endpoint: OpenAIServer) -> None:
    wrong = "SELECT name, total FROM customers"
    replies = iter([wrong, "SELECT c.name, o.total FROM customers c JOIN orders o ON o.customer_id = c.id"])

    def reply(_: Request) -> Reply:
        return fenced(next(replies, LYON))

    endpoint.otherwise = reply
    await ask("Folks and whatever they paid us, each time?", at(endpoint), strategy="cascade")
    second = [r.body["messages"] for r in endpoint.requests if "messages" in r.body][1]
    assert second[2] == {"role": "assistant", "content": f"```sql\n{wrong}\n```"}
    assert "There is no column total" in second[3]["content"]
    assert "orders (join it by orders.customer_id = customers.id)" in second[3]["content"]


@pytest.mark.parametrize("privacy", ["masked", "schema"])
async def test_no_value_reaches_a_model_that_may_see_none(ask: Run, endpoint: OpenAIServer, privacy: str) -> None:
    endpoint.otherwise = fenced("SELECT name FROM cities WHERE name = 'lyo'")
    await ask("Who lives in lyon town by the way?", at(endpoint), strategy="cascade", privacy=privacy)
    assert endpoint.requests
    assert all("Lyon" not in request.prompt for request in endpoint.requests)


@pytest.mark.parametrize("question", ["Cancel all orders of Bo", "Please mark the orders as paid", "hello there"])
async def test_what_asks_for_no_rows_asks_no_model(ask: Run, question: str) -> None:
    model = ScriptedModel(LYON)
    _, answer = await ask(question, model, strategy="cascade")
    assert (answer.status, answer.rows, len(model.sql_requests)) == ("abstained", [], 0)


async def test_a_relative_period_alone_is_told_with_its_dates(ask: Run, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = fenced(LYON)
    model = at(endpoint)
    for question in ("Any folks who bought stuff last year?", IN_LYON):
        await ask(question, model, strategy="cascade")
    asked = [r.body["messages"][1]["content"] for r in endpoint.requests if "messages" in r.body]
    assert '"last year" is from ' in asked[0]
    assert not any('" is from ' in text for text in asked if "Lyon" in text)


async def test_a_retry_shows_the_last_query_and_what_was_wrong_with_it(ask: Run, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = fenced("SELECT name FROM customers WHERE id < 0")
    await ask("Which of them shoppers are called 'Zed'?", at(endpoint), strategy="cascade/no-engine/retries=1")
    last = endpoint.requests[-1].body["messages"]
    assert last[2]["content"] == "```sql\nSELECT name FROM customers WHERE id < 0\n```"
    assert last[3]["content"].startswith("The query ran but returned no rows.")


async def test_without_the_model_the_engine_answers_and_says_so(ask: Run) -> None:
    quota = ModelUnavailable("You exceeded your current quota.")
    _, answer = await ask("List the customers by name, will you, from Lyon", ScriptedModel(quota), strategy="cascade")
    assert answer.error_kind is None
    assert any("the built-in engine answers without it" in doubt and "quota" in doubt for doubt in answer.doubts)


async def test_words_that_are_found_nowhere_are_told_with_the_models_query(ask: Run) -> None:
    _, answer = await ask("Which customer is a zorg?", ScriptedModel(LYON), strategy="cascade")
    assert (answer.not_understood, answer.status) == (["zorg"], "doubtful")


@pytest.fixture
def cascade(config: Settings) -> Settings:
    return overridden(config, strategy="cascade")


@pytest.fixture
def tables(shop: Database) -> Iterator[Database]:
    """The shop's tables without a row, as an evaluator sends them."""
    with written_for(shop, "sqlite") as made:
        yield made


@pytest.mark.parametrize("case", read_lines(FIXTURES / "candidates/without_rows.jsonl"), ids=lambda case: case["why"])
async def test_without_rows_the_engine_repairs_and_rules_still_work(
    tables: Database, cascade: Settings, endpoint: OpenAIServer, case: dict[str, Any]
) -> None:
    left = iter(case["replies"])
    endpoint.otherwise = lambda _: fenced(next(left, case["replies"][-1]))
    answer = await run(case["question"], database=tables, model=at(endpoint), settings=cascade)
    assert (answer.executed, answer.sql, len(endpoint.requests)) == (False, case["sql"], case["calls"])
    assert not case["told"] or case["told"] in endpoint.requests[1].prompt


async def test_without_rows_a_doubtful_reading_stands_where_nothing_compiles(
    tables: Database, cascade: Settings, endpoint: OpenAIServer
) -> None:
    endpoint.otherwise = fenced("SELECT zzz FROM qqq")
    answer = await run("customers by town and whatever", database=tables, model=at(endpoint), settings=cascade)
    assert "customers" in answer.sql
    assert len(endpoint.requests) == 2


async def test_a_failed_model_offers_what_the_engine_would_run(ask: Run, endpoint: OpenAIServer) -> None:
    endpoint.otherwise = error(401, "Incorrect API key provided.")
    _, answer = await ask(HOW_MANY, at(endpoint))
    assert (answer.status, answer.error_kind, answer.rows) == ("error", "model_auth", [])
    assert "COUNT(*)" in answer.attempts[-1].guess
    assert "Without the model, the built-in engine would run this." in answer.answer


async def test_a_query_that_the_model_declined_is_no_failure_of_the_model(ask: Run) -> None:
    declined = SqlReply("", "There is no such table.", abstained=True)
    _, answer = await ask(HOW_MANY, ScriptedModel(declined))
    assert answer.abstained
    assert "Without the model" not in answer.answer


COUNT = "SELECT COUNT(*) FROM customers"
NAMES = "SELECT name FROM customers"
QUESTION = "How many customers are there?"


@pytest.fixture
def firm(tmp_path: Path) -> Database:
    rows = "INSERT INTO customers VALUES (1, 'Ana'), (2, 'Bo'), (3, 'Cy')"
    script = f"CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); {rows}"
    return open_database(sqlite_file(tmp_path / "firm.sqlite", script))


def answer(firm: Database, place: int, sql: str, engine: float | None = None, *, superseded: bool = False) -> Answer:
    ran = evidence_of(examine(Query(QUESTION, sql), firm, schema=firm.schema()))
    assert ran is not None
    return Answer(place, ran, engine is not None, superseded, engine)


def test_the_same_rows_are_one_result_that_engine_and_model_support(firm: Database) -> None:
    alone = estimates([answer(firm, 0, COUNT)])
    both = estimates([answer(firm, 0, COUNT, 0.7), answer(firm, 1, "SELECT COUNT(id) AS n FROM customers")])
    assert len(both) == 1
    assert both[0].probability > alone[0].probability


def test_one_that_shows_the_same_and_more_supports_it(firm: Database) -> None:
    """Names, and names beside their numbers: who asked for names finds them in both."""
    more = "SELECT id, name FROM customers"
    beside_less, beside_other = (
        {e.place: e for e in estimates([answer(firm, 0, more), answer(firm, 1, sql)])}[0] for sql in (NAMES, COUNT)
    )
    assert (beside_less.features["share_within"], beside_other.features["share_within"]) == (0.5, 0.0)
    assert beside_less.probability > beside_other.probability
    engine = {e.place: e for e in estimates([answer(firm, 0, NAMES, 0.7), answer(firm, 1, more)])}
    assert engine[1].features["engine_within"] == 1.0


def test_a_query_that_was_sent_back_votes_for_nothing(firm: Database) -> None:
    (only, *_) = estimates([answer(firm, 0, NAMES, superseded=True), answer(firm, 1, COUNT)])
    assert (only.place, only.agreeing) == (1, None)


def test_what_contradicts_the_question_is_not_believed(firm: Database) -> None:
    (only,) = estimates([answer(firm, 0, "SELECT 1")])
    assert only.probability <= FORBIDDEN


@pytest.mark.parametrize("engines", [NAMES, COUNT])
def test_nothing_is_sure_where_the_engine_finds_a_word_nowhere(firm: Database, engines: str) -> None:
    """Also where both say the same: `unpaid invoices` may be all invoices to both."""
    engine = replace(answer(firm, 0, engines, 0.3), unread=1)
    models = [answer(firm, place, COUNT) for place in (1, 2, 3)]
    assert all(e.probability <= UNREAD for e in estimates([engine, *models]))


def ran(sql: str, *rows: tuple[object, ...], probability: float = 0.5, ordered: bool = False, system: str = "") -> Ran:
    columns = tuple(f"c{i}" for i in range(len(rows[0]) if rows else 1))
    return Ran(Candidate(system, sql), sql, probability, ExecutionResult("success", columns, rows), ordered)


def attempt(number: int, score: float, status: str = "success", rows: int = 1, **fields: object) -> QueryResult:
    given = {"task_id": "t", "attempt": number, "sql": f"SELECT {number}", "score": score, "status": status}
    return QueryResult.model_validate(given | {"rows_returned": rows} | fields)


def test_results_are_the_same_in_any_order_of_rows_unless_one_query_orders() -> None:
    one, other = ran("a", (1,), (2,)), ran("b", (2,), (1,))
    assert len({e.result for e in labelled([one, other])}) == 1
    sorted_one = ran("a", (1,), (2,), ordered=True)
    first, second = labelled([sorted_one, other])
    assert (first.result != second.result, first.bag == second.bag) == (True, True)


def test_what_more_return_is_likelier_and_better_evidence_outweighs_it() -> None:
    several = [ran("a", (1,)), ran("bb", (1,)), ran("cc", (2,))]
    choice = choose(labelled(several), 3)
    assert (choice.candidate.sql, choice.agreeing) == ("a", 2)
    doubtful = [ran("a", (1,), probability=0.1), ran("bb", (1,), probability=0.1), ran("cc", (2,), probability=0.97)]
    choice = choose(labelled(doubtful), 3)
    assert choice.candidate.sql == "cc"


def test_candidates_that_did_not_run_count_against_those_that_did() -> None:
    one = labelled([ran("a", (1,))])
    alone, among_broken = choose(one, 1), choose(one, 5)
    assert alone.probability > among_broken.probability
    assert choose((), 3) is None


def test_an_attempt_that_was_preferred_stands_whatever_the_scores_of_the_others() -> None:
    rivals = [attempt(1, 0.95), attempt(2, 0.80)]
    chosen = attempt(3, 0.75, replaces=[1, 2])
    assert best_attempt("t", [*rivals, chosen]) == chosen
    retried = attempt(4, 0.90)
    assert best_attempt("t", [*rivals, chosen, retried]) == retried
