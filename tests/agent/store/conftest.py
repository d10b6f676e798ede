"""The same state on both databases: every test that takes `settings` or `store` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from agent.config import StateSettings
from agent.store import Store, open_store
from agent.store.records import RunRecord, SourceRecord, ThreadRecord
from agent.store.runs import new_thread_id

SECRET = "a long random text, the same on every server"


@pytest.fixture(params=["sqlite", "postgres"])
def config(request: pytest.FixtureRequest, tmp_path: Path) -> StateSettings:
    """StateSettings that name an empty state."""
    values: dict[str, Any] = {"TEXT2SQL_STATE_DIR": str(tmp_path / "state")}
    if request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
        engine.dispose()
        values |= {"TEXT2SQL_STATE_URL": url, "TEXT2SQL_SECRET": SECRET}
    return StateSettings(_env_file=None, **values)


@pytest.fixture
async def store(config: StateSettings) -> AsyncIterator[Store]:
    opened = await open_store(config)
    yield opened
    await opened.close()


def a_run(run_id: str = "r1", owner: str = "ann", **more: Any) -> RunRecord:
    values: dict[str, Any] = {"preset": "shop", "question": "How many orders?", "started": datetime.now(UTC)}
    return RunRecord(run_id=run_id, owner=owner, **values | more)


def a_source(kind: str = "connected", location: str = "postgresql://me:hunter2@db/sales") -> SourceRecord:
    values = {"source_id": "s1", "owner": "ann", "name": "sales", "dialect": "postgres", "created": datetime.now(UTC)}
    return SourceRecord.model_validate({"kind": kind, "location": location, **values})


async def first_turn(store: Store, run: RunRecord, **given: Any) -> ThreadRecord:
    """A new thread, with `run` as its first turn."""
    begun = await store.begin_turn(run.model_copy(update={"thread_id": new_thread_id()}), fresh=True, **given)
    thread = await store.get(ThreadRecord, run.owner, str(begun.thread_id))
    assert thread is not None
    return thread
