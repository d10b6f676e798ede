"""An HTTP server of a test's own on this machine, whose requests a function answers."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

Answer = tuple[int, dict[str, str], bytes]
"""(status, headers, body)"""


@contextlib.contextmanager
def answered_by(
    answer: Callable[[BaseHTTPRequestHandler, bytes], Answer | None], certificate: Path | None = None
) -> Iterator[str]:
    """`host:port`. The function gets the request and its body; after None the connection is closed as it is. With a
    certificate it speaks TLS."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reply = answer(self, self.rfile.read(int(self.headers["Content-Length"] or 0)))
            if reply is not None:
                status, headers, body = reply
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(body))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        do_POST = do_PATCH = do_GET

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 100

        def handle_error(self, *_: object) -> None:
            """A client that has gone."""

    with Server(("127.0.0.1", 0), Handler) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
