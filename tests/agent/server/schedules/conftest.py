"""A server in the test's own event loop whose clock the test sets, a shop to ask, and receivers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.server.app import create_app
from agent.server.schedules.scheduler import Scheduler
from agent.server.services import Services
from tests.agent.server.running import settings_for
from tests.receivers import Mails, Webhook, mails, webhook
from tests.writing import sqlite_file

TOTAL = "SELECT SUM(total) AS total FROM orders"


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as made:
        yield made


@pytest.fixture
def post_office() -> Iterator[Mails]:
    with mails() as made:
        yield made


@dataclass
class Desk:
    """What a client of the server does, and the passing of time."""

    services: Services
    client: httpx.AsyncClient
    file: Path
    hook: Webhook
    begun: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self.now = self.begun

    def write(self, sql: str) -> None:
        sqlite_file(self.file, sql)

    async def keep(self, sql: str = TOTAL, **more: Any) -> str:
        run = await self.client.post("/sql", json={"preset": "configured", "sql": sql, "question": "How much?"})
        kept = await self.client.post("/kept", json={"run_id": run.json()["run_id"], **more})
        assert kept.status_code == 201, kept.text
        return str(kept.json()["kept_id"])

    def body(self, kept_id: str | None, **more: Any) -> dict[str, Any]:
        times = {"cron": f"{self.begun.minute} {self.begun.hour} * * *", "zone": "UTC"}
        return {"title": "Sales", "channel": "json", "webhook": self.hook.url, "kept_id": kept_id, **times, **more}

    async def plan(self, kept_id: str | None = None, *, status: int = 201, **more: Any) -> dict[str, Any]:
        """A schedule, to the webhook and daily at this time of the day unless said otherwise."""
        body = self.body(kept_id, **more)
        made = await self.client.post("/schedules", json=body)
        assert made.status_code == status, made.text
        return dict(made.json())

    async def later(self, **delta: float) -> None:
        """So much time passes; then everything that is due is worked on."""
        self.now += timedelta(**delta)
        scheduler = Scheduler(self.services, clock=lambda: self.now)
        while tasks := await scheduler.look():
            await asyncio.gather(*tasks)

    async def history(self, schedule: dict[str, Any]) -> list[tuple[str, str]]:
        """State and reason of its deliveries, the oldest first."""
        reply = await self.client.get(f"/schedules/{schedule['schedule_id']}/deliveries")
        return [(one["state"], one["reason"]) for one in reversed(reply.json())]


Open = Callable[..., AbstractAsyncContextManager[Desk]]


@pytest.fixture
def opened(tmp_path: Path, shop_file: Path, hook: Webhook, post_office: Mails, monkeypatch: pytest.MonkeyPatch) -> Open:
    """`opened(**settings)`: a server on the test's one state, with its own loop off: `Desk.later` looks instead."""

    @contextlib.asynccontextmanager
    async def nothing(_: Scheduler) -> AsyncIterator[None]:
        yield

    monkeypatch.setattr(Scheduler, "running", nothing)

    @contextlib.asynccontextmanager
    async def open_desk(
        *, peer: str = "127.0.0.1", headers: dict[str, str] | None = None, **more: Any
    ) -> AsyncIterator[Desk]:
        values = {
            "TEXT2SQL_DB_PATH": shop_file,
            "TEXT2SQL_SMTP_URL": post_office.url,
            "TEXT2SQL_MAIL_FROM": "reports@example.org",
            "TEXT2SQL_WEBHOOK_HOSTS": "127.0.0.1",
            "TEXT2SQL_PUBLIC_URL": "https://ask.example.org/",
        }
        app = create_app(settings_for(tmp_path, **{**values, **more}))
        transport = httpx.ASGITransport(app, client=(peer, 1))
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client,
        ):
            yield Desk(app.state.services, client, shop_file, hook)

    return open_desk


@pytest.fixture
async def desk(opened: Open) -> AsyncIterator[Desk]:
    async with opened() as made:
        yield made
