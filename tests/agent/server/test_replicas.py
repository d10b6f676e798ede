"""Two servers on one state: each shows, resumes and cancels the runs of the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.server.runs import registry as live_runs
from agent.store.records import RunRecord
from agent.store.runs import RunStore
from tests.agent.server.running import (
    Running,
    model_at,
    raw_query,
    read_until,
    run_and_thread,
    running,
    scripted,
    settings_for,
    wait_until,
)
from tests.openai_server import OpenAIServer

QUESTION = "How many customers are there?"
Two = tuple[Running, Running]


@pytest.fixture
def two(tmp_path: Path, endpoint: OpenAIServer, shop_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Two]:
    monkeypatch.setattr(live_runs, "PULSE_SECONDS", 0.2)
    config = settings_for(tmp_path, **model_at(endpoint), TEXT2SQL_DB_PATH=shop_file)
    with running(config) as one, running(config) as other:
        yield one, other


def test_a_run_is_cancelled_through_the_other_server(two: Two, endpoint: OpenAIServer) -> None:
    one, other = two
    endpoint.otherwise = scripted("SELECT 1", plan_delay=30)
    with raw_query(one.port, {"question": QUESTION}) as connection:
        run_id, _ = run_and_thread(read_until(connection, b'"event":"run"'))
        endpoint.arrived.wait(10)

        assert other.post(f"/runs/{run_id}/cancel").json() == {"status": "cancelled"}
        assert b'"kind":"cancelled"' in read_until(connection, b'"event":"done"')

    assert endpoint.disconnected.wait(5)
    assert one.get(f"/runs/{run_id}").json()["status"] == "cancelled"


def test_a_dead_servers_run_is_interrupted(two: Two, endpoint: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = two
    endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers", plan_delay=30)
    from agent.store import Store

    async def silent(*_: object, **__: object) -> int:
        return 0

    begin = RunStore.begin_turn

    async def short_lease(self: RunStore, *given: object, **named: object) -> RunRecord:
        return await begin(self, *given, **{**named, "lease_seconds": 0.3})  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "renew", silent)
    monkeypatch.setattr(RunStore, "begin_turn", short_lease)
    with raw_query(one.port, {"question": QUESTION}) as connection:
        run_id, _ = run_and_thread(read_until(connection, b'"event":"run"'))
        wait_until(lambda: other.get(f"/runs/{run_id}").json()["status"] == "interrupted")
        first, second = (other.get(f"/runs/{run_id}/events").text for _ in range(2))
        assert first == second  # the ending is written once, whoever asks
        assert first.count('"kind":"interrupted"') == first.count('"event":"done"') == 1
        numbers = [int(line.removeprefix("id: ")) for line in first.splitlines() if line.startswith("id: ")]
        assert numbers == list(range(1, len(numbers) + 1))
        for seen in (numbers[-1], numbers[-1] + 91):
            ended = other.get(f"/runs/{run_id}/events", headers={"Last-Event-ID": str(seen)})
            assert ended.status_code == 204  # or a browser would reconnect for ever
        rest = other.get(f"/runs/{run_id}/events", headers={"Last-Event-ID": str(numbers[0])}).text
        assert rest
        assert first.endswith(rest)
        monkeypatch.setattr(RunStore, "begin_turn", begin)
        endpoint.otherwise = scripted("SELECT COUNT(*) FROM customers")
        again = other.stream("POST", f"/runs/{run_id}/again")

        assert again.of("answer")[0]["rows"] == [[4]]
