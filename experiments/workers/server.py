"""The server under measurement, and what its processes use.

In: a number of workers and a state. Out: a running `python -m agent.server`, its port and processes; their processor
time and memory, read from /proc.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    port: int
    process: subprocess.Popen[str]
    workers: int

    @property
    def pids(self) -> list[int]:
        """The processes that answer."""
        return [self.process.pid] if self.workers == 1 else children(self.process.pid)

    def processor(self) -> float:
        """Seconds of processor time of the workers, and of the processes in which their statements run."""
        return sum(processor(pid) for worker in self.pids for pid in (worker, *descendants(worker)))

    def memory(self) -> dict[int, float]:
        """MB of each worker that are in memory."""
        return {pid: resident(pid) for pid in self.pids}


@contextmanager
def scratch_state(url: str) -> Iterator[str]:
    """An empty database for a state, on the server of `url`."""
    import psycopg

    name = f"scratch_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
    try:
        yield urlsplit(url)._replace(path=f"/{name}").geturl()
    finally:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def serving(workers: int, state: str | None, model: str | None, **settings: str) -> Iterator[Server]:
    """A server on the demo database; `state`: a PostgreSQL, None for SQLite; `model`: None for the offline engine."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TEXT2SQL_", "OPENAI_"))}
    cache = {"TEXT2SQL_CACHE_DIR": value} if (value := os.environ.get("TEXT2SQL_CACHE_DIR")) else {}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
        own = {"TEXT2SQL_STATE_DIR": folder, "TEXT2SQL_RATE_PER_MINUTE": "0", "TEXT2SQL_REQUESTS_AT_ONCE": "0"}
        own |= {"TEXT2SQL_STATE_URL": state, "TEXT2SQL_SECRET": "measured"} if state else {}
        own |= {"OPENAI_BASE_URL": model, "OPENAI_API_KEY": "k", "TEXT2SQL_MODEL": "m"} if model else {}
        command = [sys.executable, "-m", "agent.server", "--port", "0", "--workers", str(workers)]
        environment = {**kept, **cache, **own, **settings}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True) as process:
            assert process.stdout is not None
            try:
                first_line = process.stdout.readline()
                if "http://127.0.0.1:" not in first_line:
                    log.seek(0)
                    raise SystemExit(f"the server did not start: {log.read().decode()[-2000:]}")
                yield Server(int(first_line.split("http://127.0.0.1:")[1].split()[0]), process, workers)
            finally:
                process.terminate()


def children(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(one) for one in children.split()]


def descendants(pid: int) -> list[int]:
    """Children of all threads of a process, and theirs."""
    pids = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children") if Path(f"/proc/{pid}").exists() else ():
        try:
            own = [int(one) for one in thread.read_text().split()]
        except OSError:
            continue
        for child in own:
            pids += [child, *descendants(child)]
    return pids


def processor(pid: int) -> float:
    """Seconds of processor time of a process and of its ended children."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(int(fields[n]) for n in (11, 12, 13, 14)) / TICKS


def resident(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def postgres_processor(database: str) -> float:
    """Seconds of processor time of the PostgreSQL processes that serve a database; 0 where they run elsewhere."""
    total = 0.0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if command.startswith(b"postgres:") and database.encode() in command:
                total += processor(int(folder.name))
    return total
