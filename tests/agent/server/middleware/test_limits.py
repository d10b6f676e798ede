"""How much gets in: sizes, pace, rates; and what every answer carries."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import AsyncExitStack

import httpx
import pytest

from agent.server.middleware.request_limits import KEPT, TokenBuckets
from tests.agent.server.middleware.conftest import Serve
from tests.pairs import rows

MB = 1_000_000


def chunked(path: str, chunks: int, size: int = 65536) -> bytes:
    lines = "Host: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    head = f"POST {path} HTTP/1.1\r\n{lines}\r\n{len(part):x}\r\n".encode() + part + b"\r\n"
    return head + (f"{size:x}\r\n".encode() + b"x" * size + b"\r\n") * chunks + b"0\r\n\r\n"


def test_a_body_is_read_up_to_its_limit_and_counted_where_it_has_no_length(serve: Serve) -> None:
    server = serve(max_upload=3 * MB)
    announced = server.raw(b"POST /query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2147483648\r\n\r\n")
    assert announced.startswith(b"HTTP/1.1 413 ")
    assert b"at most 1,000,000 bytes" in announced
    assert b"connection: close" in announced.lower()
    assert server.reached == []
    for path in ("/query", "/json", "/mcp/"):
        counted = server.raw(chunked(path, 20))
        assert counted.startswith(b"HTTP/1.1 413 ")
        assert counted.count(b"HTTP/1.1 ") == 1
        assert b'"kind":"too_large"' in counted
    assert httpx.post(f"{server.url}/query", content=b"x" * MB).json() == {"bytes": MB}
    assert httpx.post(f"{server.url}/query", content=b"x" * (MB + 1)).status_code == 413
    upload = httpx.post(f"{server.url}/databases/upload", files={"file": b"x" * 2 * MB})
    assert upload.json() == {"bytes": 2 * MB}
    assert server.raw(chunked("/databases/upload", 60)).startswith(b"HTTP/1.1 413 ")


def test_a_client_that_sends_one_byte_at_a_time_is_given_up(serve: Serve) -> None:
    server = serve(TEXT2SQL_BODY_SECONDS=1.5)  # more than a busy machine needs for the four bytes
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(b"POST /json HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(4):
            connection.sendall(b" ")
            time.sleep(0.1)
        reply = connection.recv(65536)

    assert reply.startswith(b"HTTP/1.1 408 ")
    assert httpx.get(f"{server.url}/health").is_success


def test_heads_are_bounded(serve: Serve) -> None:
    server = serve()

    for path, headers, status in [
        ("/runs?q=" + "x" * 9_000, "", 414),
        ("/" + "x" * 9_000, "", 414),
        ("/runs", "X-Long: " + "x" * 20_000 + "\r\n", 200),
        ("/runs", "X-Long: " + "x" * 40_000 + "\r\n", 431),
        ("/runs", "".join(f"X-{i}: 1\r\n" for i in range(120)), 431),
    ]:
        reply = server.raw(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{headers}\r\n".encode())

        assert reply.startswith(f"HTTP/1.1 {status} ".encode())


def test_too_many_requests_are_told_when_to_come_back(serve: Serve) -> None:
    server = serve(TEXT2SQL_RATE_PER_MINUTE=20)
    with httpx.Client(base_url=server.url) as client:
        replies = [client.get("/runs") for _ in range(12)]
        alive = client.get("/health")

    assert [r.status_code for r in replies] == [200] * 10 + [429] * 2
    assert replies[-1].json()["error"]["kind"] == "rate_limited"
    assert 1 <= int(replies[-1].headers["retry-after"]) <= 3
    assert alive.is_success


async def test_requests_in_progress_are_bounded_and_given_back(serve: Serve) -> None:
    server = serve(TEXT2SQL_REQUESTS_AT_ONCE=3)
    async with httpx.AsyncClient(base_url=server.url, timeout=10) as client, AsyncExitStack() as begun:
        streams = [await begun.enter_async_context(client.stream("GET", "/stream?seconds=3")) for _ in range(3)]
        refused = await client.get("/runs")
        done = [await stream.aread() for stream in streams]
        for _ in range(100):  # a place is free a moment after the last byte has gone out
            after = await client.get("/runs")
            if after.is_success:
                break
            await asyncio.sleep(0.05)

    assert refused.status_code == 429
    assert done == [b"data: 1\n\ndata: 2\n\n"] * 3
    assert after.is_success


async def test_a_reader_that_leaves_frees_its_place(serve: Serve) -> None:
    server = serve(TEXT2SQL_REQUESTS_AT_ONCE=1)
    async with httpx.AsyncClient(base_url=server.url) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.get("/stream?seconds=30", timeout=httpx.Timeout(10, read=0.3))
        for _ in range(500):
            if (await client.get("/runs")).is_success:
                break
            await asyncio.sleep(0.02)
        else:
            pytest.fail("the place was never given back")


async def test_buckets_forget_the_oldest_clients() -> None:
    buckets = TokenBuckets("requests", per_second=1, burst=2)
    for number in range(KEPT + 50):
        assert await buckets.take(None, str(number)) == 0

    assert len(buckets._levels) == KEPT
    assert [await buckets.take(None, "full") for _ in range(3)] == [0, 0, 1]


def test_every_answer_carries_its_headers_and_a_sane_request_id(serve: Serve) -> None:
    server = serve()

    for path in ("/runs", "/health", "/nowhere", "/fails", "/runs?token=x", "/mcp/"):
        headers = httpx.get(f"{server.url}{path}").headers
        assert len(headers["x-request-id"]) == 32, path
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "script-src 'self';" in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "permissions-policy" in headers
        assert "strict-transport-security" not in headers
        assert "server" not in headers
        assert headers.get("cache-control") == (None if path == "/health" else "no-store")
    sane = ("abc-123.X_y", "a" * 64)
    for given in (*sane, "a" * 65, "a b", "<script>", ""):
        reply = httpx.get(f"{server.url}/runs", headers={"X-Request-ID": given}).headers["x-request-id"]
        assert (reply == given) is (given in sane)


def test_a_failure_inside_tells_nothing_outside(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve()

    reply = httpx.get(f"{server.url}/fails")

    assert reply.status_code == 500
    assert reply.json()["error"]["message"] == "Something went wrong inside."
    assert "4711" not in reply.text
    assert "A request failed inside" in caplog.text


def test_no_request_is_read_out_of_the_body_of_another(serve: Serve) -> None:
    """So that its body can't be taken for the next request."""
    server = serve()
    inner = b"GET /runs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    head = f"POST /query?token=x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(inner)}\r\n\r\n".encode()

    reply = server.raw(head + inner)

    assert reply.count(b"HTTP/1.1 ") == 1
    assert server.reached == []
    smuggled = "0\r\n\r\nGET /runs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

    for (head,) in rows("server/heads.jsonl"):
        reply = server.raw(f"POST /query HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}\r\n{smuggled}".encode())

        assert "/runs" not in server.reached
        assert reply.count(b"HTTP/1.1 200") <= 1


def test_a_head_that_never_ends_is_given_up_also_the_second_and_a_stream_is_not(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.server.middleware.header_timeout.HEADER_SECONDS", 0.5)
    server = serve()
    for begun in (b"", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "):
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(begun)
            assert connection.recv(100) == b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(b"GET /stream?seconds=1.2 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        received = b""
        while not received.endswith(b"0\r\n\r\n"):
            received += connection.recv(65536)
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: ")
        assert connection.recv(100) == b""
    assert b"data: 2" in received
