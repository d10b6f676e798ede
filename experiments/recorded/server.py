"""The server for recorded replies: the ASGI application, and functions that run it on loopback.

In: a source of replies (`Answers`, `Exchanges`), a delay and the faults to inject. Out: an ASGI application for
`/v1/chat/completions` and `/v1/models`. `running` serves it in a thread, `serve` in the calling thread.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from experiments.recorded.chat import Sent, as_json, as_object, failure
from experiments.recorded.faults import Faults

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

HOST = "127.0.0.1"
STARTING_SECONDS = 10.0


class Replying(Protocol):
    models: tuple[str, ...]

    def reply(self, body: dict[str, Any]) -> Sent:
        """The reply to a chat request. Never raises."""
        ...


class Transmission:
    """Sends a `Sent` as an ASGI response. A cut response ends without an end marker; the server then drops the
    connection."""

    def __init__(self, sent: Sent) -> None:
        self._sent = sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = self._sent
        headers = {"content-type": sent.content_type, **sent.headers}
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": sent.status, "headers": raw})
        for piece in sent.pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if not sent.cut:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def application(source: Replying, *, delay: float = 0.0, faults: Faults | None = None) -> Starlette:
    """The server's application. `delay`: seconds before each reply to a chat request."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    faulty = faults or Faults({})

    async def chat(request: Request) -> Transmission:
        raw = await request.body()
        await asyncio.sleep(delay)
        body = as_object(raw)
        sent = failure(400, "The request's body is no JSON object.", "no_json") if body is None else source.reply(body)
        return Transmission(faulty.befall(raw, sent))

    async def models(_: Request) -> Transmission:
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "recording"} for name in source.models]
        return Transmission(as_json({"object": "list", "data": listed}))

    async def unknown(_: Request) -> Transmission:
        return Transmission(failure(404, "There are only chat/completions and models here.", "unknown_path"))

    routes = [
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/models", models, methods=["GET"]),
        Route("/{path:path}", unknown, methods=["GET", "POST"]),
    ]
    return Starlette(routes=routes)


def bound(port: int = 0) -> socket.socket:
    """A listening socket on loopback; port 0 takes a free one. Connections before `serve` wait. Raises OSError."""
    place = socket.socket()
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        place.bind((HOST, port))
        place.listen()
    except OSError:
        place.close()
        raise
    return place


def url_of(place: socket.socket) -> str:
    """The base URL for a client."""
    return f"http://{HOST}:{place.getsockname()[1]}/v1"


def serve(app: Starlette, place: socket.socket) -> None:
    """Serve until a signal arrives."""
    with place:
        _server(app).run(sockets=[place])


@contextmanager
def running(app: Starlette, port: int = 0) -> Iterator[str]:
    """Serve in a thread; yields the base URL. Raises OSError when the port is taken."""
    place = bound(port)
    server = _server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    try:
        until = time.monotonic() + STARTING_SECONDS
        while not server.started:
            if not thread.is_alive() or time.monotonic() > until:
                raise OSError("the server did not start")
            time.sleep(0.005)
        yield url_of(place)
    finally:
        server.should_exit = True
        thread.join(STARTING_SECONDS)
        place.close()


def _server(app: Starlette) -> uvicorn.Server:
    import uvicorn

    # Silent: a reply that is cut on purpose would be logged as an error.
    config = uvicorn.Config(app, log_level="critical", access_log=False, ws="none", timeout_graceful_shutdown=1)
    return uvicorn.Server(config)
