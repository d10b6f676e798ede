"""Participants to test with: real HTTP servers on loopback whose every reply a test says.

In: a function from a task to a reply. Out: a URL. REST, and A2A with an agent card where `rpc` or `card` is set.

`python -m experiments.reference_participants gold|one|empty|SQL PORT` is a participant for the command line: it answers
the task library with gold, or every task with `SELECT 1`, with nothing, or with that SQL.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Raw:
    """A reply as it goes over the wire."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


Reply = Callable[[dict[str, Any]], "dict[str, Any] | Raw"]


@dataclass
class RunningParticipant:
    """A running server and what it was asked."""

    url: str
    asked: list[dict[str, Any]]
    paths: list[str]
    """The path of each request, and its JSON-RPC method."""
    received: list[str]
    """Each request whole: its line, its headers, its body."""


@contextlib.contextmanager
def serving(
    say: Reply, *, rpc: bool = False, card: dict[str, Any] | None = None, below: str = "", port: int = 0
) -> Iterator[RunningParticipant]:
    """Run a participant for the length of the block. `say` gets the task (over A2A, out of the message), and
    `{"got": id}` when A2A asks for a task again. `below`: the path under which it answers, and nowhere else."""
    stand = RunningParticipant("", [], [], [])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: two would wait for an acknowledgement in between

        def do_GET(self) -> None:
            stand.paths.append(self.path)
            stand.received.append(f"{self.requestline}\n{self.headers}")
            if (card is not None or rpc) and self.path == f"{below}/.well-known/agent-card.json":
                self.send(Raw(json.dumps(card or {"name": "t", "url": stand.url + "/"}).encode()))
            elif self.path.startswith("/tasks/"):
                self.answer({"got": self.path.removeprefix("/tasks/")})
            else:
                self.send(Raw(b"{}", 404))

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["content-length"])).decode()
            stand.received.append(f"{self.requestline}\n{self.headers}\n{text}")
            body = json.loads(text)
            stand.paths.append(f"{self.path} {body.get('method', '')}".strip())
            params = body.get("params", body)
            if not self.path.startswith(below):
                self.send(Raw(b"{}", 404))
            elif "message" in params:
                self.answer(json.loads(params["message"]["parts"][0]["text"]), body)
            else:
                self.answer({"got": params["id"]} if "jsonrpc" in body else body, body)

        def answer(self, task: dict[str, Any], body: dict[str, Any] | None = None) -> None:
            stand.asked.append(task)
            reply = say(task)
            if body and "jsonrpc" in body and isinstance(reply, dict):
                reply = {"jsonrpc": "2.0", "id": body["id"], "result": reply}
            self.send(reply if isinstance(reply, Raw) else Raw(json.dumps(reply).encode()))

        def send(self, raw: Raw) -> None:
            with contextlib.suppress(OSError):
                self.send_response(raw.status)
                for name, value in {"content-length": str(len(raw.body)), **raw.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw.body)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *_: object) -> None:
            pass

    server = Server(("127.0.0.1", port), Handler)
    stand.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield stand
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main(kind: str, port: str) -> None:
    from eval.tasks.library import tasks

    golds = {task.id: task.gold.sql for task in tasks()} if kind == "gold" else {}
    sql = {"one": "SELECT 1", "empty": ""}.get(kind, kind)
    with serving(lambda task: {"sql": golds.get(task["task_id"], sql)}, port=int(port)):
        threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:3])
