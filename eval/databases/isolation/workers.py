"""File databases whose statements run in child processes, and the pool of these children.

`IsolatedDatabase`, in: a `Target` and the same database opened in this process, which reads the structure with our own
statements only. Out: a `Database`. Statements from outside never run in this process.

`workers`, in: a `Target`. Out: a `Worker` that has it open; or a module, and out a socket to a child that runs it. The
children are started, kept warm, given one statement at a time, killed and replaced. At most `MOST_PER_DATABASE` serve
one database, and at most `MOST_CHILDREN` exist in all. A caller that finds none free waits until its deadline. The fork
server and its children end with this process, however it ends.
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
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from eval.databases.base import Database
from eval.databases.isolation.messages import FORK_REQUEST, Request, receive, send
from eval.databases.statement_run import OpenStatement, RowStream, StatementRun
from eval.databases.types import DatabaseError, Limits, Value
from eval.databases.urls import Target, file_identity
from eval.schema import Schema
from eval.statement import ReadStatement

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
                self._control.sendall(FORK_REQUEST.pack(b"K", pid))

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
                        socket.send_fds(control, [FORK_REQUEST.pack(kind, len(name)) + name], [theirs.fileno()])
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


_EXTRA_BYTES = 16 << 20
_LOST = "the engine's process ended while it ran this statement: it crashed, or needed more memory than it may use"


class IsolatedDatabase(Database):
    def __init__(self, target: Target, direct: Database) -> None:
        self.dialect = direct.dialect
        self.name = direct.name
        self.url = direct.url
        self._target = target
        self._direct = direct
        self._file = file_identity(target)
        self._closed = False
        threading.Thread(target=self._warm, name="warm", daemon=True).start()

    def schema(self, *, ttl: float = 300.0) -> Schema:
        return self._direct.schema(ttl=ttl)

    def data_version(self) -> str:
        return self._direct.data_version()

    def write_privileges(self) -> tuple[str, ...]:
        return self._direct.write_privileges()

    def refusal(self, statement: ReadStatement) -> str | None:
        limits, opener = Limits(seconds=5.0), partial(self._ask, "refusal")
        with RowStream(statement, self.dialect, limits, None, opener, str) as stream:
            rows = [row for batch in stream for row in batch]
        if stream.status == "error":
            return stream.error
        return str(rows[0][0]) if rows and rows[0][0] is not None else None

    def close(self) -> None:
        self._closed = True
        workers.retire(self._target)
        self._direct.close()

    def _open(self, run: StatementRun) -> AbstractContextManager[OpenStatement]:
        return self._ask("rows", run)

    def _open_plan(self, run: StatementRun) -> AbstractContextManager[OpenStatement]:
        return self._ask("plan", run)

    def _plan_text(self, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> tuple[str, ...]:
        return self._direct._plan_text(columns, rows)

    @contextmanager
    def _ask(self, kind: Literal["rows", "plan", "refusal"], run: StatementRun) -> Iterator[OpenStatement]:
        worker = self._worker(run)
        reply = _Reply(worker, run)

        def stop_cancelled() -> None:
            """At its deadline a child stops by itself and gets some time to do so; when the caller no longer waits, it
            gets none."""
            if run.stopped == "cancelled":
                worker.kill()

        try:
            with run.interrupting(stop_cancelled, worker.kill):
                yield OpenStatement(reply.begin(kind), reply.rows(), lambda: reply.truncated)
        finally:
            if reply.usable and not self._closed:
                workers.give_back(worker)
            else:
                workers.discard(worker)

    def _worker(self, run: StatementRun) -> Worker:
        if self._closed:
            raise DatabaseError("the database has been closed")
        if (file := file_identity(self._target)) != self._file:  # another file was moved to this path
            workers.retire(self._target)
            self._file = file
        try:
            return workers.take(self._target, run.seconds_left)
        except TimeoutError:
            run.stopped = "timeout"
            raise DatabaseError("too many statements run on this database") from None

    def _warm(self) -> None:
        with suppress(DatabaseError, TimeoutError):
            workers.give_back(workers.take(self._target, 0.0))
        if self._closed:
            workers.retire(self._target)


class _Reply:
    def __init__(self, worker: Worker, run: StatementRun) -> None:
        self._worker = worker
        self._run = run
        self._rows: list[tuple[Value, ...]] = []
        self.truncated = False
        self.ended = False
        self.usable = False

    def begin(self, kind: Literal["rows", "plan", "refusal"]) -> tuple[str, ...]:
        run = self._run
        limits = replace(run.limits, seconds=run.seconds_left, spent=0.0)
        try:
            send(self._worker.connection, Request(kind, run.statement, limits))
        except OSError:
            raise DatabaseError(_LOST) from None
        return self._next() or ()

    def rows(self) -> Iterator[tuple[Value, ...]]:
        while True:
            rows, self._rows = self._rows, []
            yield from rows
            if self.ended:
                return
            self._next()

    def _next(self) -> tuple[str, ...] | None:
        try:
            columns, self._rows, end = receive(self._worker.connection, self._run.limits.bytes * 4 + _EXTRA_BYTES)
        except (EOFError, OSError):
            self._run.expired()
            raise DatabaseError(_LOST) from None
        if end is not None:
            self.ended = True
            status, error, self.truncated, self.usable = end
            if status == "timeout":
                self._run.stopped = self._run.stopped or "timeout"
            if status != "success":
                raise DatabaseError(str(error))
        return columns  # type: ignore[no-any-return]
