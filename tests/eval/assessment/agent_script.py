"""An agent as a script of its own, for tests that start one: it answers every task with the same query.

`python FILE PORT` prints `ready` and serves plain REST, without an agent card.
"""

from __future__ import annotations

AGENT = """
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"sql": "SELECT COUNT(*) FROM customers"}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

print("ready", flush=True)
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
