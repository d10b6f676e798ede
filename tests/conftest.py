"""Fixtures that every room's tests share: the benchmark data and scratch databases on real servers.

The servers are found by TEXT2SQL_TEST_POSTGRES_URL and TEXT2SQL_TEST_MYSQL_URL (defaults: the local ones); a test
that needs one is skipped with the reason where none answers. Each scratch database has a name of its own and is
dropped when the test file ends, so that neither files nor parallel workers ever meet.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

POSTGRES_SERVER = os.environ.get("TEXT2SQL_TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
MYSQL_SERVER = os.environ.get("TEXT2SQL_TEST_MYSQL_URL", "mysql://root@127.0.0.1:3306/test")

os.environ["TEXT2SQL_LOCAL_MODEL"] = "off"  # one that this machine's user has fetched is no part of the tests
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # as LangGraph will do by default; child processes, too


def pytest_configure() -> None:
    """A shell that runs the tests in the background ignores Ctrl-C for them; processes that they start must not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: half as many again as there are cores, since a third of the tests' time is spent waiting."""
    cores = len(os.sched_getaffinity(0))
    return cores + (cores + 1) // 2


@pytest.fixture(autouse=True)
def _root_logger_as_before() -> Iterator[None]:
    """A command run inside the test process directs its logs; the next test must find the root logger as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture(autouse=True)
def _settings_forgotten() -> Iterator[None]:
    """The settings that a test read from its own environment are none of the next test's."""
    yield
    if (config := sys.modules.get("agent.config")) is not None:
        config.settings.cache_clear()


@pytest.fixture(scope="session")
def dead_url() -> Iterator[str]:
    """Where no server answers, and where none of another test can begin to: the port is held."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings but the defaults, no model known yet, in a folder of its own."""
    from agent.config import settings
    from agent.models.quirks import forget
    from tests.settings import PLACES

    for name in PLACES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    settings.cache_clear()
    forget()


@pytest.fixture(scope="session")
def bench_dir() -> Path:
    """The benchmark data; never part of the project."""
    named = os.environ.get("TEXT2SQL_BENCH_DIR")
    if not named:
        pytest.skip("TEXT2SQL_BENCH_DIR names no folder of benchmark data")
    if not Path(named).is_dir():
        pytest.skip(f"TEXT2SQL_BENCH_DIR: there is no folder {named}")
    return Path(named)


@pytest.fixture(scope="session")
def recorded_dir(bench_dir: Path) -> Path:
    """Recorded answers of other systems, beside the benchmark data."""
    folder = bench_dir.parent / "recorded"
    if not folder.is_dir():
        pytest.skip(f"no recorded answers at {folder}")
    return folder


@pytest.fixture
def silent_server() -> Iterator[int]:
    """The port of a server for which the system accepts, and which never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    """URL of an empty scratch PostgreSQL database, by the server's own (superuser) role; yours to fill."""
    psycopg = pytest.importorskip("psycopg")
    name = f"scratch_{uuid.uuid4().hex[:12]}"
    try:
        server = psycopg.connect(POSTGRES_SERVER, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError as e:
        pytest.skip(f"no PostgreSQL server answers (TEXT2SQL_TEST_POSTGRES_URL): {e}".split("\n")[0])
    with server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield urlsplit(POSTGRES_SERVER)._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def mysql_url() -> Iterator[str]:
    """URL of an empty scratch MySQL or MariaDB database, by the server's own account; yours to fill."""
    pymysql = pytest.importorskip("pymysql")
    parts = urlsplit(MYSQL_SERVER)
    name = f"scratch_{uuid.uuid4().hex[:12]}"
    try:
        server = pymysql.connect(
            host=parts.hostname,
            port=parts.port or 3306,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            connect_timeout=3,
            autocommit=True,
        )
    except pymysql.err.OperationalError as e:
        pytest.skip(f"no MySQL or MariaDB server answers (TEXT2SQL_TEST_MYSQL_URL): {e}")
    with server, server.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        try:
            yield parts._replace(path=f"/{name}").geturl()
        finally:
            cursor.execute(f"DROP DATABASE {name}")


@pytest.fixture(scope="session")
def sail_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Sail server, which speaks Spark Connect."""
    pytest.importorskip("pyspark", reason="no driver for Spark: pip install 'askwell[spark]'")
    pytest.importorskip("pysail", reason="Sail is not installed: pip install 'askwell[sail]'")
    from tests.spark_servers import sail

    with sail(tmp_path_factory.mktemp("sail")) as url:
        yield url


@pytest.fixture(scope="module")
def sail_url(sail_server: str) -> Iterator[str]:
    """URL of an empty scratch database in Sail; yours to fill (`tests.spark_servers.write`)."""
    from tests.spark_servers import scratch_database

    with scratch_database(sail_server) as url:
        yield url


@pytest.fixture(scope="module")
def spark_url() -> Iterator[str]:
    """URL of an empty scratch database on a real Apache Spark; yours to fill (`tests.spark_servers.write`)."""
    pytest.importorskip("pyspark", reason="no driver for Spark: pip install 'askwell[spark]'")
    from tests.spark_servers import SPARK_SERVER, scratch_database

    if not SPARK_SERVER:
        pytest.skip("TEXT2SQL_TEST_SPARK_URL names no Spark Connect server")
    with scratch_database(SPARK_SERVER) as url:
        yield url


@pytest.fixture(scope="session")
def chdb_folder() -> Iterator[Path]:
    """The data folder of the ClickHouse engine inside this process, which allows one folder for each process."""
    clickhouse_connect = pytest.importorskip("clickhouse_connect", reason="the driver of ClickHouse is not installed")
    pytest.importorskip("chdb", reason="chDB is not installed (askwell[clickhouse-local])")
    folder = Path(tempfile.mkdtemp(prefix="text2sql-chdb-"))
    keeper = clickhouse_connect.get_client(interface="chdb", path=str(folder))
    yield folder
    keeper.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def clickhouse_url(chdb_folder: Path) -> Iterator[str]:
    """URL of an empty scratch database in chDB; yours to fill (`chdb_client`)."""
    name = f"scratch_{uuid.uuid4().hex[:12]}"
    with chdb_client(f"chdb:///{chdb_folder}?database=default") as server:
        server.command(f"CREATE DATABASE {name}")
        try:
            yield f"chdb:///{chdb_folder}?database={name}"
        finally:
            server.command(f"DROP DATABASE {name} SYNC")


def chdb_client(url: str) -> Any:
    """A writing client of the driver for a scratch database."""
    import clickhouse_connect

    path, _, database = url.removeprefix("chdb:///").partition("?database=")
    return clickhouse_connect.get_client(interface="chdb", path=path, database=database)
