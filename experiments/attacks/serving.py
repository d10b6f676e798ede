"""A server of its own for an attack: databases to attack, ordinary questions beside, and what the processes use.

In: the engines wanted. Out: a `Served` with the preset of each engine. Roles, scratch databases and files are removed
at the end. Ordinary questions go to a demo database and are answered without a model.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx

from eval.schema import Dialect
from experiments.processes import agent_server, children, command_line, resident_mb
from tests.conftest import MYSQL_SERVER, POSTGRES_SERVER

SERVED: tuple[Dialect, ...] = ("sqlite", "duckdb", "postgres", "mysql")
"""The engines that have a corpus of costly statements."""

QUESTIONS = (
    "How many customers are there?",
    "How many orders are there?",
    "What is the average price of products?",
    "Which 3 products have the highest price?",
    "How many orders are there per status?",
)
MANY_ROWS = 3_000
WIDE_ROWS = 5
WIDE_BYTES = {"sqlite": 8_000_000, "duckdb": 0, "postgres": 2_000_000, "mysql": 1_000_000}


@dataclass
class Served:
    url: str
    pid: int
    presets: dict[Dialect, str]
    log: Path
    temporary: Path

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 80

    def ask(self, question: str) -> tuple[float, bool]:
        """Seconds until the stream of an ordinary question has ended, and whether it was answered."""
        started = time.perf_counter()
        with httpx.stream("POST", f"{self.url}/query", json={"question": question}, timeout=120) as reply:
            body = reply.read()
        return time.perf_counter() - started, b'"event":"done"' in body and b'"status":"success"' in body

    def run(self, dialect: Dialect, sql: str, timeout: float = 120.0) -> dict[str, object]:
        """The reply to an edited statement."""
        body = {"preset": self.presets[dialect], "sql": sql}
        reply = httpx.post(f"{self.url}/sql", json=body, timeout=timeout)
        answer: dict[str, object] = reply.json()
        if reply.status_code != 200:
            raise RuntimeError(f"{reply.status_code}: {answer}")
        return answer

    @property
    def given_up(self) -> int:
        """Statements that a database server went on with after their deadline."""
        return self.log.read_text().count("was given up")


@dataclass
class Usage:
    """Peaks of memory and temporary files while a block runs."""

    resident_mb: float = 0.0
    temporary_mb: float = 0.0
    _over: threading.Event = field(default_factory=threading.Event)

    def watch(self, served: Served) -> None:
        while not self._over.wait(0.1):
            self.resident_mb = max(self.resident_mb, resident_mb(served.pid))
            self.temporary_mb = max(self.temporary_mb, _largest_temporary_mb(served))

    def end(self) -> None:
        self._over.set()


@contextlib.contextmanager
def watched(served: Served) -> Iterator[Usage]:
    usage = Usage()
    thread = threading.Thread(target=usage.watch, args=(served,))
    thread.start()
    try:
        yield usage
    finally:
        usage.end()
        thread.join()


def fork_server(pid: int) -> int | None:
    """The process that forks the children for statements."""
    return next((child for child in children(pid) if "isolation.fork_server" in command_line(child)), None)


def _largest_temporary_mb(served: Served) -> float:
    """The temporary files of the child that has most, those without a name included."""
    parent = fork_server(served.pid)
    most = 0
    for child in children(parent) if parent else ():
        size = 0
        with contextlib.suppress(OSError):
            for handle in Path(f"/proc/{child}/fd").iterdir():
                with contextlib.suppress(OSError):
                    seen = handle.stat()
                    if str(handle.readlink()).startswith(str(served.temporary)):
                        size += seen.st_size
        most = max(most, size)
    return most / 2**20


@contextlib.contextmanager
def serving(folder: Path, dialects: tuple[Dialect, ...] = SERVED, **settings: str) -> Iterator[Served]:
    """Start a server with a database of each engine, and end it."""
    temporary = folder / "tmp"
    temporary.mkdir()
    own = {
        "TEXT2SQL_STATE_DIR": str(folder / "state"),
        "TEXT2SQL_ALLOWED_SCHEMES": "sqlite,duckdb,postgresql,mysql,mariadb",
        "TEXT2SQL_ALLOWED_FOLDER": str(folder),
        "TEXT2SQL_RATE_PER_MINUTE": "0",
        "TMPDIR": str(temporary),
    }
    log = folder / "server.log"
    with contextlib.ExitStack() as stack:
        urls = {dialect: stack.enter_context(scratch(dialect, folder)) for dialect in dialects}
        port, server = stack.enter_context(agent_server(log, {**own, **settings}))
        url = f"http://127.0.0.1:{port}"
        presets = {
            dialect: str(
                httpx.post(f"{url}/databases", json={"url": place}, timeout=60).raise_for_status().json()["id"]
            )
            for dialect, place in urls.items()
        }
        yield Served(url, server.pid, presets, log, temporary)


def scratch(dialect: Dialect, folder: Path) -> AbstractContextManager[str]:
    """The URL of a database with the tables that the statements name."""
    return _MADE[dialect](folder)


FEW = "CREATE TABLE few AS SELECT * FROM many WHERE n IN (1, 2, 3)"


@contextlib.contextmanager
def _sqlite(folder: Path) -> Iterator[str]:
    path = folder / "attacked.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE many (n INTEGER, w VARCHAR)")
        connection.executemany("INSERT INTO many VALUES (?, ?)", ((n, f"word {n}") for n in range(MANY_ROWS)))
        connection.execute(FEW)
        connection.execute("CREATE TABLE wide (v BLOB)")
        connection.executemany("INSERT INTO wide VALUES (randomblob(?))", [(WIDE_BYTES["sqlite"],)] * WIDE_ROWS)
    yield f"sqlite:///{quote(str(path))}"


@contextlib.contextmanager
def _duckdb(folder: Path) -> Iterator[str]:
    import duckdb

    path = folder / "attacked.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE many (n INTEGER, w VARCHAR)")
        connection.execute(f"INSERT INTO many SELECT range, 'word ' || range FROM range({MANY_ROWS})")
        connection.execute(FEW)
    yield f"duckdb:///{quote(str(path))}"


@contextlib.contextmanager
def _postgres(_: Path) -> Iterator[str]:
    """A scratch database, and a role with the limits that docs/databases.md names."""
    import psycopg

    name = f"attacked_{uuid.uuid4().hex[:12]}"
    place = urlsplit(POSTGRES_SERVER)
    owned = place._replace(path=f"/{name}").geturl()
    limits = "statement_timeout = '60s'", "temp_file_limit = '1GB'", "client_connection_check_interval = '1s'"
    with psycopg.connect(POSTGRES_SERVER, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        server.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{name}' NOSUPERUSER CONNECTION LIMIT 20")
        for limit in limits:
            server.execute(f"ALTER ROLE {name} SET {limit}")
        try:
            with psycopg.connect(owned, autocommit=True) as filling:
                filling.execute(
                    f"CREATE TABLE many AS SELECT n, 'word ' || n AS w FROM generate_series(1, {MANY_ROWS}) n"
                )
                filling.execute(FEW)
                filling.execute(
                    "CREATE TABLE wide AS SELECT (SELECT string_agg(md5(r || ' ' || i), '') "
                    f"FROM generate_series(1, {WIDE_BYTES['postgres'] // 32}) i) AS v "
                    f"FROM generate_series(1, {WIDE_ROWS}) r"
                )
                filling.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}")
            yield f"postgresql://{name}:{name}@127.0.0.1:{place.port or 5432}/{name}"
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
            server.execute(f"DROP ROLE {name}")


@contextlib.contextmanager
def _mysql(_: Path) -> Iterator[str]:
    """A scratch database, and an account with the limits that docs/databases.md names."""
    import pymysql

    name = f"attacked_{uuid.uuid4().hex[:12]}"
    place = urlsplit(MYSQL_SERVER)
    port = place.port or 3306
    server = pymysql.connect(
        host=place.hostname, port=port, user=place.username, password=place.password or "", autocommit=True
    )
    with server, server.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        cursor.execute(
            f"CREATE USER {name}@'127.0.0.1' IDENTIFIED BY '{name}' WITH MAX_USER_CONNECTIONS 20 MAX_STATEMENT_TIME 60"
        )
        try:
            cursor.execute(f"GRANT SELECT ON {name}.* TO {name}@'127.0.0.1'")
            cursor.execute(f"USE {name}")
            cursor.execute("CREATE TABLE many (n INT, w VARCHAR(20))")
            cursor.executemany("INSERT INTO many VALUES (%s, %s)", [(n, f"word {n}") for n in range(MANY_ROWS)])
            cursor.execute(FEW)
            cursor.execute("CREATE TABLE wide (v LONGTEXT)")
            cursor.executemany(
                "INSERT INTO wide VALUES (%s)", [(os.urandom(WIDE_BYTES["mysql"] // 2).hex(),)] * WIDE_ROWS
            )
            yield f"mysql://{name}:{name}@127.0.0.1:{port}/{name}"
        finally:
            cursor.execute(f"KILL USER {name}@'127.0.0.1'")  # what was given up would hold the database
            cursor.execute(f"DROP DATABASE {name}")
            cursor.execute(f"DROP USER {name}@'127.0.0.1'")


_MADE: dict[Dialect, Callable[[Path], AbstractContextManager[str]]] = {
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "postgres": _postgres,
    "mysql": _mysql,
}
