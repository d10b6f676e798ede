"""A real server on loopback for the doors' tests: the standalone app under uvicorn, with the offline engine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from agent.a2a.rpc import build_app
from agent.config import Settings
from agent.models.protocol import Model, SqlReply, SqlRequest
from tests import asgi_server
from text2sql.testing import ScriptedModel

CUSTOMERS = {"tables": [{"name": "customers", "columns": [{"name": "id", "type": "INTEGER", "primary_key": True}]}]}


def task(**others: Any) -> dict[str, Any]:
    """A task that the offline engine answers, with some of it changed."""
    return {
        "task_id": "t1",
        "question": "How many customers are there?",
        "schema": CUSTOMERS,
        "dialect": "sqlite",
        **others,
    }


def rpc(url: str, method: str, params: Any) -> Any:
    """The reply of protocol 0.3."""
    body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
    return httpx.post(url, json=body, timeout=60).json()


def message(content: object, **more: str) -> dict[str, Any]:
    part = {"kind": "text", "text": content if isinstance(content, str) else json.dumps(content)}
    return {"message": {"kind": "message", "messageId": uuid4().hex, "role": "user", "parts": [part], **more}}


class Slow(ScriptedModel):
    """A model that thinks until it is stopped, and tells how that ended."""

    def __init__(self) -> None:
        super().__init__("SELECT 1")
        self.asked = threading.Event()
        self.stopped = threading.Event()

    async def write_sql(self, request: SqlRequest) -> SqlReply:
        self.asked.set()
        try:
            await asyncio.sleep(60)
        finally:
            self.stopped.set()
        return await super().write_sql(request)


@contextlib.contextmanager
def serving(model: Model | None = None, **settings: Any) -> Iterator[str]:
    """The base URL of a running server."""
    config = Settings(_env_file=None, OPENAI_API_KEY=None, OPENAI_BASE_URL=None, **settings)
    with asgi_server.serving(lambda url: build_app(config, url, model=model)) as url:
        yield url


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server with the offline engine."""
    with serving() as base:
        yield base


@pytest.fixture
def slow() -> Iterator[tuple[str, Slow]]:
    """A server whose model never comes to an end by itself."""
    model = Slow()
    with serving(model) as base:
        yield base, model
