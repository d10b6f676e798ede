"""A model endpoint that costs next to nothing: an OpenAI-compatible server in a process of its own.

In: requests of the agent. Out: prepared replies (a plan, `SELECT COUNT(*) FROM customers`, a verdict, an answer that is
streamed), after a given time. It answers only what this project sends.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import cast

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
TEXT = "The answer is in the rows, all of them, one by one."


def _head(kind: str, length: int) -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n".encode()


def _whole(content: object) -> bytes:
    message = {"role": "assistant", "content": json.dumps(content)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}
    data = json.dumps(body).encode()
    return _head("application/json", len(data)) + data


def _streamed() -> bytes:
    lines = []
    pieces: list[dict[str, object]] = [{"content": TEXT[i : i + 7]} for i in range(0, len(TEXT), 7)]
    for delta in [*pieces, {}]:
        choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
        usage = None if delta else USAGE
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        lines.append(f"data: {json.dumps({**chunk, 'usage': usage})}\n\n")
    data = "".join([*lines, "data: [DONE]\n\n"]).encode()
    return _head("text/event-stream", len(data)) + data


PLAN = _whole(
    {
        "plan_type": "single",
        "confidence": 0.9,
        "tasks": [{"id": "t1", "description": "count", "sql": "", "depends_on": []}],
    }
)
SQL = _whole({"reasoning": "as asked", "sql": "SELECT COUNT(*) FROM customers"})
VERDICT = _whole({"score": 0.95, "reasoning": "it fits"})
STREAM = _streamed()


def reply_to(body: bytes) -> bytes:
    asked = json.loads(body)
    if "response_format" not in asked:
        return STREAM
    wanted = json.dumps(asked.get("response_format", {}))
    return PLAN if '"tasks"' in wanted else SQL if '"sql"' in wanted else VERDICT


class _Endpoint(asyncio.Protocol):
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._read = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is of another class

    def data_received(self, data: bytes) -> None:
        self._read += data
        end = self._read.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._read[:end]).lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        if len(self._read) < end + 4 + length:
            return
        reply = reply_to(bytes(self._read[end + 4 : end + 4 + length]))
        del self._read[: end + 4 + length]
        if self._seconds:
            asyncio.get_running_loop().call_later(self._seconds, self._transport.write, reply)
        else:
            self._transport.write(reply)


def _serve(seconds: float, sender: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(lambda: _Endpoint(seconds), "127.0.0.1", 0)
        sender.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    import uvloop

    uvloop.run(serve())


@contextmanager
def endpoint(seconds: float) -> Iterator[tuple[str, int]]:
    """(its URL, its process id); a call takes `seconds`."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(seconds, there), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}/v1", process.pid or 0
    finally:
        process.kill()
        process.join()
