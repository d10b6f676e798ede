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
def serving(app_at: Callable[[str], Any], *, send_buffer: int | None = None, **options: Any) -> Iterator[str]:
    """The base URL of the running app, with a slash at its end. `send_buffer`: bytes that the kernel holds for a
    client. `options` are uvicorn's."""
    with socket.socket() as listener:
        if send_buffer is not None:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        options = {"log_level": "critical", "timeout_graceful_shutdown": 1, **options}
        server = uvicorn.Server(uvicorn.Config(app_at(url), **options))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        until = time.monotonic() + 30
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            assert time.monotonic() < until
            time.sleep(0.01)
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive(), "the server did not stop"
