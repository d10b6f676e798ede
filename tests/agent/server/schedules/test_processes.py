"""Hundreds of schedules in two processes, one of which is killed: nothing arrives twice, what is lost is in doubt."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.config import StateSettings
from agent.server.schedules.scheduler import AT_ONCE
from agent.store import Store, open_store
from agent.store.base import MOST
from agent.store.records import DeliveryRecord, ScheduleRecord
from agent.store.tables import deliveries
from tests.agent.server.processes import started
from tests.agent.server.test_workers import pids
from tests.receivers import Webhook
from tests.waiting import becomes

SECRET = "a secret of the tests"
COUNT = 200
ENDED = ("sent", "in doubt")


def keep(port: int) -> str:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        run = client.post("/sql", json={"preset": "shop", "sql": "SELECT COUNT(*) AS n FROM customers"}).json()
        return str(client.post("/kept", json={"run_id": run["run_id"]}).json()["kept_id"])


async def plan(store: Store, kept_id: str, hook: Webhook, count: int) -> None:
    """So many schedules that are due now."""
    now = datetime.now(UTC)
    for number in range(count):
        await store.add(
            ScheduleRecord(
                schedule_id=f"s{number}", owner="local", title=f"{number}", kept_id=kept_id, cron="0 0 1 1 *",
                zone="UTC", channel="json", recipients=[], webhook=store.sealed(hook.url), seen=now, created=now,
                next_run=now + timedelta(seconds=2),
            )
        )  # fmt: skip


async def told(store: Store) -> list[DeliveryRecord]:
    return await store._all(DeliveryRecord, deliveries.select().with_only_columns(*list(deliveries.c)[:10]))


async def settled(store: Store, count: int, seconds: float) -> list[DeliveryRecord]:
    for _ in range(int(seconds * 4)):
        records = await told(store)
        if len(records) == count and all(record.state in ENDED for record in records):
            return records
        await asyncio.sleep(0.25)
    raise AssertionError(f"left over: {Counter(record.state for record in await told(store))}")


def nothing_twice(records: list[DeliveryRecord], hook: Webhook) -> Counter[str]:
    """Everything arrived once, but what is told as in doubt."""
    arrived = Counter(post.body["id"] for post in hook.posts)
    assert max(arrived.values()) == 1
    by_state: Counter[str] = Counter(record.state for record in records)
    assert {r.delivery_id for r in records if r.state == "sent"} <= arrived.keys()
    assert by_state["in doubt"] <= AT_ONCE
    assert arrived.keys() <= {r.delivery_id for r in records}
    return by_state


@pytest.mark.slow
async def test_a_killed_worker_sends_nothing_twice(
    postgres_url: str, tmp_path: Path, hook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MOST, ScheduleRecord, COUNT)
    state: dict[str, Any] = {"TEXT2SQL_STATE_URL": postgres_url, "TEXT2SQL_SECRET": SECRET}
    folder: dict[str, Any] = {"TEXT2SQL_STATE_DIR": str(tmp_path / "state")}
    with started(tmp_path, "--workers", "2", TEXT2SQL_WEBHOOK_HOSTS="127.0.0.1", **state) as (process, port, _):
        kept = await asyncio.to_thread(keep, port)
        store = await open_store(StateSettings(_env_file=None, **state, **folder))
        await plan(store, kept, hook, COUNT)
        assert await asyncio.to_thread(becomes, lambda: len(hook.posts) > COUNT // 5, 120)
        os.kill(pids(process)[0], signal.SIGKILL)
        records = await settled(store, COUNT, 180)
        await store.close()

    by_state = nothing_twice(records, hook)
    assert by_state["sent"] >= COUNT - AT_ONCE
    assert len({post.body["id"] for post in hook.posts}) >= COUNT - AT_ONCE
