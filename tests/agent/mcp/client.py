"""A client of the MCP door over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def over_http(url: str, token: str = "", mode: str = "auto") -> AsyncIterator[Client]:
    """A client of a server at a URL, with a token or without, in the newest protocol or an older one."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    options: dict[str, Any] = {"mode": mode, "read_timeout_seconds": 60}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), **options) as client,
    ):
        yield client
