"""The process that forks the children: `python -m eval.databases.isolation.fork_server FD`.

In: requests of five bytes each over the socket FD. `S`, `D` or `C`, sent with a socket, forks a child for SQLite,
DuckDB or chDB that communicates over that socket; `M`, with the length of a module's name that follows, one that runs
the module's `serve`. `K` with a process id kills that child. `SQLITE_TMPDIR` names a folder inside a private folder.
The process has one thread and has finished all imports, so that a fork takes a few milliseconds and shares its memory.
When the socket is closed, the process ends together with all its children and their files.
"""

from __future__ import annotations

import gc
import importlib
import os
import select
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from eval.confinement import die_with_parent
from eval.databases.isolation import child
from eval.databases.isolation.messages import FORK_REQUEST

Serve = Callable[[socket.socket, Path], None]
"""What a child runs, with its socket and a private folder that is gone when it has ended."""


class ForkServer:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._root = Path(os.environ["SQLITE_TMPDIR"]).parent
        self._folders: dict[int, Path] = {}
        self._made = 0
        self._wake, self._wakes = socket.socketpair()
        for end in (self._wake, self._wakes):
            end.setblocking(False)

    def serve(self) -> None:
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakes.fileno())
        try:
            while True:
                ready, _, _ = select.select([self._control, self._wake], [], [])
                if self._wake in ready:
                    with suppress(BlockingIOError):
                        self._wake.recv(4096)
                    self._reap()
                if self._control in ready and not self._answer():
                    return
        finally:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for pid in self._folders:
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self._root, ignore_errors=True)

    def _answer(self) -> bool:
        """Handle one request; False when the other end is gone."""
        message, handles, _, _ = socket.recv_fds(self._control, FORK_REQUEST.size, 1)
        if len(message) < FORK_REQUEST.size:
            return False
        kind, number = FORK_REQUEST.unpack(message)
        if kind == b"K":
            if number in self._folders:  # not reaped yet, so the number still identifies it
                os.kill(number, signal.SIGKILL)
        else:
            with socket.socket(fileno=handles[0]) as connection:
                if (serve := self._code(kind, number)) is not None:
                    self._fork(serve, connection)
        return True

    def _code(self, kind: bytes, length: int) -> Serve | None:
        """What the child is to run, imported here so that the next ones share it; None where that cannot be."""
        if kind == b"M":
            name = self._control.recv(length, socket.MSG_WAITALL).decode()
            try:
                serve: Serve = importlib.import_module(name).serve
            except Exception:  # noqa: BLE001 - the caller finds the socket closed; the children of others go on
                return None
            return serve
        if kind == b"D":
            child.import_duckdb()
        if kind == b"C":
            child.import_clickhouse()
        return child.serve

    def _fork(self, serve: Serve, connection: socket.socket) -> None:
        self._made += 1
        folder = self._root / str(self._made)
        folder.mkdir()
        pid = os.fork()
        if pid:
            self._folders[pid] = folder
            return
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            die_with_parent()
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a crashing engine prints many memory addresses
            for end in (self._control, self._wake, self._wakes):
                end.close()
            serve(connection, folder)
        finally:
            os._exit(0)

    def _reap(self) -> None:
        while self._folders:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            shutil.rmtree(self._folders.pop(pid), ignore_errors=True)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which closes the socket
    control = socket.socket(fileno=int(sys.argv[1]))
    gc.collect()
    gc.freeze()  # the collector then writes to no page that the children share
    ForkServer(control).serve()


if __name__ == "__main__":
    main()
