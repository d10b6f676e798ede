"""The process from which the tests' commands are forked: `python -m tests.command_server FD`, see `tests.commands`.

In: one JSON object a message over the socket FD, with four open files: the command's standard input, output and error,
and a socket for its exit. Out, over that socket: the process's number, then its exit code in the form of `subprocess`.
This process has one thread and has imported what the commands import, so that a command starts within moments
instead of a second or two. It ends when its socket is closed.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import time
import warnings
from importlib import import_module
from typing import Any, TextIO, cast

IMPORTED = (
    "agent.a2a.rpc",
    "agent.batch",
    "agent.cli.interactive",
    "agent.cli.report",
    "agent.cli.session",
    "agent.graph",
    "agent.mcp.tools",
    "agent.models.openai",
    "agent.parser",
    "agent.runner",
    "agent.server.app",
    "eval.batch",
    "eval.green_agent.app",
    "eval.run_benchmark",
    "text2sql.answer",
)
MESSAGE_BYTES = 200_000


def served(control: socket.socket) -> dict[str, Any] | None:
    """Fork a process for each request; the request in the forked process, None here when the other end is closed."""
    wake, wakes = socket.socketpair()
    wake.setblocking(False)
    wakes.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes.fileno())
    exits: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([control, wake], [], [])
        if wake in ready:
            wake.recv(4096)
            _report_exits(exits)
        if control not in ready:
            continue
        message, handles, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 4)
        if not message:
            return None
        *streams, last = handles
        exit_socket = socket.socket(fileno=last)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for open_socket in (control, wake, wakes, exit_socket, *exits.values()):
                open_socket.close()
            request: dict[str, Any] = json.loads(message)
            _take_over(request, streams)
            return request
        for handle in streams:
            os.close(handle)
        exit_socket.sendall(f"{pid}\n".encode())
        exits[pid] = exit_socket


def _report_exits(exits: dict[int, socket.socket]) -> None:
    while exits:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with exits.pop(pid) as exit_socket:
            exit_socket.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def _take_over(request: dict[str, Any], streams: list[int]) -> None:
    """Become the process that was asked for: its standard streams, terminal, folder and environment."""
    for number, handle in enumerate(streams):
        os.dup2(handle, number)
        os.close(handle)
    if request["terminal"]:
        import fcntl
        import termios

        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    sys.stdin, sys.stdout, sys.stderr = _text(0, "r"), _text(1, "w"), _text(2, "w")
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()


def _text(number: int, mode: str) -> TextIO:
    errors = "backslashreplace" if number == 2 else "strict"
    buffering = 1 if number == 2 or os.isatty(number) else -1
    return cast(TextIO, open(number, mode, encoding="utf-8", errors=errors, buffering=buffering, closefd=False))


def _forget(name: str) -> None:
    """A module that runs as `__main__` is not imported yet."""
    package, _, leaf = name.rpartition(".")
    if sys.modules.pop(name, None) is not None and package:
        delattr(sys.modules[package], leaf)


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    for name in IMPORTED:
        import_module(name)
    gc.collect()
    gc.freeze()  # the collector then writes to no page that the forked processes share
    request = served(control)
    if request is None:
        return
    option, name, *words = request["words"]
    if option == "-W":
        warnings.simplefilter(name)
        option, name, *words = words
    if option == "-c":
        sys.argv = [option, *words]
        exec(compile(name, "<string>", "exec", dont_inherit=True), {"__name__": "__main__"})
    else:
        sys.argv = [name, *words]
        _forget(name)
        runpy.run_module(name, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
