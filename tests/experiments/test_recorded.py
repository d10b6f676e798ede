"""The agent on recorded answers: in fair weather and foul, replayed with figures; a recording holds no key."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.config import Settings
from agent.models.failures import RetryPolicy
from agent.models.openai import OpenAIModel
from agent.models.protocol import Endpoint
from agent.models.quirks import forget
from agent.runner import run
from eval.databases import open_database
from eval.databases.base import Database
from experiments.recorded.answers import SUMMARY, Answers, load_answers
from experiments.recorded.chat import Sent
from experiments.recorded.exchanges import Recorder
from experiments.recorded.faults import Faults
from experiments.recorded.proxy import HIDDEN, RecordingProxy
from experiments.recorded.server import application, running
from experiments.replay.__main__ import replay_questions
from experiments.replay.recorded import Attempt, Replayed, by_category, by_difficulty, tally
from tests.jsonl import write_lines
from tests.openai_server import OpenAIServer, completion, error
from tests.pairs import FIXTURES
from tests.writing import sqlite_file

SHIPS = """
CREATE TABLE ships (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tons REAL NOT NULL);
INSERT INTO ships (name, tons) VALUES ('Ida', 4.5), ('Bo', 12.0), ('Ra', 30.0);
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    folder = tmp_path / "harbour"
    (folder / "databases").mkdir(parents=True)
    sqlite_file(folder / "databases" / "port.sqlite", SHIPS)
    shutil.copy(FIXTURES / "experiments/replayed_questions.jsonl", folder / "questions.jsonl")
    return folder


def test_retries_get_the_next_system_and_the_figures_say_what_they_brought(bench: Path) -> None:
    recorded = FIXTURES / "experiments/replayed_answers.jsonl"
    items = replay_questions(bench, recorded, ["weak", "strong"], Settings(_env_file=None))

    assert [i.id for i in items] == ["q1", "q2", "q3"]
    assert [[a.right for a in i.attempts] for i in items] == [[True], [False, True], [False, False, False]]
    assert [i.status for i in items] == ["success", "success", "error"]
    whole = tally(items)
    assert (whole.questions, whole.first_right, whole.final_right) == (3, 1, 2)
    assert (whole.repaired, whole.spoiled, whole.retries, whole.retried) == (1, 0, 3, 2)
    assert (whole.right_rejected, whole.wrong_passed) == (0, 0)
    assert by_category(items)["hallucination"].retries == 3
    assert by_category(items)["hallucination"].next_right == 1


def question(difficulty: str, *attempts: Attempt, final_right: bool, gold_ran: bool = True) -> Replayed:
    sql = attempts[-1].sql if attempts else ""
    return Replayed("i", "d", difficulty, gold_ran, attempts, sql, final_right, "success", "", 0.1)


def test_counts_are_over_all_questions_errors_and_bad_gold_included() -> None:
    right, wrong = Attempt("a", True, True, 0.9, None), Attempt("b", False, True, 0.8, None)
    rejected = Attempt("c", True, False, 0.5, "generic")
    items = [
        question("easy", right, final_right=True),
        question("extra", wrong, final_right=False),
        question("odd", rejected, wrong, final_right=False),
        question("easy", final_right=False, gold_ran=False),
    ]

    whole = tally(items)

    assert (whole.questions, whole.first_right, whole.final_right, whole.any_right) == (4, 2, 1, 2)
    assert (whole.repaired, whole.spoiled, whole.right_rejected, whole.wrong_passed) == (0, 1, 1, 1)
    assert (whole.gold_failed, whole.p) == (1, 1.0)
    assert list(by_difficulty(items)) == ["easy", "extra", "odd"]
    generic = by_category(items)["generic"]
    assert (generic.retries, generic.needless, generic.next_right) == (1, 1, 0)


HEAVY = "Which ships weigh more than 10 tons?"
KEY = "sk-recorded-0123456789"


@pytest.fixture
def answers(tmp_path: Path) -> Answers:
    """Two that fail, and then one that is right."""
    written = {"first": "name FROM boats WHERE tons", "second": "name FROM ships WHERE weight"}
    written["third"] = "name FROM ships WHERE tons"
    recorded = [
        {"system": system, "id": "q2", "db": "port", "sql": f"SELECT {sql} > 10"} for system, sql in written.items()
    ]
    questions = write_lines(tmp_path / "questions.jsonl", [{"id": "q2", "db": "port", "question": HEAVY}])
    return Answers(load_answers(write_lines(tmp_path / "answers.jsonl", recorded), questions))


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Database]:
    with open_database(sqlite_file(tmp_path / "port.sqlite", SHIPS)) as database:
        yield database


ModelAt = Callable[[str], OpenAIModel]


@pytest.fixture
async def model_at() -> AsyncIterator[ModelAt]:
    """Makes models for a base URL, with waits short enough for a test; closes them."""
    made: list[OpenAIModel] = []
    forget()

    def make(url: str) -> OpenAIModel:
        endpoint = Endpoint(model="m", api_key=None, base_url=url, seconds=60.0)
        made.append(OpenAIModel(endpoint, retry=RetryPolicy(first_wait=0.01, longest_wait=0.05)))
        return made[-1]

    yield make
    for model in made:
        await model.close()
    forget()


@pytest.mark.parametrize("kind", ["429", "500", "garbled", "cut"])
async def test_the_agent_survives_bad_replies(answers: Answers, port: Database, model_at: ModelAt, kind: str) -> None:
    """Plan, three queries, a judgement and a streamed summary side by side: six replies, each of which fails once."""
    faults = Nth({kind: 1.0})
    with running(application(answers, faults=faults)) as url:
        model = model_at(url)
        for number in range(1, 7):
            faults.sent, faults.number = 0, number
            heavy = await run(HEAVY, database=port, model=model)

            assert faults.sent >= 6
            assert heavy.rows == [["Bo"], ["Ra"]], (number, heavy)
            assert len(heavy.attempts) == 3
            assert SUMMARY in heavy.answer or (kind == "garbled" and number >= 5)


class Nth(Faults):
    """Spoils one reply only, counted from 1."""

    def __init__(self, shares: dict[str, float]) -> None:
        super().__init__(shares, retry_after=0.02)
        self.sent, self.number = 0, 1

    def befall(self, request: bytes, sent: Sent) -> Sent:
        self.sent += 1
        return super().befall(request, sent) if self.sent == self.number else sent


@contextmanager
def recording_of(url: str, file: Path) -> Iterator[str]:
    with Recorder(file) as recorder, running(RecordingProxy(url, recorder).application()) as proxy:
        yield proxy


def test_the_server_gets_the_key_and_the_recording_does_not(tmp_path: Path) -> None:
    def post(url: str) -> int:
        asked: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
        headers = {"authorization": f"Bearer {KEY}"}
        return httpx.post(f"{url}/chat/completions", json=asked, headers=headers, trust_env=False).status_code

    with OpenAIServer() as upstream:
        upstream.script(completion("hello"), error(401, f"Incorrect API key provided: {KEY}"))
        with recording_of(upstream.url, tmp_path / "run.jsonl") as url:
            statuses = [post(url), post(url)]

    assert statuses == [200, 401]
    assert [r.headers["authorization"] for r in upstream.requests] == [f"Bearer {KEY}"] * 2
    kept = (tmp_path / "run.jsonl").read_text()
    assert KEY not in kept
    assert "authorization" not in kept.lower()
    assert f"provided: {HIDDEN}" in json.loads(kept.splitlines()[2])["body"]
