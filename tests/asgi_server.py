"""An ASGI app under uvicorn, on loopback, for the length of a test.

In: a function that makes the app for its own URL. Out: that URL, once the server answers.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn


@contextlib.contextmanager
def serving(app_at: Callable[[str], Any]) -> Iterator[str]:
    """The base URL of the running app, with a slash at its end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        server = uvicorn.Server(uvicorn.Config(app_at(url), log_level="critical", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        until = time.monotonic() + 30
        while not server.started and time.monotonic() < until:
            time.sleep(0.02)
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join(15)
