"""A child for uploads whose reader a crafted file has taken over: it tells what of all that it tries succeeds."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.sources import upload_child


def _tries(job: dict[str, Any]) -> None:
    secret = Path(job["secret"])
    tried: dict[str, Callable[[], object]] = {
        "reads its file": lambda: Path(job["files"][0][0]).read_text(),
        "writes its folder": lambda: Path(job["out"]).write_text("x"),
        "reads a secret": secret.read_text,
        "writes beside a secret": lambda: secret.with_name("new").write_text("x"),
        "calls home": lambda: socket.create_connection(("127.0.0.1", job["port"]), 1).close(),
    }
    could = []
    for what, attempt in tried.items():
        try:
            attempt()
        except OSError:
            continue
        could.append(what)
    print(json.dumps(could))


def serve(connection: socket.socket, folder: Path) -> None:
    upload_child.do = _tries
    upload_child.serve(connection, folder)
