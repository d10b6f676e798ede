"""A server of the agent in a process of its own, and what processes use, read from /proc.

In: settings and options of `python -m agent.server`, or the id of a process. Out: the port of the running server and
its process; children, memory and processor time, which are none and 0 for a process that has ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def agent_server(log: Path, settings: Mapping[str, str], *options: str) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A server on a free port with these settings and no others, except for this environment's cache folder; its
    messages go to `log`. Raises SystemExit with their end where it does not start."""
    own = ("TEXT2SQL_", "OPENAI_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(own) or k == "TEXT2SQL_CACHE_DIR"}
    command = [sys.executable, "-m", "agent.server", "--port", "0", *options]
    with (
        log.open("w") as messages,
        subprocess.Popen(
            command, env={**kept, **settings}, stdout=subprocess.PIPE, stderr=messages, text=True
        ) as process,
    ):
        assert process.stdout is not None
        try:
            first_line = process.stdout.readline()
            if "http://127.0.0.1:" not in first_line:
                raise SystemExit(f"the server did not start: {log.read_text()[-2000:]}")
            yield int(first_line.split("http://127.0.0.1:")[1].split()[0]), process
        finally:
            process.terminate()


def children(pid: int) -> list[int]:
    """The processes that the threads of a process have started and that still run."""
    pids: list[int] = []
    for threads in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            pids += map(int, threads.read_text().split())
        except OSError:
            continue
    return pids


def descendants(pid: int) -> list[int]:
    """Children, and theirs."""
    return [one for child in children(pid) for one in (child, *descendants(child))]


def processor_seconds(pid: int) -> float:
    """Processor time of a process and of its ended children."""
    fields = _read(pid, "stat").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def resident_mb(pid: int) -> float:
    """Memory of a process that is not swapped out."""
    fields = _read(pid, "status").partition("VmRSS:")[2].split()
    return int(fields[0]) / 1024 if fields else 0.0


def command_line(pid: int) -> str:
    """The command of a process, its words ended by NUL."""
    return _read(pid, "cmdline")


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""
