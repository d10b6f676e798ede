"""Spark Connect servers for tests: Sail in a process of its own, and a scratch database on any server.

A real Apache Spark is named by TEXT2SQL_TEST_SPARK_URL (`sc://127.0.0.1:15002`). Its tests are slow.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from eval.databases.spark_connect import SparkConnection
from eval.databases.urls import parse_target

SPARK_SERVER = os.environ.get("TEXT2SQL_TEST_SPARK_URL", "")


@contextmanager
def sail(folder: Path) -> Iterator[str]:
    """A Sail server that keeps its files in `folder`: its `sc://host:port`, ended with the block."""
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "pysail", "spark", "server", "--port", str(port), "-C", str(folder)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert server.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < until, "Sail does not listen"
                time.sleep(0.05)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


@contextmanager
def scratch_database(server: str) -> Iterator[str]:
    """An empty database on a server, in a session of its own: Sail keeps its catalogue with the session."""
    name = f"scratch_{uuid.uuid4().hex[:12]}"
    session = f";session_id={uuid.uuid4()}"
    with closing(writer(f"{server}/{session}")) as connection:
        connection.catalogue(f"CREATE DATABASE {name}", 120)
        try:
            yield f"{server}/{name}{session}"
        finally:
            connection.catalogue(f"DROP DATABASE {name} CASCADE", 120)


def writer(url: str) -> SparkConnection:
    """A connection whose `catalogue` runs anything."""
    return SparkConnection(parse_target(url), 30)


def write(url: str, *statements: str) -> None:
    """Run statements that write, in the database of the URL."""
    with closing(writer(url)) as connection:
        for statement in statements:
            connection.catalogue(statement, 120)
