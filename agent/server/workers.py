"""Several workers behind one port: starts them, replaces those that end, and stops them together.

In: an address, a number of workers, the settings. Out: an exit code, after a stop signal. Each worker has a socket of
its own on the shared port, and the kernel spreads connections over them. The supervisor holds the sockets, too: when a
worker is killed, connections that it had not accepted yet wait for its successor. A worker that cannot start gives up
its socket meanwhile, so that the others get its share.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, NoReturn

from agent.server.instance import Instance
from agent.server.server_process import BACKLOG, CLOSE_SECONDS, NOT_STARTED, USAGE, address_of, announce, bound, serve
from eval.confinement import die_with_parent

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from agent.config import Settings, StateSettings

log = logging.getLogger(__name__)

LONGEST_PAUSE = 30.0
"""Seconds between two tries to start a worker that cannot start."""
STEADY_SECONDS = 5.0
"""A worker that ends sooner after its start is replaced after a pause."""
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable that makes prometheus-client add up the figures of several processes."""

_STOPS = (signal.SIGTERM, signal.SIGINT)


def workers_problem(workers: int, state: StateSettings) -> str | None:
    """Why several workers cannot run with these settings, in a sentence; None when they can. Raises StateUnusable."""
    if workers == 1:
        return None
    if not hasattr(socket, "SO_REUSEPORT") or not hasattr(os, "fork"):
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
    bound(host, port).close()  # fails where another server listens, which a shared port would not
    with bound(host, port, shared=True) as reserved, _metrics_added_up():  # it never listens, so it gets no connection
        _load(config)
        return _Supervisor(reserved, host, url, config, workers).run()


@contextmanager
def _metrics_added_up() -> Iterator[None]:
    """Figures of workers are kept in files, so that any of them can answer for all. Set before the metrics are made."""
    if METRICS_FOLDER in os.environ:
        yield
        return
    folder = tempfile.mkdtemp(prefix="text2sql-metrics-")
    os.environ[METRICS_FOLDER] = folder
    try:
        yield
    finally:
        del os.environ[METRICS_FOLDER]
        shutil.rmtree(folder, ignore_errors=True)


def _load(config: Settings) -> None:
    """Import what every worker needs once, so that a fork starts within a moment and shares its memory."""
    import agent.server.app  # noqa: F401
    from agent.runtime.interpreter import answer_many
    from agent.server.telemetry import configure_logging
    from agent.server.warmup import import_all

    configure_logging(config)
    import_all(config.model.offline)
    answer_many()


@dataclass(slots=True)
class _Slot:
    """The place of one worker."""

    number: int
    listening: socket.socket | None = None
    process: BaseProcess | None = None
    """The worker; None while there is none."""
    tells: Connection | None = None
    """Where the worker says that it answers; None once it has."""
    instance: Instance = field(default_factory=Instance)
    gone: str | None = None
    """The instance that was killed at this place and whose leases no successor has ended yet."""
    since: float = 0.0
    failures: int = 0
    """Starts in a row that failed."""
    due: float = 0.0
    """When the next start is due, on the monotonic clock."""

    @property
    def ready(self) -> bool:
        return self.process is not None and self.tells is None


class _Supervisor:
    """Belongs to the main thread of a process that has no other thread, so that it can fork."""

    def __init__(self, reserved: socket.socket, host: str, url: str | None, config: Settings, workers: int) -> None:
        self._host, self._port = host, reserved.getsockname()[1]
        self._address = address_of(reserved)
        self._url = (url or self._address).rstrip("/")
        self._config = config
        self._slots = [_Slot(number) for number in range(1, workers + 1)]
        self._announced = False
        self._stopping = False
        self._forks = sys.platform == "linux" and threading.active_count() == 1
        self._woken, self._wakes = socket.socketpair()
        for end in (self._woken, self._wakes):
            end.setblocking(False)

    def run(self) -> int:
        handlers = {sign: signal.signal(sign, self._told_to_stop) for sign in _STOPS}
        earlier = signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        try:
            while not self._stopping:
                for slot in self._slots:
                    if slot.process is None and slot.due <= time.monotonic():
                        self._start(slot)
                self._wait()
                for slot in self._slots:
                    if (code := self._seen(slot)) and not self._announced and not self._stopping:
                        return code  # no worker can start at all
                self._announce()
            return 0
        finally:
            self._stop()
            signal.set_wakeup_fd(earlier)
            for sign, handler in handlers.items():
                signal.signal(sign, handler)

    def _told_to_stop(self, *_: object) -> None:
        self._stopping = True

    def _start(self, slot: _Slot) -> None:
        if slot.listening is None:
            slot.listening = bound(self._host, self._port, shared=True)
            slot.listening.listen(BACKLOG)
        context = multiprocessing.get_context("fork" if self._forks else "spawn")
        slot.tells, sender = context.Pipe(duplex=False)
        others = [s.listening for s in self._slots if s.listening and s is not slot] + [self._woken, self._wakes]
        slot.instance = Instance(worker=slot.number, replaces=slot.gone)
        slot.process = context.Process(  # type: ignore[attr-defined]
            target=_work,
            args=(slot.listening, self._config, self._url, slot.instance, sender, others if self._forks else []),
            name=f"worker-{slot.number}",
        )
        slot.process.start()
        sender.close()
        slot.since = time.monotonic()

    def _wait(self) -> None:
        """Until a worker says something or ends, a signal comes, or a start is due."""
        things: list[Connection | socket.socket | int] = [self._woken]
        due = [slot.due for slot in self._slots if slot.process is None]
        for slot in self._slots:
            if slot.process is not None:
                things += [slot.process.sentinel, *([slot.tells] if slot.tells else [])]
        wait(things, max(0.0, min(due) - time.monotonic()) if due else None)
        with suppress(BlockingIOError):
            self._woken.recv(4096)

    def _seen(self, slot: _Slot) -> int:
        """Heed what a worker says, or that it ended; the exit code of one that could not start, else 0."""
        if slot.process is None:
            return 0
        if slot.tells is not None and slot.tells.poll():
            with suppress(EOFError):
                slot.tells.recv()
                slot.tells.close()
                slot.tells, slot.failures, slot.gone = None, 0, None
        if slot.process.is_alive():
            return 0
        return self._ended(slot, slot.process)

    def _ended(self, slot: _Slot, process: BaseProcess) -> int:
        process.join()
        _forget_figures(process.pid)
        code = process.exitcode or 0
        was_ready = slot.ready
        if slot.tells is not None:
            slot.tells.close()
        slot.process = slot.tells = None
        if was_ready:
            slot.gone = slot.instance.id
        else:
            slot.failures += 1
            if slot.listening is not None:
                slot.listening.close()
            slot.listening = None
        lived = time.monotonic() - slot.since
        pause = min(LONGEST_PAUSE, 2.0 ** max(slot.failures - 1, 0)) if slot.failures or lived < STEADY_SECONDS else 0.0
        slot.due = time.monotonic() + pause
        if not self._stopping:
            how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
            log.warning("Worker %d (process %s) %s; another takes its place.", slot.number, process.pid, how)
        return 0 if was_ready else (code if code > 0 else NOT_STARTED)

    def _announce(self) -> None:
        if not self._announced and all(slot.ready for slot in self._slots):
            self._announced = True
            announce(self._address, self._config, workers=len(self._slots))

    def _stop(self) -> None:
        """Let each worker drain; kill those that take longer than they may."""
        for slot in self._slots:
            if slot.listening is not None:  # from now on, connections are refused
                slot.listening.close()
        until = time.monotonic() + self._config.server.drain_seconds + 2 * CLOSE_SECONDS + 5.0
        while alive := [s.process for s in self._slots if s.process is not None and s.process.is_alive()]:
            late = time.monotonic() > until
            for process in alive:
                process.kill() if late else process.terminate()  # again each second: one may have come too early
            wait([process.sentinel for process in alive], 1.0)
        for slot in self._slots:
            if slot.process is not None:
                slot.process.join()


def _work(
    listening: socket.socket,
    config: Settings,
    url: str,
    instance: Instance,
    sender: Connection,
    others: list[socket.socket],
) -> NoReturn:
    """The worker's process. `others`: what it got by the fork and has no use for."""
    die_with_parent(signal.SIGTERM)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for other in others:
        other.close()

    def started() -> None:
        sender.send(True)
        sender.close()

    try:
        code = serve(listening, config, url=url, instance=instance, started=started)
    except ValueError as error:
        sys.stderr.write(f"text2sql: {error}\n")
        code = USAGE
    sys.exit(code)


def _forget_figures(pid: int | None) -> None:
    """The gauges of a worker that has ended."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(pid)  # type: ignore[no-untyped-call]
