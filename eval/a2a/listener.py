"""Listen and serve, for the commands that start an A2A server.

In: an address, an ASGI app. Out: a server that runs until it receives a stop signal.
"""

from __future__ import annotations

import socket

GRACE_SECONDS = 5
"""Grace period for open connections when the server is stopped."""


def listening(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=1024)


def run(made: object, listener: socket.socket, log_level: str) -> None:
    """Serve an ASGI app on a listener until a stop signal."""
    import uvicorn

    options = uvicorn.Config(
        made,  # type: ignore[arg-type]
        log_level=log_level,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    uvicorn.Server(options).run(sockets=[listener])
