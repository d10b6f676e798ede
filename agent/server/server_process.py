"""Serves the app on a socket, in one process.

In: a bound socket, the settings. Out: an exit code, after a stop signal. A stop lets
running questions finish within TEXT2SQL_DRAIN_SECONDS.
"""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from eval.errors import InputError

if TYPE_CHECKING:
    from agent.config import ServerSettings, Settings

USAGE = 2
"""Exit code: wrong use, a setting that cannot be used."""
NOT_STARTED = 3
"""Exit code: the port is taken, or the state cannot be opened."""
BACKLOG = 1024
CLOSE_SECONDS = 5
"""Time after the drain in which open connections have to end."""


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
    import uvicorn

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
        return NOT_STARTED
    except KeyboardInterrupt:
        return 0
    return 0 if server.started else NOT_STARTED


def options(settings: ServerSettings) -> dict[str, Any]:
    """Keyword arguments for uvicorn."""
    from agent.server.middleware import uvicorn_options

    grace = int(settings.drain_seconds) + CLOSE_SECONDS
    return {**uvicorn_options(), "timeout_graceful_shutdown": grace, "timeout_keep_alive": 30, "backlog": BACKLOG}
