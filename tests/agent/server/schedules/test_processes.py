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
from agent.store import open_store
from agent.store.base import MOST
from agent.store.records import DeliveryRecord, ScheduleRecord
from agent.store.tables import deliveries
from tests.agent.server.processes import started
from tests.agent.server.test_workers import pids
from tests.receivers import Webhook
from tests.waiting import becomes

COUNT = 200


@pytest.mark.slow
async def test_a_killed_worker_sends_nothing_twice(
    postgres_url: str, tmp_path: Path, hook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything arrives once, but what is told as in doubt."""
    monkeypatch.setitem(MOST, ScheduleRecord, COUNT)
    state: dict[str, Any] = {"TEXT2SQL_STATE_URL": postgres_url, "TEXT2SQL_SECRET": "a secret of the tests"}
    folder: dict[str, Any] = {"TEXT2SQL_STATE_DIR": str(tmp_path / "state")}
    with started(tmp_path, "--workers", "2", TEXT2SQL_WEBHOOK_HOSTS="127.0.0.1", **state) as (process, port, _):
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            asked = {"preset": "shop", "sql": "SELECT COUNT(*) AS n FROM customers"}
            run_id = (await client.post("/sql", json=asked)).json()["run_id"]
            kept = (await client.post("/kept", json={"run_id": run_id})).json()["kept_id"]
        store = await open_store(StateSettings(_env_file=None, **state, **folder))
        now = datetime.now(UTC)
        due: dict[str, Any] = {"next_run": now + timedelta(seconds=2), "created": now, "seen": now, "owner": "local"}
        due |= {"kept_id": kept, "cron": "0 0 1 1 *", "zone": "UTC", "channel": "json", "recipients": []}
        for number in range(COUNT):
            one = {"schedule_id": f"s{number}", "title": f"{number}", "webhook": store.sealed(hook.url)}
            await store.add(ScheduleRecord(**due, **one))
        assert await asyncio.to_thread(becomes, lambda: len(hook.posts) > COUNT // 5, 120)
        os.kill(pids(process)[0], signal.SIGKILL)
        query = deliveries.select().with_only_columns(*list(deliveries.c)[:10])
        states: Counter[str] = Counter()
        for _ in range(720):
            records = await store._all(DeliveryRecord, query)
            states = Counter(record.state for record in records)
            if states["sent"] + states["in doubt"] == COUNT:
                break
            await asyncio.sleep(0.25)
        await store.close()

    assert states["sent"] + states["in doubt"] == states.total() == COUNT, states
    assert states["in doubt"] <= AT_ONCE
    arrived = Counter(post.body["id"] for post in hook.posts)
    assert max(arrived.values()) == 1
    assert {r.delivery_id for r in records if r.state == "sent"} <= arrived.keys()
    assert arrived.keys() <= {r.delivery_id for r in records}
