"""The pool of child processes: they are started, kept warm, given one statement at a time, killed and replaced.

In: a `Target`. Out: a `Worker` that has it open; or a module, and out a socket to a child that runs it. At most
`MOST_PER_DATABASE` children serve one database, and at most `MOST_CHILDREN` exist in all. A caller that finds none free
waits until its deadline. The fork server and its children end with this process, however it ends.
"""

from __future__ import annotations

import atexit
import logging
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from eval.databases.isolation.fork_server import REQUEST
from eval.databases.isolation.messages import receive, send
from eval.databases.types import DatabaseError
from eval.databases.urls import Target

MOST_PER_DATABASE = 8
MOST_CHILDREN = 32
KEPT_PER_DATABASE = 4
MEMORY_BYTES = 1 << 30
"""Memory that a statement may use on top of the idle process."""
TEMP_BYTES = 1 << 30
"""The size limit of one child's temporary files."""
_START_SECONDS = 20.0
_ROOT = Path(__file__).parents[3]

_log = logging.getLogger("text2sql.databases")


class Worker:
    """One child with one database open. One thread uses it at a time; `kill` may be called from any thread."""

    def __init__(self, workers: Workers, target: Target, connection: socket.socket, pid: int) -> None:
        self.target = target
        self.connection = connection
        self.pid = pid
        self._workers = workers

    def kill(self) -> None:
        """Kill the child at once, even inside the engine's code; a thread that waits for an answer gets EOFError."""
        self._workers.end_process(self.pid)
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    @property
    def alive(self) -> bool:
        """Whether an idle child still runs. An idle child sends nothing, so readable data means that it has ended."""
        return not select.select([self.connection], [], [], 0)[0]


class Workers:
    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._idle: list[Worker] = []
        self._count: Counter[Target] = Counter()
        self._control: socket.socket | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None
        self._control_lock = threading.Lock()
        self._told: set[str] = set()
        self.ended_by_force = 0
        """Children killed or lost since the start of this process."""

    def take(self, target: Target, seconds: float) -> Worker:
        """A child that has the database open; waits at most `seconds` for one. Raises DatabaseError, TimeoutError."""
        until = time.monotonic() + seconds
        with self._condition:
            while True:
                if (worker := self._idle_for(target)) is not None:
                    return worker
                if self._count[target] < MOST_PER_DATABASE and self._make_room():
                    self._count[target] += 1
                    break
                if not self._condition.wait(until - time.monotonic()):
                    raise TimeoutError
        try:
            return self._start(target)
        except BaseException:
            self._uncount(target)
            raise

    def give_back(self, worker: Worker) -> None:
        with self._condition:
            self._idle.append(worker)
            same = [w for w in self._idle if w.target == worker.target]
            if len(same) > KEPT_PER_DATABASE:
                self._close_idle(same[0])
            self._condition.notify_all()

    def discard(self, worker: Worker) -> None:
        """End a child that is busy."""
        worker.kill()
        worker.connection.close()
        self.ended_by_force += 1
        self._uncount(worker.target)

    def retire(self, target: Target) -> None:
        """End the idle children of a database."""
        with self._condition:
            for worker in [w for w in self._idle if w.target == target]:
                self._close_idle(worker)

    def close(self) -> None:
        """End all children and the fork server."""
        with self._condition:
            for worker in list(self._idle):
                self._close_idle(worker)
        with self._control_lock:
            self._end_server()

    def end_process(self, pid: int) -> None:
        with self._control_lock, suppress(OSError):
            if self._control is not None:
                self._control.sendall(REQUEST.pack(b"K", pid))

    def _idle_for(self, target: Target) -> Worker | None:
        for worker in reversed(self._idle):
            if worker.target == target:
                if worker.alive:
                    self._idle.remove(worker)
                    return worker
                self._close_idle(worker)
        return None

    def _make_room(self) -> bool:
        full = sum(self._count.values()) >= MOST_CHILDREN
        if full and self._idle:
            self._close_idle(self._idle[0])  # of another database: the least recently used one
            return True
        return not full

    def _close_idle(self, worker: Worker) -> None:
        self._idle.remove(worker)
        worker.connection.close()  # the child then ends by itself
        self._count[worker.target] -= 1

    def _uncount(self, target: Target) -> None:
        with self._condition:
            self._count[target] -= 1
            self._condition.notify_all()

    def _start(self, target: Target) -> Worker:
        kind = {"duckdb": b"D", "clickhouse": b"C"}.get(target.dialect, b"S")
        connection = self._forked(kind)
        try:
            connection.settimeout(_START_SECONDS)
            pid = receive(connection, 1024)
            send(connection, (target, MEMORY_BYTES, TEMP_BYTES))
            refused, missing = receive(connection, 1 << 20)
            connection.settimeout(None)
        except (OSError, EOFError) as e:
            connection.close()
            raise DatabaseError("the process for statements on this database did not start") from e
        if refused is not None:
            connection.close()
            raise DatabaseError(refused)
        for reason in missing:
            if reason not in self._told:
                self._told.add(reason)
                _log.warning("statements run less confined: %s", reason)
        return Worker(self, target, connection, pid)

    def run(self, module: str) -> socket.socket:
        """A socket to a new child that runs the `serve` of a module of ours. Raises DatabaseError."""
        return self._forked(b"M", module.encode())

    def _forked(self, kind: bytes, name: bytes = b"") -> socket.socket:
        """A socket to a new child. Starts the fork server when it is first needed, and again if it has died."""
        with self._control_lock:
            for _ in range(2):
                ours, theirs = socket.socketpair()
                with theirs:
                    try:
                        control = self._control or self._start_server()
                        socket.send_fds(control, [REQUEST.pack(kind, len(name)) + name], [theirs.fileno()])
                        return ours
                    except OSError:
                        ours.close()
                        self._end_server()
        raise DatabaseError("no process for statements can be started")

    def _start_server(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR", "TZ")}
        self._folder = Path(tempfile.mkdtemp(prefix="text2sql-statements-"))
        temporary = self._folder / "sqlite"
        temporary.mkdir()
        kept["SQLITE_TMPDIR"] = str(temporary)  # SQLite reads it once, when the library is loaded
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
        with theirs:
            self._server = subprocess.Popen(  # noqa: S603 (our own module)
                [sys.executable, "-P", "-m", "eval.databases.isolation.fork_server", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=kept,
                cwd="/",
                start_new_session=True,
            )
        self._control = ours
        return ours

    def _end_server(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._server is not None:
            try:
                self._server.wait(2.0)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
            self._server = None
        if self._folder is not None:  # the fork server has removed it, unless it was killed
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


workers = Workers()
atexit.register(workers.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=workers.__init__)  # type: ignore[misc]
