"""Commands of the project as processes of their own that start within moments.

`run` and `Process` are `subprocess.run` and `subprocess.Popen` for `python -m MODULE …`, `python -c PROGRAM …` and
`python -W error -c PROGRAM`; the word `python` is left out. The process is forked from one that has imported the
project (`tests.command_server`). Its streams, folder, environment, signals and exit are those of any other process.
`subprocess` is for tests of the start itself, of Python's own options, and of variables that are read at an import.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Self

from tests.command_server import MESSAGE_BYTES

ROOT = Path(__file__).resolve().parents[1]
CLOSED = -1000
"""Where the server itself is gone."""


@functools.cache
def _control() -> socket.socket:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * MESSAGE_BYTES)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TEXT2SQL_", "OPENAI_"))}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.command_server", str(there.fileno())],
        cwd=ROOT,
        env={**kept, "PYTHONPATH": str(ROOT)},
        pass_fds=[there.fileno()],
        stdin=subprocess.DEVNULL,
    )
    there.close()

    @atexit.register
    def end() -> None:
        here.close()
        server.wait()

    return here


class Process:
    """One command; `stdin`, `stdout` and `stderr` are text where they were asked for as pipes.

    `terminal`: its standard input is a terminal, which becomes the one that controls it.
    """

    def __init__(
        self,
        *words: object,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
        terminal: bool = False,
    ) -> None:
        self.stdin: IO[str] | None = None
        self.stdout: IO[str] | None = None
        self.stderr: IO[str] | None = None
        self.returncode: int | None = None
        request = {
            "words": [str(word) for word in words],
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
            "terminal": terminal,
        }
        self._exit, theirs = socket.socketpair()
        opened: list[int] = []
        handles = [
            self._handle(name, given, opened) for name, given in zip(NAMES, (stdin, stdout, stderr), strict=True)
        ]
        socket.send_fds(_control(), [json.dumps(request).encode()], [*handles, theirs.fileno()])
        theirs.close()
        for handle in opened:
            os.close(handle)
        self._answers = self._exit.makefile()
        self.pid = int(self._answers.readline())

    def _handle(self, name: str, given: int | IO[bytes] | None, opened: list[int]) -> int:
        if given is None:
            return NAMES.index(name)
        if not isinstance(given, int):
            return given.fileno()
        if given == subprocess.DEVNULL:
            opened.append(os.open(os.devnull, os.O_RDWR))
        elif given == subprocess.STDOUT:
            return opened[-1]
        elif given == subprocess.PIPE:
            reading, writing = os.pipe()
            ours, theirs = (writing, reading) if name == "stdin" else (reading, writing)
            setattr(self, name, os.fdopen(ours, "w" if name == "stdin" else "r", encoding="utf-8"))
            opened.append(theirs)
        else:
            return given
        return opened[-1]

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._exit], [], [], 0)[0]:
            self.returncode = int(self._answers.read() or CLOSED)
            self._answers.close()
            self._exit.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not select.select([self._exit], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        code = self.poll()
        assert code is not None
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """The rest of its output and its errors, once it has ended."""
        with ThreadPoolExecutor(1) as threads:
            errors = threads.submit(self.stderr.read) if self.stderr else None
            output = self.stdout.read() if self.stdout else ""
            self.wait(timeout)
            with self:
                return output, errors.result() if errors else ""

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended, and its exit code is on its way
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        self.wait()


NAMES = ("stdin", "stdout", "stderr")


def run(
    *words: object,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    input: str = "",  # noqa: A002 - as in subprocess
    timeout: float = 120,
    check: bool = False,
) -> subprocess.CompletedProcess[str]:
    """What `python WORDS…` printed, and its exit code."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        given.write(input.encode())
        given.seek(0)
        process = Process(*words, cwd=cwd, env=env, stdin=given, stdout=output, stderr=errors)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        output.seek(0)
        errors.seek(0)
        done = subprocess.CompletedProcess(
            [str(word) for word in words], code, output.read().decode(), errors.read().decode()
        )
    if check:
        assert code == 0, done.stdout + done.stderr
    return done
