"""`python -m agent.server` as a process of its own, with one worker or several."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx

from tests import commands

Server = commands.Process | subprocess.Popen[str]
ROOT = Path(__file__).resolve().parents[3]


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TEXT2SQL_", "OPENAI_"))}
    return {**kept, "PYTHONPATH": str(ROOT), "TEXT2SQL_STATE_DIR": str(folder / "state"), **more}


@contextlib.contextmanager
def started(folder: Path, *options: str, **more: str) -> Iterator[tuple[Server, int, str]]:
    """(process, port, its first line). Several workers are a process with imports of its own: where their figures are
    kept is decided when Prometheus's client is imported."""
    words, there = ("-m", "agent.server", "--port", "0", *options), environment(folder, **more)
    out, err = subprocess.PIPE, subprocess.DEVNULL
    process: Server = (
        subprocess.Popen([sys.executable, *words], cwd=folder, env=there, stdout=out, stderr=err, text=True)
        if "--workers" in options
        else commands.Process(*words, cwd=folder, env=there, stdout=out, stderr=err)
    )
    with process:
        first_line = process.stdout.readline()
        try:
            yield process, int(first_line.split("http://127.0.0.1:")[1].split()[0]), first_line
        finally:
            process.kill()


def failed(folder: Path, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    return commands.run("-m", "agent.server", *options, cwd=folder, env=environment(folder, **more), timeout=60)


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
