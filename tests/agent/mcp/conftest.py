"""A real server with the MCP door, and the official client's two ways to it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.agent.server import processes


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Of a child process: nothing of ours but a folder of its own."""
    cache = os.environ.get("TEXT2SQL_CACHE_DIR")
    return processes.environment(tmp_path, **({"TEXT2SQL_CACHE_DIR": cache} if cache else {}))


@pytest.fixture
def stdio(environment: dict[str, str], tmp_path: Path) -> Callable[..., Client]:
    """A client whose server is a child process."""

    def connect(**more: str) -> Client:
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "agent.mcp"], env={**environment, **more}, cwd=tmp_path
        )
        return Client(command, read_timeout_seconds=60)

    return connect


@pytest.fixture
def over_http() -> Callable[..., AbstractAsyncContextManager[Client]]:
    """A client of a server at a URL, with a token or without, in the newest protocol or an older one."""

    @asynccontextmanager
    async def connect(url: str, token: str = "", mode: str = "auto") -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        options: dict[str, Any] = {"mode": mode, "read_timeout_seconds": 60}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http), **options) as client,
        ):
            yield client

    return connect
