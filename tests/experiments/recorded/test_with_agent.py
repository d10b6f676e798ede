"""The whole agent over HTTP on recorded answers, in fair weather and foul."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.runner import run
from eval.databases.base import Database
from experiments.recorded.answers import SUMMARY, Answers, load_answers
from experiments.recorded.chat import Sent
from experiments.recorded.faults import Faults
from experiments.recorded.server import application, running
from tests.experiments.recorded.conftest import ANSWERS, COUNT, HEAVY, ModelAt

RIGHT = ANSWERS[-1]["sql"]


@contextmanager
def server_of(recording: Path, questions: Path, faults: Faults | None = None) -> Iterator[str]:
    with running(application(Answers(load_answers(recording, questions)), faults=faults)) as url:
        yield url


async def test_attempts_get_recorded_answers_until_one_passes(
    recording: Path, questions: Path, port: Database, model_at: ModelAt
) -> None:
    with server_of(recording, questions) as url:
        counted = await run(COUNT, database=port, model=model_at(url))
        heavy = await run(HEAVY, database=port, model=model_at(url))

    assert (counted.rows, len(counted.attempts), counted.status) == ([[3]], 1, "success")
    assert [a.sql for a in heavy.attempts] == [a["sql"] for a in ANSWERS[3:]]
    assert [a.retry_category for a in heavy.attempts] == ["hallucination", "hallucination", None]
    assert (heavy.rows, heavy.sql) == ([["Bo"], ["Ra"]], RIGHT)
    assert heavy.relevance == 0.5


@pytest.mark.parametrize("kind", ["429", "500", "garbled", "cut"])
async def test_the_agent_survives_whichever_reply_goes_wrong(
    recording: Path, questions: Path, port: Database, model_at: ModelAt, kind: str
) -> None:
    """Plan, three queries, a judgement and a streamed summary side by side: six replies, each of which fails once."""
    faults = Nth(1, {kind: 1.0})
    with server_of(recording, questions, faults) as url:
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

    def __init__(self, number: int, shares: dict[str, float]) -> None:
        super().__init__(shares, retry_after=0.02)
        self.sent = 0
        self.number = number

    def befall(self, request: bytes, sent: Sent) -> Sent:
        self.sent += 1
        return super().befall(request, sent) if self.sent == self.number else sent
