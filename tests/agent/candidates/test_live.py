"""Several queries from a model, and its second look at a result: over HTTP, at an endpoint that the test scripts."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from agent.events import Event, QueryResultEvent, RetryEvent, RevisionEvent
from agent.knowledge.privacy import private
from agent.models.openai import OpenAIModel
from agent.models.protocol import Endpoint as EndpointSettings
from agent.runner import stream
from agent.state import QueryResult
from eval.databases.base import Database
from tests.agent.conftest import Run
from tests.openai_server import OpenAIServer, Reply, Request, answering, asked_for, completion, error

HOW_MANY = "How many customers are there?"
COUNT = "SELECT COUNT(*) FROM customers"
ALSO_COUNT = "SELECT COUNT(id) AS customers FROM customers"
CITIES = "SELECT COUNT(*) FROM cities"
NAMES = "SELECT name FROM customers"
ALL_NAMES = "What are the names of the customers?"
IN_LYON = "Which customers live in Lyon?"
LYON = "SELECT c.name FROM customers AS c JOIN cities AS t ON t.id = c.city_id WHERE t.name = 'Lyon'"
LOWER_LYON = LYON.replace("'Lyon'", "'lyon'")


class Endpoint:
    """Replies by what is asked for; queries and reviews in order, the last one again when they run out."""

    def __init__(self, server: OpenAIServer, *sql: str | Reply, reviews: tuple[str | bool | Reply, ...] = ()) -> None:
        self.server = server
        self.answer = answering(*sql, score=0.8)
        self.reviews = reviews
        self.written: list[Request] = []
        self.reviewed: list[Request] = []
        self.two = threading.Event()
        """Set when two queries have been asked for."""
        server.otherwise = self.reply
        self.model = OpenAIModel(
            EndpointSettings("m", base_url=server.url, seconds=20.0, structured_output="json_schema")
        )

    def reply(self, request: Request) -> Reply:
        wanted = asked_for(request)
        if "accept" in wanted:
            self.reviewed.append(request)
            review = self.reviews[min(len(self.reviewed), len(self.reviews)) - 1]
            if isinstance(review, Reply):
                return review
            sql = "" if isinstance(review, bool) else review
            return completion({"reasoning": "the rows are wrong", "accept": review is True, "sql": sql})
        if "sql" in wanted and "tasks" not in wanted:
            self.written.append(request)
            if len(self.written) == 2:
                self.two.set()
        return self.answer(request)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def attempts(events: list[Event]) -> list[QueryResult]:
    return [e.data for e in events if isinstance(e, QueryResultEvent)]


def feedback(events: list[Event]) -> list[tuple[int, str]]:
    return [(e.data.attempt, e.data.category) for e in events if isinstance(e, RetryEvent)]


async def test_two_that_agree_and_leave_no_doubt_are_enough(ask: Run, server: OpenAIServer) -> None:
    endpoint = Endpoint(server, COUNT)
    events, answer = await ask(HOW_MANY, endpoint.model)
    (attempt,) = attempts(events)
    assert (len(endpoint.written), attempt.replaces, attempt.agreeing, attempt.verified) == (1, [], None, None)
    endpoint = Endpoint(server, COUNT, ALSO_COUNT)
    events, answer = await ask(HOW_MANY, endpoint.model, strategy="standard/candidates=5")
    assert len(endpoint.written) == 2
    assert answer.rows == [[4]]
    assert [a.agreeing for a in attempts(events)] == [(2, 2), (2, 2)]


async def test_where_they_differ_more_are_written_and_the_likeliest_taken(ask: Run, server: OpenAIServer) -> None:
    endpoint = Endpoint(server, CITIES, COUNT, ALSO_COUNT, NAMES)
    events, answer = await ask(HOW_MANY, endpoint.model, strategy="standard/candidates=4")
    assert answer.rows == [[4]]
    assert sorted(r.body["temperature"] for r in endpoint.written) == [0.0, 0.7, 0.7, 0.7]
    assert len({r.prompt for r in endpoint.written}) == 4
    system = {r.body["messages"][0]["content"] for r in endpoint.written}
    assert len(system) == 1  # what differs stands last, so that a provider's cache finds the rest again
    shown = attempts(events)
    assert {a.sql for a in shown} == {CITIES, COUNT, ALSO_COUNT, NAMES}
    assert [a.attempt for a in shown] == [1, 2, 3, 4]
    assert shown[-1].replaces == [1, 2, 3]
    assert shown[-1].agreeing == (2, 4)
    assert answer.sql == shown[-1].sql in (COUNT, ALSO_COUNT)
    assert (
        sum("Not judged: another candidate" in a.eval_report.relevance.reasoning for a in shown if a.eval_report) == 3
    )
    judged = [r for r in server.requests if "score" in json.dumps(r.body.get("response_format", {}))]
    assert len(judged) == 1


async def test_a_model_that_goes_away_in_between_costs_its_own_candidates_only(ask: Run, server: OpenAIServer) -> None:
    endpoint = Endpoint(server, NAMES, COUNT, error(400, "too long"), error(401, "no key"))
    events, answer = await ask(HOW_MANY, endpoint.model, strategy="standard/candidates=4")
    assert len(endpoint.written) == 4
    assert answer.rows == [[4]]
    assert len(attempts(events)) == 2


async def test_broken_and_hostile_candidates_are_shown_and_passed_over(ask: Run, server: OpenAIServer) -> None:
    endpoint = Endpoint(server, "DROP TABLE customers", "SELECT nothing FROM nowhere", "SELEC", COUNT, reviews=(True,))
    events, answer = await ask(HOW_MANY, endpoint.model, strategy="full")
    assert answer.rows == [[4]]
    assert len(endpoint.reviewed) == 1  # the chosen one
    assert [a.status for a in attempts(events)][-1] == "success"
    assert len(attempts(events)) == 4


async def test_cancelling_stops_all_candidates(shop: Database, config: Any, server: OpenAIServer) -> None:
    slow = completion({"reasoning": "", "sql": COUNT}, delay=60.0)
    endpoint = Endpoint(server, slow)
    settings = config.changed(judging={"strategy": "zero-shot/no-short/candidates=4"})

    async def asked() -> None:
        async for _ in stream(HOW_MANY, database=shop, model=endpoint.model, settings=settings):
            pass

    running = asyncio.create_task(asked())
    assert await asyncio.to_thread(endpoint.two.wait, 20)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await asyncio.to_thread(server.disconnected.wait, 10)
    await endpoint.model.close()
    assert len(endpoint.written) == 2
    others = [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]
    assert not [t for t in others if "write_sql" in repr(t) or "_one" in repr(t)]


async def test_a_revision_that_runs_takes_the_place_of_what_the_model_saw(ask: Run, server: OpenAIServer) -> None:
    endpoint = Endpoint(server, CITIES, reviews=(COUNT, True))
    events, answer = await ask(HOW_MANY, endpoint.model, strategy="verified/retries=0")
    assert answer.rows == [[4]]
    (revision,) = [e.data for e in events if isinstance(e, RevisionEvent)]
    assert (revision.attempt, revision.revises, revision.reasoning) == (2, 1, "the rows are wrong")
    assert feedback(events) == []
    assert [a.retry_category for a in answer.attempts] == [None, None]
    first, second = attempts(events)
    assert (first.sql, second.sql, second.replaces) == (CITIES, COUNT, [1])
    assert [a.verified for a in sorted(answer.attempts, key=lambda a: a.attempt)] == [False, True]


@pytest.mark.parametrize(
    "worse", ["SELECT nothing FROM nowhere", "DROP TABLE customers", "SELEC", LOWER_LYON, "SELECT 1"]
)
async def test_a_revision_that_is_worse_is_shown_and_not_taken(ask: Run, server: OpenAIServer, worse: str) -> None:
    endpoint = Endpoint(server, LYON, reviews=(worse,))
    events, answer = await ask(IN_LYON, endpoint.model, strategy="verified")
    assert answer.sql == LYON
    assert answer.rows == [["Bo"], ["Chloé"]]
    assert [a.sql for a in attempts(events)] == [LYON, worse]
    assert [r.body["temperature"] for r in endpoint.reviewed] == [0.0, 0.2]  # the second says the same and ends it


async def test_after_a_worse_revision_a_warmer_round_may_find_a_better_one(ask: Run, server: OpenAIServer) -> None:
    endpoint = Endpoint(server, CITIES, reviews=("SELECT nothing FROM nowhere", "SELECT 1", COUNT, NAMES))
    events, answer = await ask(HOW_MANY, endpoint.model, strategy="verified/verify=3/retries=0")
    assert answer.rows == [[4]]
    assert [a.sql for a in attempts(events)] == [CITIES, "SELECT nothing FROM nowhere", "SELECT 1", COUNT]
    assert attempts(events)[-1].replaces == [1]
    assert [r.body["temperature"] for r in endpoint.reviewed] == [0.0, 0.2, 0.3]
    assert answer.attempts[-1].sql == COUNT


async def test_there_are_two_rounds_at_most(ask: Run, server: OpenAIServer) -> None:
    endpoint = Endpoint(server, CITIES, reviews=(ALSO_COUNT, COUNT, "SELECT COUNT(name) FROM customers"))
    events, answer = await ask(HOW_MANY, endpoint.model, strategy="verified")
    assert len(endpoint.reviewed) == 2
    assert len(attempts(events)) == 3
    assert answer.rows == [[4]]
    endpoint = Endpoint(server, COUNT, reviews=(COUNT,))  # it says the same again
    events, answer = await ask(HOW_MANY, endpoint.model, strategy="verified")
    assert (len(endpoint.reviewed), len(attempts(events)), answer.rows) == (1, 1, [[4]])


@pytest.mark.parametrize(
    "reply", [error(401, "no key"), completion("no JSON at all"), completion({"accept": "perhaps"})]
)
async def test_a_missing_review_leaves_the_answer_as_it_is(ask: Run, server: OpenAIServer, reply: Reply) -> None:
    endpoint = Endpoint(server, COUNT, reviews=(reply,))
    _, answer = await ask(HOW_MANY, endpoint.model, strategy="verified")
    assert (answer.status, answer.rows) == ("success", [[4]])
    assert [a.verified for a in answer.attempts] == [None]


async def test_an_error_or_no_rows_get_a_targeted_retry_before_any_review(ask: Run, server: OpenAIServer) -> None:
    endpoint = Endpoint(server, LYON.replace("t.name", "t.title"), LOWER_LYON, LYON, reviews=(False, True))
    events, answer = await ask(IN_LYON, endpoint.model, strategy="verified")
    assert answer.rows == [["Bo"], ["Chloé"]]
    assert feedback(events)[0][1] == "hallucination"
    assert "title" in endpoint.written[1].prompt


async def test_masked_a_review_sees_the_shape_of_rows_and_no_value(ask: Run, server: OpenAIServer) -> None:
    endpoint = Endpoint(server, NAMES, reviews=(True,))
    _, answer = await ask(
        "What are the names of the customers?", private(endpoint.model, "masked"), strategy="verified"
    )
    assert len(answer.rows) == 4
    (request,) = endpoint.reviewed
    assert "(text, hidden)" in request.prompt
    assert not [name for name in ("Ana", "Bo\n", "Chloé", "Dai") if name in request.prompt]


async def test_where_the_model_may_see_the_schema_alone_nothing_is_reviewed(ask: Run, server: OpenAIServer) -> None:
    endpoint = Endpoint(server, NAMES)
    _, answer = await ask(ALL_NAMES, private(endpoint.model, "schema"), strategy="full")
    assert len(answer.rows) == 4
    assert endpoint.reviewed == []
    assert {a.verified for a in answer.attempts} == {None}
    assert not [r for r in server.requests if "Chloé" in r.prompt]
