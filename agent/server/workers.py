"""Several workers behind one port: uvicorn starts them, replaces those that end, and stops them together.

In: an address, a number of workers, the settings. Out: an exit code, after a stop signal. Each worker takes one of the
numbered places in a folder of the command, with a lock that ends with its process; who takes the place of a worker that
was killed ends the leases of its runs.
"""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING

import uvicorn
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from agent.server.server_process import BACKLOG, NOT_STARTED, address_of, announce, bound, options
from eval.confinement import die_with_parent

if TYPE_CHECKING:
    from fastapi import FastAPI

    from agent.config import Settings, StateSettings
    from agent.server.runs.registry import Instance

FROZEN_SECONDS = 15
"""A worker that gives no sign of life for so long, even from inside a C function, is replaced."""
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable that makes prometheus-client add up the figures of several processes."""
_PLACES = "TEXT2SQL_WORKER_PLACES"
_URL = "TEXT2SQL_WORKER_URL"
"""Variables by which the command tells its workers."""

_held: list[IO[str]] = []
"""The file of this worker's place; the lock ends when it is closed."""


def workers_problem(workers: int, state: StateSettings) -> str | None:
    """Why several workers cannot run with these settings, in a sentence; None when they can. Raises StateUnusable."""
    if workers == 1:
        return None
    if not hasattr(os, "fork"):
        return "Several workers need Linux or macOS; elsewhere, start several servers behind a balancer."
    from agent.store.location import state_location

    if state_location(state).sqlite:
        return (
            f"{workers} workers need a state that they can share: set TEXT2SQL_STATE_URL=postgresql://…. SQLite lets "
            "one process write at a time and tells the others nothing, so more workers make it slower."
        )
    return None


def run_workers(host: str, port: int, url: str | None, config: Settings, workers: int) -> int:
    """Serve with several workers until a stop signal; the exit code. Raises AddressUnusable."""
    with bound(host, port) as listening, tempfile.TemporaryDirectory(prefix="text2sql-workers-") as folder:
        listening.listen(BACKLOG)  # what comes before a worker accepts it waits
        address = address_of(listening)
        os.environ[_PLACES], os.environ[_URL] = folder, (url or address).rstrip("/")
        if METRICS_FOLDER not in os.environ:
            (Path(folder) / "metrics").mkdir()
            os.environ[METRICS_FOLDER] = str(Path(folder) / "metrics")
        uvicorn_config = uvicorn.Config(
            "agent.server.workers:worker",
            factory=True,
            workers=workers,
            timeout_worker_healthcheck=FROZEN_SECONDS,
            **options(config.server),
        )
        supervisor = _Workers(uvicorn_config, [listening], address, config)
        supervisor.run()
        return supervisor.exit_code


class _Workers(Multiprocess):
    """uvicorn's supervisor; it also tells when all workers answer, and from then on it does not give up because one of
    them cannot start anew."""

    def __init__(self, workers: uvicorn.Config, sockets: list[socket.socket], address: str, config: Settings) -> None:
        super().__init__(workers, sockets)
        self._address, self._config = address, config
        self._announced = False

    @property
    def exit_code(self) -> int:
        return NOT_STARTED if any(process.exitcode == NOT_STARTED for process in self.processes) else 0

    def keep_subprocess_alive(self) -> None:
        if self.should_exit.is_set():
            return
        super().keep_subprocess_alive()
        if self._announced and self.should_exit.is_set():  # one could not start anew, as while the state is away
            self.should_exit.clear()
            for place, process in enumerate(self.processes):
                if process.exitcode == NOT_STARTED:
                    self.processes[place] = Process(self.config, self.sockets)
                    self.processes[place].start()
        if not self._announced and not self.should_exit.is_set() and all(p.is_ready() for p in self.processes):
            self._announced = True
            announce(self._address, self._config, workers=len(self.processes))


def worker() -> FastAPI:
    """The app of one worker, made in its process."""
    die_with_parent(signal.SIGTERM)
    from agent.config import settings
    from agent.server.app import create_app

    return create_app(settings(), url=os.environ[_URL], instance=_placed(Path(os.environ[_PLACES])))


def _placed(folder: Path) -> Instance:
    """This process at the first place that no living one holds. What its predecessor left is cleared away."""
    import fcntl

    from prometheus_client.multiprocess import mark_process_dead

    from agent.server.runs.registry import Instance

    for number in count(1):
        place = (folder / str(number)).open("a+")
        try:
            fcntl.lockf(place, fcntl.LOCK_EX | fcntl.LOCK_NB)  # unlike flock's, no child inherits it
        except OSError:
            place.close()
            continue
        place.seek(0)
        pid, _, before = place.read().partition(" ")
        if pid:
            mark_process_dead(int(pid))  # type: ignore[no-untyped-call]  # its gauges
        instance = Instance(worker=number, replaces=before or None)
        place.truncate(0)
        place.write(f"{os.getpid()} {instance.id}")
        place.flush()
        _held.append(place)
        return instance
    raise AssertionError("there is always another number")
