"""A real server on a free port, and clients that read what it streams."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx
from httpx_sse import connect_sse

from agent.config import Settings
from agent.server.app import create_app
from agent.server.services import Services
from tests.asgi_server import serving
from tests.openai_server import Behaviour, OpenAIServer, Reply, Request, completion

ANA, BEN = "a-long-random-token-of-ana-0123456789", "a-long-random-token-of-ben-0123456789"
"""Tokens of two clients."""
QUESTION = "How many customers are there?"


@dataclass
class Running:
    url: str
    app: Any
    port: int

    @property
    def services(self) -> Services:
        return self.app.state.services

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30)

    def get(self, path: str, **more: Any) -> httpx.Response:
        return httpx.get(self.url + path, timeout=30, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        return httpx.post(self.url + path, json=body, timeout=30, **more)

    def ask(self, question: str, **more: Any) -> Stream:
        """Ask, and read the stream to its end."""
        return self.stream("POST", "/query", json={"question": question, **more})

    def stream(self, method: str, path: str, **more: Any) -> Stream:
        with self.client() as client, connect_sse(client, method, path, **more) as source:
            assert source.response.status_code == 200, source.response.read()
            numbered = [
                (int(e.id), json.loads(e.data, parse_constant=_no_constant))
                for e in source.iter_sse()
                if e.data  # a heartbeat is a comment, which this client reports as an empty message
            ]
            return Stream(numbered, dict(source.response.headers))


@dataclass
class Stream:
    numbered: list[tuple[int, dict[str, Any]]]
    headers: dict[str, str]

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for _, event in self.numbered]

    @property
    def names(self) -> list[str]:
        return [event["event"] for event in self.events]

    @property
    def run_id(self) -> str:
        return self.headers["x-run-id"]

    @property
    def thread_id(self) -> str:
        return self.headers["x-thread-id"]

    def of(self, name: str) -> list[dict[str, Any]]:
        """The `data` of all events of a kind."""
        return [event["data"] for event in self.events if event["event"] == name]


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def settings_for(folder: Path, **more: Any) -> Settings:
    """Settings of a server of its own: nothing from the environment's .env, its state in `folder`."""
    values = {"TEXT2SQL_STATE_DIR": str(folder / "state"), **{k: str(v) for k, v in more.items()}}
    return Settings(_env_file=None, **values)


def model_at(endpoint: OpenAIServer) -> dict[str, str]:
    """The variables that name the model of a scripted endpoint."""
    return {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "k", "TEXT2SQL_MODEL": "scripted"}


@contextlib.contextmanager
def running(settings: Settings, *, send_buffer: int | None = None) -> Iterator[Running]:
    """Serve in a thread until the block ends. `send_buffer`: bytes that the kernel holds for a client."""
    app = create_app(settings)
    options: dict[str, Any] = {"log_config": None, "log_level": None, "access_log": False, "ws": "none"}
    with serving(lambda _: app, send_buffer=send_buffer, timeout_graceful_shutdown=2, **options) as url:
        yield Running(url.rstrip("/"), app, int(url.rstrip("/").rpartition(":")[2]))


def raw_query(port: int, body: dict[str, Any], *, receive_buffer: int | None = None) -> socket.socket:
    """A connection that has sent a question and has read nothing yet."""
    data = json.dumps(body).encode()
    connection = socket.socket()
    if receive_buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(30)
    connection.connect(("127.0.0.1", port))
    head = f"POST /query HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: "
    connection.sendall(head.encode() + str(len(data)).encode() + b"\r\n\r\n" + data)
    return connection


def read_until(connection: socket.socket, mark: bytes) -> bytes:
    """Everything up to and including a mark (or up to the end)."""
    received = b""
    while mark not in received and (piece := connection.recv(65536)):
        received += piece
    return received


def wait_until(condition: Any, seconds: float = 10.0) -> float:
    """Poll until it holds; the seconds it took."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, "it did not come to be"
        time.sleep(0.002)
    return time.monotonic() - started


class Begun:
    """A question whose run has begun: its client has read the first event, and leaves at the end of the block."""

    def __init__(self, port: int, question: str = QUESTION, **more: Any) -> None:
        self._connection = raw_query(port, {"question": question, **more})
        self.close = self._connection.close
        head = read_until(self._connection, b'"event":"run"').decode().split("\r\n\r\n")[0]
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
        self.run_id, self.thread_id = headers["x-run-id"], headers["x-thread-id"]

    def rest(self) -> bytes:
        """What follows, up to the event that ends it."""
        return read_until(self._connection, b'"event":"done"')

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


ANSWER = "The answer is in the rows, all of them, one by one."


def scripted(*sql: str, delay: float = 0.0, plan_delay: float | None = None, answer: str = ANSWER) -> Behaviour:
    """An endpoint that plans one task, writes these statements one after the other and then the last, likes them, and
    says its answer word by word."""
    statements = itertools.chain(sql, itertools.repeat(sql[-1]))

    def behave(request: Request) -> Reply:
        wanted = json.dumps(request.body.get("response_format", {}))
        if "response_format" not in request.body:
            return completion(answer, delay=delay)
        if '"tasks"' in wanted:
            task = {"id": "t1", "description": "count", "sql": "", "depends_on": []}
            plan = {"plan_type": "single", "confidence": 0.9, "tasks": [task]}
            return completion(plan, delay=delay if plan_delay is None else plan_delay)
        if '"sql"' in wanted:
            return completion({"reasoning": "as asked", "sql": next(statements)}, delay=delay)
        return completion({"score": 0.95, "reasoning": "it fits"}, delay=delay)

    return behave
