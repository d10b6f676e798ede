"""`python -m agent.server` as a process of its own, with one worker or several."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[3]


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TEXT2SQL_", "OPENAI_"))}
    return {**kept, "PYTHONPATH": str(ROOT), "TEXT2SQL_STATE_DIR": str(folder / "state"), **more}


@contextlib.contextmanager
def started(folder: Path, *options: str, **more: str) -> Iterator[tuple[subprocess.Popen[str], int, str]]:
    """(process, port, what it said first)."""
    process = subprocess.Popen(
        [sys.executable, "-m", "agent.server", "--port", "0", *options],
        cwd=folder,
        env=environment(folder, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        said = process.stdout.readline()
        try:
            yield process, int(said.split("http://127.0.0.1:")[1].split()[0]), said
        finally:
            process.kill()


def failed(folder: Path, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "agent.server", *options]
    return subprocess.run(
        command, cwd=folder, env=environment(folder, **more), capture_output=True, text=True, timeout=60
    )


@contextlib.contextmanager
def at_worker(port: int, number: int) -> Iterator[httpx.Client]:
    """A client whose one connection has reached this worker."""
    for _ in range(200):
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, limits=httpx.Limits(max_connections=1))
        with client:
            if client.get("/ready").json()["worker"] == number:
                yield client
                return
    raise AssertionError(f"no connection has reached worker {number}")
