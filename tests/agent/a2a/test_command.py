"""`python -m agent.a2a` as a process: where it listens, what its card says, and how it refuses."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from eval.a2a.card_url import CardUrlUnusable, checked_card_url
from tests.commands import Process
from tests.pairs import sections

ROOT = Path(__file__).resolve().parents[3]
ENV = {**os.environ, "OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "COLUMNS": "120"}


@contextlib.contextmanager
def started(*arguments: str, **settings: str) -> Iterator[str]:
    """The first line of a process that listens; it is told to stop in the end."""
    words, pipe = ("-m", "agent.a2a", *arguments), subprocess.PIPE
    process = Process(*words, cwd=ROOT, env={**ENV, **settings}, stdout=pipe, stderr=pipe)
    assert process.stdout is not None
    try:
        assert select.select([process.stdout], [], [], 60)[0]
        yield process.stdout.readline()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_it_listens_on_loopback_says_so_and_stops_when_told() -> None:
    with started("--port", "0") as line:
        match = re.match(r"A2A at (http://127\.0\.0\.1:\d+/), card \1 \(the built-in offline engine answers\)", line)
        assert match
        card = httpx.get(match[1] + ".well-known/agent-card.json", timeout=30).json()
        assert card["url"] == match[1]


def test_with_tokens_only_the_card_and_the_health_are_open() -> None:
    task = {"task_id": "t", "question": "How many books are there?", "schema": "CREATE TABLE books (id INTEGER)"}
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}}
    with (
        started("--port", "0", TEXT2SQL_TOKENS="bench=0123456789abcdef") as line,
        httpx.Client(base_url=line.split()[2].rstrip(","), timeout=60) as client,
    ):
        assert client.get(".well-known/agent-card.json").status_code == 200
        assert client.get("health").status_code == 200
        assert client.post("generate", json=task).status_code == 401
        assert client.post("", json=rpc).status_code == 401
        wrong = client.post("generate", json=task, headers={"Authorization": "Bearer fedcba9876543210"})
        assert wrong.status_code == 401
        right = client.post("generate", json=task, headers={"Authorization": "Bearer 0123456789abcdef"})
        assert "COUNT" in right.json()["sql"].upper()


@pytest.mark.parametrize(("host", "here"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]")])
def test_listening_everywhere_the_card_says_the_name_of_the_machine(host: str, here: str) -> None:
    with started("--host", host, "--port", "0") as line:
        match = re.search(r":(\d+)/, card (http://\S+/) ", line)
        assert match
        card = httpx.get(f"http://{here}:{match[1]}/.well-known/agent-card.json", timeout=30).json()
        assert card["url"] == match[2] == f"http://{socket.gethostname()}:{match[1]}/"


def test_a_url_that_others_can_call_stands_in_the_card() -> None:
    for url in ("http://agent:9019/", "https://example.org/a2a", "http://[::1]:9019/"):
        assert checked_card_url(url) == url
    assert checked_card_url("http://agent:9019") == "http://agent:9019/"


@pytest.mark.parametrize(
    "given",
    sections("a2a/card_urls.txt")["refused"][0],
)
def test_a_url_that_nobody_can_call_is_refused(given: str) -> None:
    with pytest.raises(CardUrlUnusable):
        checked_card_url(given)
