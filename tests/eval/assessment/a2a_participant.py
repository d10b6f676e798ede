"""A participant that speaks A2A as its card says: a task is at work at first, and done when it is asked for again."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TASK_ID = "a/1"


@dataclass
class Stand:
    url: str = ""
    paths: list[str] = field(default_factory=list)
    """Path and method of each call."""
    received: list[str] = field(default_factory=list)
    """The headers of each call."""


@contextlib.contextmanager
def serving_a2a(card: dict[str, Any], sql_by_question: dict[str, str], *, below: str = "") -> Iterator[Stand]:
    """Run it for the length of the block; `below`: the path under which it answers, and nowhere else."""
    stand, asked = Stand(), {"sql": ""}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path == f"{below}/.well-known/agent-card.json":
                self.reply(card)
            elif self.path.startswith("/tasks/"):
                self.heard(self.path)
                self.reply(self.task("TASK_STATE_COMPLETED"))
            else:
                self.reply({}, 404)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            method = body.get("method", "")
            self.heard(f"{self.path} {method}".strip())
            if not self.path.startswith(below):
                self.reply({}, 404)
                return
            new = method in ("", "SendMessage", "GetTask")
            if method in ("", "SendMessage", "message/send"):
                message = (body.get("params") or body)["message"]
                assert message["role"] == ("ROLE_USER" if new else "user")
                asked["sql"] = sql_by_question[json.loads(message["parts"][0]["text"])["question"]]
                task = self.task("TASK_STATE_WORKING" if new else "working")
                result = {"task": task} if new else task
            else:
                result = self.task("TASK_STATE_COMPLETED" if new else "completed")
            self.reply({"jsonrpc": "2.0", "id": body["id"], "result": result} if method else result)

        def task(self, state: str) -> dict[str, Any]:
            done = state.lower().endswith("completed")
            artifacts = [{"parts": [{"text": json.dumps({"sql": asked["sql"]})}]}] if done else []
            return {"id": TASK_ID, "status": {"state": state}, "artifacts": artifacts}

        def heard(self, what: str) -> None:
            stand.paths.append(what)
            stand.received.append(str(self.headers))

        def reply(self, body: dict[str, Any], status: int = 200) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stand.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield stand
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
