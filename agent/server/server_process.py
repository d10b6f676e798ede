"""Serves the app on a socket, in one process, or in several workers behind one port.

In: a bound socket, or an address and a number of workers; the settings. Out: an exit code, after a stop signal. A stop
lets running questions finish within TEXT2SQL_DRAIN_SECONDS. uvicorn starts workers, replaces those that end, and stops
them together. Each takes one of the numbered places in a folder of the command, with a lock that ends with its process;
who takes the place of a worker that was killed ends the leases of its runs.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import uvicorn
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from eval.a2a.command import CANNOT_START
from eval.errors import InputError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from agent.config import ServerSettings, Settings, StateSettings
    from agent.server.runs.registry import Instance

BACKLOG = 1024
CLOSE_SECONDS = 5
"""Time after the drain in which open connections have to end."""
FROZEN_SECONDS = 15
"""A worker that gives no sign of life for so long, even from inside a C function, is replaced."""
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable that makes prometheus-client add up the figures of several processes."""
_PLACES = "TEXT2SQL_WORKER_PLACES"
_URL = "TEXT2SQL_WORKER_URL"
"""Variables by which the command tells its workers."""

_held: list[IO[str]] = []
"""The file of this worker's place; the lock ends when it is closed."""


class AddressUnusable(InputError):
    """Nothing can listen at this address."""


def bound(host: str, port: int) -> socket.socket:
    """A socket at the address, made before anything else, so that a taken port is reported at once and port 0 becomes a
    number. Raises AddressUnusable."""
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise AddressUnusable(f"cannot listen at {host}, port {port}: {error.strerror or error}") from None
    return made


def announce(address: str, config: Settings, *, workers: int = 1) -> None:
    """The first line on standard output."""
    several = f", {workers} workers" if workers > 1 else ""
    sys.stdout.write(f"text2sql at {address} ({config.model.engine} answers{several}). Ctrl-C stops it.\n")
    sys.stdout.flush()


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve(listening: socket.socket, config: Settings, *, url: str, started: Callable[[], None]) -> int:
    """Serve until a stop signal; the exit code. `started` is called once requests are answered. Raises ValueError where
    the settings cannot be used."""
    from agent.server.app import create_app

    made = create_app(config, url=url)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                started()

    server = Server(uvicorn.Config(made, **options(config.server)))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # uvicorn handles it while it runs, then raises it again at the end
    try:
        server.run([listening])
    except SystemExit:  # the lifespan failed; the log says why
        return CANNOT_START
    except KeyboardInterrupt:
        return 0
    return 0 if server.started else CANNOT_START


def options(settings: ServerSettings) -> dict[str, Any]:
    """Keyword arguments for uvicorn."""
    from agent.server.middleware import uvicorn_options

    grace = int(settings.drain_seconds) + CLOSE_SECONDS
    return {**uvicorn_options(), "timeout_graceful_shutdown": grace, "timeout_keep_alive": 30, "backlog": BACKLOG}


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
            "agent.server.server_process:worker",
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
        return CANNOT_START if any(process.exitcode == CANNOT_START for process in self.processes) else 0

    def keep_subprocess_alive(self) -> None:
        if self.should_exit.is_set():
            return
        super().keep_subprocess_alive()
        if self._announced and self.should_exit.is_set():  # one could not start anew, as while the state is away
            self.should_exit.clear()
            for place, process in enumerate(self.processes):
                if process.exitcode == CANNOT_START:
                    self.processes[place] = Process(self.config, self.sockets)
                    self.processes[place].start()
        if not self._announced and not self.should_exit.is_set() and all(p.is_ready() for p in self.processes):
            self._announced = True
            announce(self._address, self._config, workers=len(self.processes))


def worker() -> FastAPI:
    """The app of one worker, made in its process."""
    from eval.confinement import die_with_parent  # late: it needs POSIX, which one process does without

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
