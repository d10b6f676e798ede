"""The process that holds a model's server: one for all processes of a user, and only as long as one of them lives.

It runs as a script, with the standard library alone. In: a JSON line on standard input: `address` of a Unix socket, the
server's `command` and `environment`, the variable for its `key` (a command line would show that to everybody). Each
user keeps a connection to the socket, on which it hears one JSON line: `base_url` and `api_key` once the server
answers, or a `problem`. The kernel closes the connection of a user that is killed; with the last one the server ends.
Should this process be killed, Linux kills the server.
"""

from __future__ import annotations

import ctypes
import fcntl
import http.client
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

FIRST_SECONDS = 5.0
"""In which the first user has to come."""
END_SECONDS = 5.0
"""In which the server has to end when it is asked to."""
LOG_BYTES = 4_000_000
"""After which what the server wrote is thrown away."""
_OTHERS = ("OPENAI_", "TEXT2SQL_", "LLAMA_")
"""Variables that are none of the server's business: the keys of others, our settings, and its own."""
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def main() -> None:
    told = json.loads(sys.stdin.readline())
    os.umask(0o077)
    address = Path(told["address"])
    with Path(f"{address}.lock").open("w") as alone, socket.socket(socket.AF_UNIX) as listening:
        try:
            fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # there is one already
            return
        address.unlink(missing_ok=True)
        listening.bind(str(address))
        listening.listen(128)
        if os.fork():  # whoever started this need not wait for it
            os._exit(0)
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        try:
            with Path(f"{address}.log").open("a+b") as log:
                log.truncate(0)
                _supervise(listening, told, log)
        finally:
            address.unlink(missing_ok=True)


def _supervise(listening: socket.socket, told: dict[str, Any], log: BinaryIO) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    key = secrets.token_urlsafe(32)
    served = {"base_url": f"http://127.0.0.1:{port}/v1", "api_key": key}
    ours = {name: value for name, value in os.environ.items() if not name.startswith(_OTHERS)}
    said, problem = b"", ""
    server: subprocess.Popen[bytes] | None = None
    users: set[socket.socket] = set()
    until = time.monotonic() + FIRST_SECONDS
    try:
        try:
            server = subprocess.Popen(  # noqa: S603
                [*told["command"], "--port", str(port)],
                env={**ours, **told["environment"], "HOST": "127.0.0.1", "PORT": str(port), told["key"]: key},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=_die_with_parent,
            )
        except OSError as error:
            problem = f"{told['command'][0]} cannot be started: {error.strerror or error}"
        while users or time.monotonic() < until:
            ready, _, _ = select.select([listening, *users], [], [], 1.0 if said else 0.1)
            for one in ready:
                if one is listening:
                    users.add(user := listening.accept()[0])
                    until = 0.0
                    _tell(user, said)
                elif not _lives(one):
                    users.discard(one)
                    one.close()
            ended = server is None or server.poll() is not None
            if said and ended and not until:
                return
            if os.fstat(log.fileno()).st_size > LOG_BYTES:
                log.truncate(0)
            if ended and not problem:
                log.seek(0)
                lines = [line.strip() for line in log.read().decode("utf-8", "replace").splitlines() if line.strip()]
                problem = f"{told['command'][0]} ended at once: {' '.join(lines[-2:])[-400:] or 'it said nothing'}"
            if not said and (problem or _answers(port, key)):
                said = json.dumps({"problem": problem} if problem else served).encode() + b"\n"
                for user in users:
                    _tell(user, said)
    finally:
        for user in users:
            user.close()
        if server is not None:
            server.terminate()
            try:
                server.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _die_with_parent() -> None:
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _tell(user: socket.socket, said: bytes) -> None:
    try:
        user.sendall(said)
    except OSError:
        return  # it has gone, which the next look notices


def _lives(user: socket.socket) -> bool:
    """Users say nothing: what can be read is their end."""
    try:
        return bool(user.recv(1))
    except OSError:
        return False


def _answers(port: int, key: str) -> bool:
    """Whether the model is loaded. The server of llama-cpp-python has no `/health`; it answers once it is."""
    try:
        for path in ("/health", "/v1/models"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            try:
                connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
                status = connection.getresponse().status
            finally:
                connection.close()
            if status != 404:
                return status == 200
    except (OSError, http.client.HTTPException):
        return False
    return False


if __name__ == "__main__":
    main()
