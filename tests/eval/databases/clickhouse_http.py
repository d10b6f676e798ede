"""ClickHouse's HTTP interface in front of chDB: the real engine behind the driver's real protocol, on a loopback port.

It covers what the driver sends here: a statement in the body, settings as parameters, Native blocks as the answer, and
KILL QUERY by query_id (chDB names statements itself, so the id is kept in `log_comment`). `profile` holds settings that
a client may not change, as `readonly = 1` does on a server.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

_NOT_SETTINGS = frozenset(
    {"database", "query_id", "session_id", "compress", "decompress", "client_protocol_version", "wait_end_of_query"}
    | {"send_progress_in_http_headers", "http_headers_progress_interval_ms", "query", "enable_http_compression", "role"}
)


@contextmanager
def served(folder: str, profile: dict[str, str] | None = None) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """`host:port` of a server over the chDB folder, and the parameters of each request so far."""
    import chdb

    seen: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(200, b"Ok.\n")

        def do_POST(self) -> None:
            parameters = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
            body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
            sql = body or parameters.get("query", "")
            seen.append({**parameters, "sql": sql})
            if self.headers.get("Authorization") != "Basic cmVhZGVyOnNlY3JldA==":  # reader:secret
                self._answer(403, b"Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)", 516)
                return
            connection = chdb.connect(folder)
            try:
                settings = {name: value for name, value in parameters.items() if name not in _NOT_SETTINGS}
                if (profile or {}).get("readonly") == "1" and settings:
                    raise RuntimeError("Code: 164. DB::Exception: Cannot modify settings in readonly mode. (READONLY)")
                kept = {**(profile or {}), "log_comment": parameters.get("query_id", ""), **settings}
                last = {name: kept.pop(name) for name in ("readonly",) if name in kept}
                connection.query(f"USE `{parameters.get('database') or 'default'}`")
                pairs = ", ".join(f"{name} = '{value}'" for name, value in [*kept.items(), *last.items()])
                connection.query(f"SET {pairs}")
                if sql.startswith("KILL QUERY WHERE query_id"):
                    sql = sql.replace("query_id", "Settings['log_comment']", 1)
                answer = connection.query(sql, "TabSeparated")
                self._answer(200, bytes(answer.bytes() or b""))
            except Exception as problem:  # noqa: BLE001 (the engine's message is the answer)
                text = str(problem)
                code = int(text.split("Code: ")[1].split(".")[0]) if "Code: " in text else 1
                self._answer(500, text.encode(), code)
            finally:
                connection.close()

        def _answer(self, status: int, body: bytes, code: int = 0) -> None:
            try:
                self.send_response(status)
                if code:
                    self.send_header("X-ClickHouse-Exception-Code", str(code))
                self.send_header("X-ClickHouse-Timezone", "UTC")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                pass  # the client has hung up

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
