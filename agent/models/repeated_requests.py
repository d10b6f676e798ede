"""Requests to an endpoint that repeat one that the openai library has built.

In: the body of a request. Out: the response, or the library's own exceptions. The library builds and sends the first
request of each kind; the next ones have the same address and headers and go to the same HTTP client directly. Building
options, headers and the address anew takes a third of the processor time of a call.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import openai

PATH = "/chat/completions"
_EVENTS = "text/event-stream"
_Chunks = openai.AsyncStream[object]
_BELONG_TO_ONE_REQUEST = {b"content-length", b"cookie", b"idempotency-key", b"transfer-encoding"}


@dataclass(frozen=True, slots=True)
class _Built:
    url: httpx2.URL
    headers: httpx2.Headers
    extensions: dict[str, Any]
    """The timeouts."""


@dataclass(slots=True)
class RepeatedRequests:
    """For one endpoint and key: the address and the headers are the same with each request."""

    _built: dict[bool, _Built] = field(default_factory=dict)
    """By whether the reply is streamed."""

    async def whole(self, client: openai.AsyncOpenAI, http: httpx2.AsyncClient, body: dict[str, Any]) -> object:
        """The reply: JSON, or the text that came instead."""
        if built := self._built.get(False):
            response = await _sent(client, http, built, body, stream=False)
        else:
            response = await client.post(PATH, cast_to=httpx2.Response, body=body)
            self._built[False] = _built(response.request)
        return _content(response)

    @asynccontextmanager
    async def stream(
        self, client: openai.AsyncOpenAI, http: httpx2.AsyncClient, body: dict[str, Any]
    ) -> AsyncGenerator[_Chunks, None]:
        """The pieces of the reply as they come."""
        if built := self._built.get(True):
            response = await _sent(client, http, built, body, stream=True)
            chunks = _Chunks(cast_to=object, response=response, client=client)
        else:
            chunks = await client.post(PATH, cast_to=object, body=body, stream=True, stream_cls=_Chunks)
            self._built[True] = _built(chunks.response.request)
        async with chunks:
            yield chunks


async def whole_body(response: httpx2.Response) -> object | None:
    """The reply to a request for a stream, where the server sends it whole: JSON or text. None: a stream comes."""
    if response.headers.get("content-type", _EVENTS).startswith(_EVENTS):
        return None
    await response.aread()
    return _content(response)


def _content(response: httpx2.Response) -> object:
    kind = response.headers.get("content-type", "*").split(";")[0]
    return json.loads(response.content) if kind.endswith("json") else response.text


async def _sent(
    client: openai.AsyncOpenAI, http: httpx2.AsyncClient, built: _Built, body: dict[str, Any], *, stream: bool
) -> httpx2.Response:
    """A successful response. Raises the library's exceptions."""
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    request = httpx2.Request(
        "POST",
        built.url,
        headers=built.headers,
        cookies=http.cookies if http.cookies.jar else None,
        content=content,
        extensions=built.extensions,
    )
    try:
        response = await http.send(request, stream=stream)
        if response.is_success:
            return response
        await response.aread()
    except httpx2.TimeoutException as error:
        raise openai.APITimeoutError(request=request) from error
    except httpx2.RequestError as error:
        raise openai.APIConnectionError(request=request) from error
    raise client._make_status_error_from_response(response)


def _built(request: httpx2.Request) -> _Built:
    headers = [(name, value) for name, value in request.headers.raw if name.lower() not in _BELONG_TO_ONE_REQUEST]
    return _Built(request.url, httpx2.Headers(headers), {"timeout": request.extensions["timeout"]})
