"""An OpenAI-compatible server on loopback that does what a test scripts: right, wrong, slow or broken.

    with OpenAIServer() as server:
        server.script(completion("hello"), error(429, "slow down", headers={"Retry-After": "1"}))
        ... OPENAI_BASE_URL = server.url ...
        assert server.requests[0].body["model"] == "m"

Each request takes the next scripted behaviour (or, with none left, `server.otherwise`). A behaviour is a `Reply`, or a
function of the request that returns one. It speaks plain HTTP/1.1 over asyncio streams in a thread of its own, so that
it can also break the protocol, and sees when a client goes away.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float
    """time.monotonic() of its arrival."""

    @property
    def prompt(self) -> str:
        """All message texts, joined."""
        return "\n".join(str(m["content"]) for m in self.body.get("messages", []))


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    pieces: tuple[str, ...] = ()
    """Content deltas; sent as server-sent events when the request asks for a stream."""
    finish_reason: str | None = "stop"
    usage: dict[str, Any] | None = None
    message: dict[str, Any] = field(default_factory=dict)
    """Further fields of the message (refusal, reasoning_content)."""
    cut: str = ""
    """`end`: the stream ends early, in good order; `drop`: inside the body; `reset`: the connection is reset."""
    delay: float = 0.0
    """Seconds before anything is sent."""
    released: threading.Event | None = None
    """Nothing is sent before it."""
    pause: float = 0.0
    """Seconds between pieces."""


Behaviour = Reply | Callable[[Request], Reply]


def completion(
    content: str | dict[str, Any] | None,
    *,
    finish_reason: str | None = "stop",
    usage: dict[str, Any] | None = USAGE,
    delay: float = 0.0,
    **message: Any,
) -> Reply:
    """A chat completion. A dict becomes JSON text. Streamed word by word when the request asks for a stream."""
    text = json.dumps(content) if isinstance(content, dict) else content
    pieces = () if text is None else tuple(text[i : i + 7] for i in range(0, len(text), 7))
    return Reply(pieces=pieces, finish_reason=finish_reason, usage=usage, message=message, delay=delay)


def chunks(*pieces: str, cut: str = "", pause: float = 0.0, usage: dict[str, Any] | None = USAGE) -> Reply:
    """A stream of exactly these pieces, perhaps cut off behind the last."""
    return Reply(pieces=pieces, finish_reason=None if cut else "stop", usage=usage, cut=cut, pause=pause)


def error(status: int, message: str = "failed", *, headers: dict[str, str] | None = None, **fields: Any) -> Reply:
    """An error as OpenAI words it; `fields` are type, code and param."""
    body = json.dumps({"error": {"message": message, "type": None, "param": None, "code": None, **fields}})
    return Reply(status=status, body=body.encode(), headers=headers or {})


def raw(body: str | bytes, *, status: int = 200, content_type: str = "application/json") -> Reply:
    return Reply(status=status, body=body.encode() if isinstance(body, str) else body, content_type=content_type)


def asked_for(request: Request) -> dict[str, Any]:
    """The properties of the JSON that a request asks for; empty where it asks for text."""
    form = request.body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    return dict(form.get("properties", {}))


def answering(
    *sql: str | Reply, score: float = 0.9, summary: str = "Here is the answer."
) -> Callable[[Request], Reply]:
    """An endpoint for whole questions: it plans one task, writes these queries in turn, and judges and sums up."""
    left = list(sql)

    def reply(request: Request) -> Reply:
        wanted = asked_for(request)
        if "tasks" in wanted:
            task = {"id": "t1", "description": "the question", "depends_on": []}
            return completion({"plan_type": "single", "confidence": 0.9, "tasks": [task]})
        if "score" in wanted:
            return completion({"reasoning": "it fits well", "score": score})
        if "sql" in wanted or request.body["messages"][0]["content"].startswith("You write one"):
            query = left.pop(0) if len(left) > 1 else left[0]
            return query if isinstance(query, Reply) else completion({"reasoning": "because", "sql": query})
        return completion(summary)

    return reply


def _model_list(models: Sequence[str | dict[str, Any]]) -> Reply:
    entries = [{"id": m, "object": "model", "created": 1, "owned_by": ""} if isinstance(m, str) else m for m in models]
    return raw(json.dumps({"object": "list", "data": entries}))


class OpenAIServer:
    """Start with `with`; use from any thread. `url` ends in /v1."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.models: tuple[str | dict[str, Any], ...] = ("gpt-5",)
        """What it lists, by name or as whole entries; without any, the script replies to that request, too."""
        self.listed: list[Request] = []
        """The requests for that list."""
        self.arrived = threading.Event()
        """Set when a request has come in."""
        self.disconnected = threading.Event()
        """Set when a client went away before its reply was complete."""
        self.otherwise: Behaviour = error(400, "nothing is scripted for this request")
        self._script: list[Behaviour] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.keep_alive = False
        """Take further requests on a connection, as real endpoints do; else each reply closes it."""
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._connection, "127.0.0.1", 0), self._loop
        ).result()
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def script(self, *behaviours: Behaviour) -> None:
        """Replace what is left of the script, and forget the requests so far."""
        self._script = list(behaviours)
        self.requests.clear()
        self.arrived.clear()
        self.disconnected.clear()

    @property
    def bodies(self) -> Sequence[dict[str, Any]]:
        return [r.body for r in self.requests]

    async def _stop(self) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while (request := await _read(reader)) is not None:
                if request.method == "GET" and request.path.partition("?")[0].endswith("/models") and self.models:
                    self.listed.append(request)
                    await self._send(writer, request, _model_list(self.models))
                    break
                self.requests.append(request)
                self.arrived.set()
                behaviour = self._script.pop(0) if self._script else self.otherwise
                reply = behaviour if isinstance(behaviour, Reply) else behaviour(request)
                closing = asyncio.create_task(reader.read(1))
                sending = asyncio.create_task(self._send(writer, request, reply))
                await asyncio.wait({closing, sending}, return_when=asyncio.FIRST_COMPLETED)
                if not sending.done() or isinstance(sending.exception(), ConnectionError):
                    self.disconnected.set()
                closing.cancel()
                sending.cancel()
                await asyncio.gather(closing, sending, return_exceptions=True)
                if not self.keep_alive or reply.cut:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _send(self, writer: asyncio.StreamWriter, request: Request, reply: Reply) -> None:
        await asyncio.sleep(reply.delay)
        if reply.released is not None:
            await asyncio.to_thread(reply.released.wait, 120)
        if reply.cut == "reset" and not reply.pieces:
            return _reset(writer)
        streamed = bool(request.body.get("stream")) and not reply.body and reply.status == 200
        if not streamed:
            body = reply.body or _completion_body(request, reply)
            if reply.cut:
                length, body = len(body), body[: len(body) // 2]
            else:
                length = len(body)
            writer.write(self._head(reply, reply.content_type, {"Content-Length": str(length)}) + body)
            await writer.drain()
            return None
        writer.write(self._head(reply, "text/event-stream", {"Transfer-Encoding": "chunked"}))
        for event in _events(request, reply):
            writer.write(_chunk(f"data: {event}\n\n".encode()))
            await writer.drain()
            await asyncio.sleep(reply.pause)
        if reply.cut == "reset":
            return _reset(writer)
        if reply.cut != "drop":
            writer.write(_chunk(b""))
            await writer.drain()
        return None

    def _head(self, reply: Reply, content_type: str, headers: dict[str, str]) -> bytes:
        ending = "keep-alive" if self.keep_alive else "close"
        lines = [f"HTTP/1.1 {reply.status} Scripted", f"Content-Type: {content_type}", f"Connection: {ending}"]
        lines += [f"{name}: {value}" for name, value in {**headers, **reply.headers}.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _read(reader: asyncio.StreamReader) -> Request | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, json.loads(body) if body else {}, time.monotonic())


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _reply_object(request: Request, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": request.body.get("model"), "choices": choices}


def _completion_body(request: Request, reply: Reply) -> bytes:
    message = {"role": "assistant", "content": "".join(reply.pieces) if reply.pieces else None, **reply.message}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    body = _reply_object(request, "chat.completion", [choice])
    if reply.usage is not None:
        body["usage"] = reply.usage
    if request.body.get("logprobs"):
        body["choices"][0]["logprobs"] = {"content": [_logprob(piece) for piece in reply.pieces]}
    return json.dumps(body).encode()


def _logprob(token: str) -> dict[str, Any]:
    return {"token": token, "logprob": -0.5, "bytes": None, "top_logprobs": []}


def _events(request: Request, reply: Reply) -> list[str]:
    def event(choices: list[dict[str, Any]], **more: Any) -> str:
        return json.dumps(_reply_object(request, "chat.completion.chunk", choices) | more)

    def delta(fields: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {"index": 0, "delta": fields, "finish_reason": reason}

    events = [event([delta({"role": "assistant", "content": "", **reply.message})])]
    for piece in reply.pieces:
        told = {"logprobs": {"content": [_logprob(piece)]}} if request.body.get("logprobs") else {}
        events.append(event([delta({"content": piece}) | told]))
    if reply.cut:
        return events
    events.append(event([delta({}, reply.finish_reason)]))
    if reply.usage is not None and (request.body.get("stream_options") or {}).get("include_usage"):
        events.append(event([], usage=reply.usage))
    return [*events, "[DONE]"]
