"""The server of a trained model refuses what is no request of a program of this machine, and goes on."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from text2sql_lab.adapters.serve import LocalModel, serving

MESSAGES = [{"role": "user", "content": "How many?"}]


class Parrot(LocalModel):
    """All of the server but the weights."""

    def __init__(self) -> None:
        self.names = ("base",)
        self.reply_tokens = 8
        self._lock = threading.Lock()

    def _generated(
        self, name: str, messages: list[dict[str, str]], most: int, temperature: float
    ) -> tuple[str, int, int, bool]:
        if messages[0]["role"] == "broken":
            raise RuntimeError("a tensor of another size")
        return f"{messages[-1]['content'].encode().decode()} {most} {temperature}", 1, 1, True


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(Parrot()) as place:
        yield place


def asked(url: str, **more: Any) -> httpx.Response:
    return httpx.post(f"{url}/chat/completions", json={"model": "base", "messages": MESSAGES, **more}, timeout=60)


def test_a_request_is_answered(url: str) -> None:
    reply = asked(url, max_tokens=5, temperature=0.5)
    assert reply.json()["choices"][0]["message"]["content"] == "How many? 5 0.5"


def test_a_bad_request_is_told_and_the_server_goes_on(url: str) -> None:
    bad: list[dict[str, Any]] = [
        {"max_tokens": -5}, {"max_tokens": "many"}, {"temperature": -1}, {"temperature": 1e9}, {"temperature": "hot"},
        {"model": "other"}, {"messages": "How many?"}, {"messages": [{"role": "user", "content": 3}]}, {"stream": True},
        {"messages": [{"role": "broken", "content": "a"}]}, {"messages": [{"role": "user", "content": "\ud800"}]},
    ]  # fmt: skip
    bodies = [json.dumps({"model": "base", "messages": MESSAGES, **more}) for more in bad]
    for body in (*bodies, "[" * 100_000, "NaN", '{"temperature": NaN, "model": "base", "messages": []}', "{"):
        assert sent(url, body).status_code == 400, body[:80]
        assert sent(url, body).json()["error"]["message"] or body not in bodies
    assert asked(url).status_code == 200


def sent(url: str, body: str, **headers: str) -> httpx.Response:
    given = {"Content-Type": "application/json", **headers}
    return httpx.post(f"{url}/chat/completions", content=body, headers=given, timeout=60)


def test_a_page_of_another_origin_gets_nothing(url: str) -> None:
    """Nor does a name that was led to this machine, nor what a page may send without asking."""
    body = json.dumps({"model": "base", "messages": MESSAGES})
    assert sent(url, body, **{"Content-Type": "text/plain"}).status_code == 403
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        assert sent(url, body, **headers).status_code == 403
        assert httpx.get(f"{url}/models", headers=headers, timeout=60).status_code == 403


def test_a_client_that_sends_nothing_holds_nobody_up(url: str) -> None:
    port = httpx.URL(url).port or 80
    with socket.create_connection(("127.0.0.1", port)) as idle:
        idle.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 100\r\n")
        assert asked(url).status_code == 200
