"""Start a participant as a separate process, and stop it.

In: a command that contains `{port}`. Out: a URL, once a server answers there. The process and its children end with the
block and, on Linux, also when this process is killed.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx

from eval.errors import Text2SQLError

if sys.platform != "win32":
    from eval.confinement import die_with_parent

OURS = (sys.executable, "-m", "agent.a2a", "--host", "127.0.0.1", "--port", "{port}")
"""This project's own agent."""
START_SECONDS = 120.0
_STOP_SECONDS = 8.0


class SpawnError(Text2SQLError):
    """The process did not start; the message holds the last lines that it wrote."""


@contextlib.contextmanager
def spawned(command: str | Sequence[str], *, url: str | None = None) -> Iterator[str]:
    """Run a server for the duration of the block; yields its URL. `{port}` becomes a free loopback port, unless `url`
    says where the server listens; nothing else may answer there yet. `python` means the interpreter that runs this
    code, and a command that is installed beside it need not be on the PATH. Raises SpawnError."""
    port = free_port()
    words = [word.replace("{port}", str(port)) for word in _words(command)]
    place = url or f"http://127.0.0.1:{port}"
    if url and _answers(url):
        raise SpawnError(f"something answers at {url} already: end it, or leave the command out")
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own command, not through a shell
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=functools.partial(die_with_parent, signal.SIGTERM) if sys.platform == "linux" else None,
            )
        except OSError as error:
            raise SpawnError(f"{words[0]} cannot be started: {error.strerror}") from None
        try:
            _wait(process, place, log)
            yield place
        finally:
            _stop(process)


def _words(command: str | Sequence[str]) -> list[str]:
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise SpawnError(f"{command!r} is no command: {str(error).lower()}") from None
    if not words:
        raise SpawnError("there is no command to start")
    if words[0] in ("python", "python3"):
        return [sys.executable, *words[1:]]
    beside = Path(sys.executable).parent / words[0]
    return [str(beside), *words[1:]] if "/" not in words[0] and beside.is_file() else words


def free_port() -> int:
    """A loopback port that nothing listens on at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], url: str, log: object) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SpawnError(f"the process ended with code {process.returncode}: {_tail(log)}")
        if _answers(url):
            return
        time.sleep(0.05)
    raise SpawnError(f"nothing answers at {url} after {START_SECONDS:g} seconds: {_tail(log)}")


def _answers(url: str) -> bool:
    try:
        httpx.get(url + "/.well-known/agent-card.json", trust_env=False, timeout=2.0)
    except httpx.HTTPError:
        return False
    return True


def _tail(log: object) -> str:
    log.seek(0)  # type: ignore[attr-defined]
    lines = log.read().decode("utf-8", "replace").strip().splitlines()  # type: ignore[attr-defined]
    return " / ".join(lines[-5:])[-1_000:] or "it wrote nothing"


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop the whole process group: first with a request, then by force."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)
            return
