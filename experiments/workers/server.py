"""The server under measurement, and what its processes use.

In: a number of workers and a state. Out: a running `python -m agent.server`, its port and processes; their processor
time and memory.
"""

from __future__ import annotations

import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from experiments.processes import (
    agent_server,
    children,
    command_line,
    descendants,
    processor_seconds,
    resident_mb,
)


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
        return sum(processor_seconds(pid) for worker in self.pids for pid in (worker, *descendants(worker)))

    def memory(self) -> dict[int, float]:
        """MB of each worker that are in memory."""
        return {pid: resident_mb(pid) for pid in self.pids}


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
    with tempfile.TemporaryDirectory() as folder:
        own = {"TEXT2SQL_STATE_DIR": folder, "TEXT2SQL_RATE_PER_MINUTE": "0", "TEXT2SQL_REQUESTS_AT_ONCE": "0"}
        own |= {"TEXT2SQL_STATE_URL": state, "TEXT2SQL_SECRET": "measured"} if state else {}
        own |= {"OPENAI_BASE_URL": model, "OPENAI_API_KEY": "k", "TEXT2SQL_MODEL": "m"} if model else {}
        log = Path(folder, "server.log")
        with agent_server(log, {**own, **settings}, "--workers", str(workers)) as (port, process):
            yield Server(port, process, workers)


def postgres_processor(database: str) -> float:
    """Seconds of processor time of the PostgreSQL processes that serve a database; 0 where they run elsewhere."""
    pids = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    commands = ((pid, command_line(pid)) for pid in pids)
    return sum(processor_seconds(pid) for pid, text in commands if text.startswith("postgres:") and database in text)
