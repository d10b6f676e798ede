"""Questions over bare sockets, because a client library costs more than the server.

In: a port, a question, perhaps a thread. Out: how it ended and how long it took. A stream that breaks off is taken up
again where it broke off (`Last-Event-ID`), as a browser does.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Literal

QUESTION = "How many customers are there?"
DONE = b'"event":"done"'

Ending = Literal["answered", "interrupted", "failed", "refused", "lost"]


@dataclass(frozen=True, slots=True)
class Asked:
    ending: Ending
    """`interrupted`: told so; `failed`: another error, told; `refused`: 4xx or 5xx before it began; `lost`: nothing."""
    seconds: float
    first: float = 0.0
    """Seconds to the first event."""
    run_id: str = ""
    thread_id: str = ""
    broken: int = 0
    """How often its stream broke off."""
    failure: str = ""
    """The text of a failure."""


async def ask(port: int, thread_id: str = "", *, resumable: bool = False, patience: float = 90.0) -> Asked:
    """Ask, and follow to the end; a connection that is not accepted is tried again for `patience` seconds."""
    body = json.dumps({"question": QUESTION, "resumable": resumable, **({"thread_id": thread_id} if thread_id else {})})
    started = time.perf_counter()
    broken = 0
    while True:
        head, data, first = await _sent(port, _post("/query", body))
        if head or time.perf_counter() - started > patience:
            break
        broken += 1  # before anything came, so nothing says which run it would be: asked again
        await asyncio.sleep(0.2)
    if head and b" 200 " not in head.split(b"\r\n")[0]:
        return Asked("refused", time.perf_counter() - started, failure=head.split(b"\r\n")[0].decode())
    run_id, thread = _header(head, b"x-run-id"), _header(head, b"x-thread-id")
    while DONE not in data:
        broken += 1
        if not run_id or time.perf_counter() - started > patience:
            return Asked("lost", time.perf_counter() - started, first, run_id, thread, broken)
        await asyncio.sleep(0.2)
        last = data.count(b"\nid: ") + data.startswith(b"id: ")
        request = f"GET /runs/{run_id}/events?after={last} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        _, more, _ = await _sent(port, request.encode())
        data += more[more.find(b"id: ") :] if b"id: " in more else b""
    ending: Ending = "failed"
    if b'"status":"success"' in data:
        ending = "answered"
    elif b'"kind":"interrupted"' in data:
        ending = "interrupted"
    message = "" if ending != "failed" else data[data.rfind(b'"event":"error"') :][:200].decode("utf-8", "replace")
    return Asked(ending, time.perf_counter() - started, first - started, run_id, thread, broken, message)


async def get(port: int, path: str) -> bytes:
    """The body of a plain reply."""
    _, data, _ = await _sent(port, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    return data


def _post(path: str, body: str) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


async def _sent(port: int, request: bytes) -> tuple[bytes, bytes, float]:
    """(head, what came after it, when the first event was there); what there is where the connection breaks."""
    reply, first = bytearray(), 0.0
    writer = None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        while piece := await reader.read(65536):
            reply += piece
            if not first and b"data: " in reply:
                first = time.perf_counter()
            if DONE in piece:
                break
    except OSError:
        pass
    finally:
        if writer is not None:
            writer.close()
    head, _, data = bytes(reply).partition(b"\r\n\r\n")
    return head, _unchunked(head, data), first


def _unchunked(head: bytes, data: bytes) -> bytes:
    if b"transfer-encoding: chunked" not in head.lower():
        return data
    whole = bytearray()
    while data:
        size, _, rest = data.partition(b"\r\n")
        try:
            length = int(size, 16)
        except ValueError:
            break
        whole += rest[:length]
        data = rest[length + 2 :]
    return bytes(whole)


def _header(head: bytes, name: bytes) -> str:
    for line in head.split(b"\r\n"):
        key, _, value = line.partition(b":")
        if key.lower() == name:
            return value.strip().decode()
    return ""
