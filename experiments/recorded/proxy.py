"""The recording proxy: it forwards everything to a real server and back, and records the chat exchanges.

In: the address of an OpenAI-compatible server and a `Recorder`. Out: an ASGI application that a client uses in its
place. The client's key goes to that server and nowhere else: no request header is stored, and where a reply repeats the
key, a placeholder is recorded.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from experiments.recorded.chat import JSON, as_object, failure
from experiments.recorded.exchanges import KEPT_HEADERS, Exchange, Recorder, digest
from experiments.recorded.server import Transmission

if TYPE_CHECKING:
    import httpx
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

CONNECT_SECONDS = 10.0
SECONDS = 600.0
"""The longest silence of the server; the client's own timeout comes first."""
HIDDEN = "[key]"
_KEY_HEADERS = ("authorization", "api-key", "x-api-key")
_SHORTEST_KEY = 8
"""Characters; a shorter value (`none`, `EMPTY`) is not a key and may be a word of the reply."""
_LAST_EVENT = b"data: [DONE]"
_NOT_PASSED_ON = frozenset(
    {
        *("host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
        *("proxy-authenticate", "proxy-authorization"),
        *("content-length", "content-encoding", "accept-encoding"),
    }
)
"""Hop-by-hop headers, and headers that describe a content encoding which no longer applies."""


class RecordingProxy:
    """`upstream`: the base URL, ending in /v1 for most servers. Use `application()` inside its own event loop."""

    def __init__(self, upstream: str, recorder: Recorder) -> None:
        self._upstream = upstream.rstrip("/")
        self._recorder = recorder
        self._client: httpx.AsyncClient | None = None

    def application(self) -> Starlette:
        from starlette.applications import Starlette
        from starlette.routing import Route

        return Starlette(routes=[Route("/v1/{path:path}", self._forward, methods=["GET", "POST"])], lifespan=self._open)

    @asynccontextmanager
    async def _open(self, _: Starlette) -> AsyncIterator[None]:
        import httpx

        async with httpx.AsyncClient(timeout=httpx.Timeout(SECONDS, connect=CONNECT_SECONDS)) as client:
            self._client = client
            yield

    async def _forward(self, request: Request) -> Transmission | _Passing:
        import httpx

        assert self._client is not None, "requests come only while the application is open"
        raw = await request.body()
        headers = {name: value for name, value in request.headers.items() if name not in _NOT_PASSED_ON}
        path, query = request.path_params["path"], request.url.query
        sending = self._client.build_request(
            request.method,
            f"{self._upstream}/{path}" + (f"?{query}" if query else ""),
            headers={**headers, "accept-encoding": "identity"},
            content=raw,
        )
        started = time.monotonic()
        try:
            received = await self._client.send(sending, stream=True)
        except httpx.HTTPError as error:
            return Transmission(failure(502, f"The server can't be reached: {type(error).__name__}.", "no_upstream"))
        asked = as_object(raw) if path == "chat/completions" else None
        return _Passing(received, asked, _keys(request.headers), self._recorder, started)


@dataclass(slots=True)
class _Passing:
    """One reply on its way back, as an ASGI response; it is recorded once it is complete.

    A reply that the client did not wait for is not recorded; a reply that the server broke off is recorded as cut."""

    _received: httpx.Response
    _asked: dict[str, Any] | None
    _keys: tuple[str, ...]
    _recorder: Recorder
    _started: float
    _body: bytearray = field(default_factory=bytearray)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        import httpx
        from starlette.responses import StreamingResponse

        headers = {name: value for name, value in self._received.headers.items() if name not in _NOT_PASSED_ON}
        cut = False

        async def pieces() -> AsyncIterator[bytes]:
            nonlocal cut
            try:
                async for piece in self._received.aiter_bytes():
                    self._body += piece
                    if _LAST_EVENT in self._body[-len(piece) - len(_LAST_EVENT) :]:
                        self._record(cut=False)  # now: clients disconnect as soon as they have read it
                    yield piece
            except httpx.HTTPError:
                cut = True
            self._record(cut=cut)

        async def sent(message: Any) -> None:
            if not (cut and message["type"] == "http.response.body" and not message.get("more_body")):
                await send(message)

        try:
            await StreamingResponse(pieces(), self._received.status_code, headers)(scope, receive, sent)
        finally:
            await self._received.aclose()

    def _record(self, *, cut: bool) -> None:
        if self._asked is None:
            return
        body = self._body.decode("utf-8", "surrogateescape")
        for key in self._keys:
            body = body.replace(key, HIDDEN)
        headers = self._received.headers
        exchange = Exchange(
            digest=digest(self._asked),
            stream=self._asked.get("stream") is True,
            model=str(self._asked.get("model", "")),
            status=self._received.status_code,
            content_type=headers.get("content-type", JSON),
            headers={name: headers[name] for name in KEPT_HEADERS if name in headers},
            body=body,
            cut=cut,
            seconds=round(time.monotonic() - self._started, 3),
        )
        self._asked = None
        self._recorder.add(exchange)


def _keys(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The client's credentials, without `Bearer`."""
    given = (headers.get(name, "").rpartition(" ")[2] for name in _KEY_HEADERS)
    return tuple(key for key in given if len(key) >= _SHORTEST_KEY)
