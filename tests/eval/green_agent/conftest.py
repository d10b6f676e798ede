"""A running evaluator on loopback, over a small task set."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

pytest.importorskip("a2a")

from eval.green_agent.app import build_app
from eval.green_agent.assessment_run import Evaluator, Source
from tests.eval.assessment.conftest import golds, place

__all__ = ["evaluator", "golds", "place"]


@contextlib.contextmanager
def serving(source: Source) -> Iterator[str]:
    """The base URL of an evaluator over these tasks."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        config = uvicorn.Config(build_app(Evaluator(source), url), log_level="critical", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        until = time.monotonic() + 30
        while not server.started and time.monotonic() < until:
            time.sleep(0.02)
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join(15)


@pytest.fixture(scope="module")
def evaluator(place: Path) -> Iterator[str]:
    with serving(Source(str(place / "tasks.jsonl"))) as url:
        yield url
