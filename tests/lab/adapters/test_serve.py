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


@pytest.mark.parametrize(
    "more",
    [
        {"max_tokens": -5}, {"max_tokens": "many"}, {"temperature": -1}, {"temperature": 1e9}, {"temperature": "hot"},
        {"model": "other"}, {"messages": "How many?"}, {"messages": [{"role": "user", "content": 3}]}, {"stream": True},
        {"messages": [{"role": "broken", "content": "a"}]}, {"messages": [{"role": "user", "content": "\ud800"}]},
    ],
)  # fmt: skip
def test_a_bad_request_is_told_and_the_server_goes_on(url: str, more: dict[str, Any]) -> None:
    body = json.dumps({"model": "base", "messages": MESSAGES, **more})
    reply = httpx.post(
        f"{url}/chat/completions", content=body, headers={"Content-Type": "application/json"}, timeout=60
    )
    assert (reply.status_code, bool(reply.json()["error"]["message"])) == (400, True)
    assert asked(url).status_code == 200


@pytest.mark.parametrize("body", ["[" * 100_000, "NaN", '{"temperature": NaN, "model": "base", "messages": []}', "{"])
def test_a_body_that_is_no_request_is_told(url: str, body: str) -> None:
    reply = httpx.post(
        f"{url}/chat/completions", content=body, headers={"Content-Type": "application/json"}, timeout=60
    )
    assert reply.status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},  # a name that was led to this machine
        {"Origin": "https://evil.example"},
        {"Content-Type": "text/plain"},  # what a page may send without asking
    ],
)
def test_a_page_of_another_origin_gets_nothing(url: str, headers: dict[str, str]) -> None:
    body = json.dumps({"model": "base", "messages": MESSAGES})
    reply = httpx.post(
        f"{url}/chat/completions", content=body, headers={"Content-Type": "application/json", **headers}, timeout=60
    )
    assert reply.status_code == 403
    if "Content-Type" not in headers:
        assert httpx.get(f"{url}/models", headers=headers, timeout=60).status_code == 403


def test_a_client_that_sends_nothing_holds_nobody_up(url: str) -> None:
    port = httpx.URL(url).port or 80
    with socket.create_connection(("127.0.0.1", port)) as idle:
        idle.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 100\r\n")
        assert asked(url).status_code == 200
