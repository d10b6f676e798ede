"""A small app behind the real protection, on a real server, and a client that sends exactly what it is told."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from fastapi import FastAPI, Request, UploadFile
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from agent.config import ServerSettings
from agent.server.access import CurrentClient
from agent.server.errors import install_errors
from agent.server.middleware import protect, uvicorn_options
from tests.asgi_server import serving

TOKENS = "ana=ana-token-0123456789,bo=bo-token-0123456789"
ANA = {"Authorization": "Bearer ana-token-0123456789"}
BO = {"Authorization": "Bearer bo-token-0123456789"}


@dataclass
class Served:
    url: str
    port: int
    reached: list[str]
    """Paths of the requests that got through to a route."""
    app: FastAPI

    def raw(self, data: bytes, *, seconds: float = 1.0) -> bytes:
        """Send these bytes and read until the server closes, or is silent for so long."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            received = b""
            with suppress(ConnectionError):  # it may close before it has read all of it
                connection.sendall(data)
            while True:
                try:
                    piece = connection.recv(65536)
                except (TimeoutError, ConnectionResetError):
                    return received
                if not piece:
                    return received
                received += piece


Serve = Callable[..., Served]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server with these settings (by variable name); all are stopped at the end of the test."""
    with ExitStack() as servers:

        def start(*, max_upload: int | None = None, **variables: object) -> Served:
            reached: list[str] = []
            app = _app(reached)
            protect(app, ServerSettings.model_validate({"_env_file": None, **variables}), max_upload=max_upload)
            options: dict[str, Any] = uvicorn_options()
            url = servers.enter_context(serving(lambda _: app, lifespan="off", **options)).rstrip("/")
            return Served(url, int(url.rpartition(":")[2]), reached, app)

        yield start


def _app(reached: list[str]) -> FastAPI:
    app = FastAPI()
    install_errors(app)

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/runs")
    async def runs(client: CurrentClient, request: Request) -> dict[str, Any]:
        reached.append(request.url.path)
        return {"client": client.name}

    @app.post("/query")
    async def query(client: CurrentClient, request: Request) -> dict[str, int]:
        reached.append(request.url.path)
        return {"bytes": len(await request.body())}

    @app.post("/json")
    async def as_json(client: CurrentClient, body: dict[str, Any]) -> dict[str, int]:
        reached.append("/json")
        return {"fields": len(body)}

    @app.post("/databases/upload")
    async def upload(client: CurrentClient, file: UploadFile) -> dict[str, int]:
        return {"bytes": len(await file.read())}

    @app.get("/stream")
    async def stream(client: CurrentClient, seconds: float = 0.5) -> StreamingResponse:
        async def events() -> Any:
            yield b"data: 1\n\n"
            await asyncio.sleep(seconds)
            yield b"data: 2\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    @app.get("/fails")
    async def fails() -> None:
        raise RuntimeError("the row value 4711 is in this message")

    @app.get("/assets/app.js")
    async def script() -> str:
        return "script"

    async def mounted(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append("mounted")
        if scope["method"] == "POST":
            while (await receive()).get("more_body"):
                pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"mounted"})

    app.mount("/mcp", mounted)
    app.mount("/assets", mounted)
    return app
