"""A wire between the browser and a server that a test can cut: connections break, and new ones are refused, until it
is mended."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator


class Wire:
    def __init__(self, port: int) -> None:
        self._target = port
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._cut = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break every connection, and let none through from now on."""
        with self._lock:
            self._cut = True
            for end in self._open:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._cut = False

    def close(self) -> None:
        self.cut()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                if self._cut:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._target))
                with self._lock:
                    self._open |= {near, far}
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        with self._lock:
            both_gone = source not in self._open
            self._open.discard(source)
        if both_gone or source is target:
            return
        source.close()


@contextlib.contextmanager
def wire_to(port: int) -> Iterator[Wire]:
    wire = Wire(port)
    try:
        yield wire
    finally:
        wire.close()
