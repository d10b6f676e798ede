"""A tiny model in the catalogue, a hub that serves it, and a program that stands for llama.cpp's server."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from agent.models.local import download, serving
from agent.models.local.download import LocalModel
from tests.agent.server import processes
from tests.http_server import Answer, answered_by

WEIGHTS = b"GGUF" + bytes(range(256)) * 4_000
TINY = LocalModel(
    name="tiny",
    title="Tiny",
    repository="people/tiny-GGUF",
    file="tiny-q4.gguf",
    size=len(WEIGHTS),
    sha256=hashlib.sha256(WEIGHTS).hexdigest(),
    licence="Apache-2.0",
    memory=10_000_000,
)
SERVER = r"""
import json, os, pathlib, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

if "--help" in sys.argv:
    sys.exit(print("--kv-unified --cache-reuse N --no-webui"))
words = dict(zip(sys.argv, sys.argv[1:]))
here = pathlib.Path(__file__).parent
with open(here / "started", "a") as file:
    file.write(json.dumps({"pid": os.getpid(), "words": sys.argv, "secret": os.environ.get("OPENAI_API_KEY")}) + "\n")
if (here / "broken").exists():
    sys.exit("error: unknown model architecture")
ready = time.monotonic() + 0.4


class Handler(BaseHTTPRequestHandler):
    def say(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        if time.monotonic() < ready:
            return self.say(503, {"error": {"message": "Loading model"}})
        if self.path == "/health":
            return self.say(200, {"status": "ok"})
        if self.path != "/v1/models":
            return self.say(404, {"error": {"message": "File Not Found"}})
        if self.headers["Authorization"] != "Bearer " + os.environ["LLAMA_API_KEY"]:
            return self.say(401, {"error": {"message": "Invalid API Key"}})
        self.say(200, {"data": [{"id": words["--alias"], "owned_by": "llamacpp"}]})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != "Bearer " + os.environ["LLAMA_API_KEY"]:
            return self.say(401, {"error": {"message": "Invalid API Key"}})
        text = json.dumps({"sql": "SELECT COUNT(*) AS n FROM customers", "city": "Lyon"})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 700, "completion_tokens": 9, "total_tokens": 709}
        self.say(200, {"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(words["--port"])), Handler).serve_forever()
"""


@dataclass
class Hub:
    url: str
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    """(path, Range) of each request."""
    content: bytes = WEIGHTS
    status: int = 0
    """Instead of the file."""
    cuts: int = 0
    """Connections that are still to break after a third of what they send."""
    ranges: bool = True
    waits: threading.Event | None = None
    """The second half of the file comes once it is set."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    def answer(request: BaseHTTPRequestHandler, _: bytes) -> Answer | None:
        wanted = request.headers.get("Range")
        hub.asked.append((request.path, wanted))
        if hub.status:
            return hub.status, {}, b""
        first = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and hub.ranges else 0
        body = hub.content[first:]
        request.send_response(206 if first else 200)
        if first:
            request.send_header("Content-Range", f"bytes {first}-{len(hub.content) - 1}/{len(hub.content)}")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if hub.cuts:
            hub.cuts -= 1
            request.wfile.write(body[: len(body) // 3])
            return None
        request.wfile.write(body[: len(body) // 2])
        if hub.waits is not None:
            hub.waits.wait(20)
        request.wfile.write(body[len(body) // 2 :])
        return None

    with answered_by(answer) as place:
        hub = Hub(f"http://{place}")
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setattr(download, "CATALOGUE", (TINY,))
        yield hub
        if hub.waits is not None:
            hub.waits.set()


@pytest.fixture(autouse=True)
def own_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of temporary files whose path is short enough for sockets. What a test began is given up at its end."""
    with tempfile.TemporaryDirectory(prefix="t2s-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield
        while serving._leases:
            serving._leases.popitem()[1][0].close()


@pytest.fixture
def llama_server(tmp_path: Path) -> Path:
    """A program that loads for a moment, wants its key, and notes each start in `started` beside it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "llama-server"
    program.write_text(f"#!{sys.executable} -IS\n{SERVER}")
    program.chmod(0o755)
    return program


@pytest.fixture
def fetched(tmp_path: Path) -> Path:
    file = tmp_path / "cache" / "models" / "tiny.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(WEIGHTS)
    return file


def alive(pid: int) -> bool:
    """Whether the process runs; one that nobody has reaped yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def environment(tmp_path: Path, program: Path, **more: str) -> dict[str, str]:
    own = {"TEXT2SQL_CACHE_DIR": str(tmp_path / "cache"), "TEXT2SQL_LLAMA_SERVER": str(program)}
    return processes.environment(tmp_path, **own, **more)


def starts(program: Path) -> list[dict[str, Any]]:
    """What was noted at each start of the server."""
    noted = program.with_name("started")
    return [json.loads(line) for line in noted.read_text().splitlines()] if noted.exists() else []
