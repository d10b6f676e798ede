"""Spark over Spark Connect: on Sail, and (slow) on a real Apache Spark."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from eval.databases import CancelToken, Database, DatabaseNotFound, Limits, open_database
from eval.databases.spark import refused
from eval.databases.types import DatabaseUnreachable
from eval.sql import check, parse
from eval.statement import ReadStatement
from tests.optional import needs_sail, needs_spark
from tests.pairs import FIXTURES, sections
from tests.spark_servers import write
from tests.writing import rows_of

SETUP = (FIXTURES / "databases/setup_spark.sql").read_text(encoding="utf-8").rstrip().split(";\n")
HEAVY = "SELECT count(DISTINCT hash(a.id, b.id)) FROM wide a CROSS JOIN (SELECT id FROM wide WHERE id < 900) b"


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("sail_url", marks=needs_sail),
        pytest.param("spark_url", marks=[pytest.mark.slow, needs_spark]),
    ],
)
def url(request: pytest.FixtureRequest) -> str:
    place: str = request.getfixturevalue(request.param)
    write(place, *SETUP)
    return place


@pytest.fixture(scope="module")
def database(url: str) -> Iterator[Database]:
    with open_database(url, connect_seconds=30) as opened:
        yield opened


def rows(database: Database, sql: str, **limits: Any) -> tuple[tuple[object, ...], ...]:
    return tuple(rows_of(database, sql, Limits(seconds=120, **limits)))


def test_the_structure_shows_types_comments_and_partitions(database: Database) -> None:
    schema = database.schema()
    customers, nested, orders = (schema.table(name) for name in ("customers", "nested", "orders"))
    assert customers.comment == "people who buy"
    assert customers.column("id").comment == "the key"
    assert [c.type.replace(" ", "") for c in nested.columns] == [
        "int",
        "struct<a:int,b:string>",
        "array<int>",
        "map<string,int>",
    ]
    assert orders.column("day").comment == "partition column"
    assert schema.table("buyers").kind == "view"


def test_values_are_plain_python_and_what_sqlite_would_take_runs(database: Database) -> None:
    assert rows(database, "SELECT s, l, m FROM nested") == (({"a": 1, "b": "x"}, [1, 2], {"k": 7}),)
    assert rows(database, "SELECT s.a, nested.s.b, l[1], m['k'] FROM nested") == ((1, "x", 2, 7),)
    assert rows(database, "SELECT id, x FROM nested LATERAL VIEW explode(l) e AS x ORDER BY x") == ((1, 1), (1, 2))
    assert rows(database, "SELECT total, day, X'00', 1.5D, NULL FROM orders WHERE id = 1") == (
        (Decimal("10.50"), date(2024, 1, 1), b"\x00", 1.5, None),
    )
    assert rows(database, "SELECT 1 AS a, 2 AS a") == ((1, 2),)
    assert len(rows(database, "SELECT customer_id, day FROM orders GROUP BY customer_id")) == 2
    assert rows(database, "SELECT customer_id FROM orders GROUP BY customer_id ORDER BY count(*) DESC LIMIT 1") == (
        (2,),
    )


def test_rows_and_bytes_are_capped(database: Database) -> None:
    assert len(rows(database, "SELECT id FROM wide", rows=7)) == 7
    result = database.execute(ReadStatement("SELECT id FROM wide", "spark"), limits=Limits(bytes=1000, seconds=60))
    assert result.truncated
    assert 0 < len(result.rows) < 200


def test_a_statement_ends_at_its_deadline_or_when_cancelled_and_the_next_one_runs(database: Database) -> None:
    result = database.execute(ReadStatement(HEAVY, "spark"), limits=Limits(seconds=0.5))
    assert result.status == "timeout"
    assert rows(database, "SELECT 1") == ((1,),)
    cancel = CancelToken()
    cancelled: list[float] = []

    def stop() -> None:
        cancelled.append(time.monotonic())
        cancel.cancel()

    threading.Timer(0.5, stop).start()
    result = database.execute(ReadStatement(HEAVY, "spark"), limits=Limits(seconds=60), cancel=cancel)
    assert result.status == "cancelled"
    assert time.monotonic() - cancelled[0] < 3  # one second by itself; the rest is for a busy machine
    assert rows(database, "SELECT 1") == ((1,),)


def test_the_servers_own_words_name_the_mistake(database: Database) -> None:
    result = database.execute(ReadStatement("SELECT nope FROM customers", "spark"))
    assert result.status == "error"
    assert "nope" in (result.error or "")
    assert "\n" not in (result.error or "")
    assert "nope" in (database.refusal(ReadStatement("SELECT nope FROM customers", "spark")) or "")
    assert database.refusal(ReadStatement("SELECT name FROM customers", "spark")) is None


def test_a_table_that_comes_is_seen(url: str, database: Database) -> None:
    assert database.schema().table("late") is None
    write(url, "CREATE TABLE late (id INT) USING parquet")
    assert database.schema().table("late") is not None


def test_databases_that_share_a_session_each_read_their_own_tables(url: str) -> None:
    head, _, session = url.partition(";")
    other = f"{head.rpartition('/')[0]}/other_{uuid.uuid4().hex[:8]};{session}"
    name = other.partition(";")[0].rpartition("/")[2]
    write(
        url,
        f"CREATE DATABASE {name}",
        f"CREATE TABLE {name}.twins AS SELECT 2 AS n",
        "CREATE TABLE twins AS SELECT 1 AS n",
    )
    with open_database(url) as first, open_database(other) as second:
        for database, expected in ((first, 1), (second, 2), (first, 1)):
            statement = check(parse("WITH t AS (SELECT twins.n FROM twins) SELECT n FROM t", "spark")).statement
            assert statement is not None
            assert database.execute(statement).rows == ((expected,),)
        assert [table.name for table in second.schema().tables] == ["twins"]
        assert first.schema().table("twins") is not None
    write(url, f"DROP DATABASE {name} CASCADE", "DROP TABLE twins")


def test_a_missing_database_is_named_and_none_is_made(url: str) -> None:
    missing = url.replace("/scratch_", "/missing_")
    with pytest.raises(DatabaseNotFound, match="no database 'missing_"):
        open_database(missing, connect_seconds=30)
    with pytest.raises(DatabaseNotFound):
        open_database(missing, connect_seconds=30)


@pytest.fixture
def driver() -> None:
    pytest.importorskip("pyspark", reason="no driver for Spark: pip install 'askwell[spark]'")


@pytest.mark.usefixtures("driver")
def test_a_port_where_nobody_listens_is_told_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(DatabaseUnreachable, match="no answer within 1 s"):
        open_database(f"spark://127.0.0.1:{port}", connect_seconds=1)


@pytest.mark.usefixtures("driver")
def test_a_program_without_a_file_survives_the_driver() -> None:
    """pyspark would take it for its own doctests and end it."""
    code = (
        "from eval.databases import open_database\n"
        "try: open_database('spark://127.0.0.1:1', connect_seconds=1)\n"
        "except Exception as error: print('still here:', error)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert ended.stdout.startswith("still here: "), ended.stderr


@pytest.mark.parametrize("sql", sections("databases/refusals.txt")["spark: not refused"][0])
def test_ordinary_names_and_texts_are_not_refused(sql: str) -> None:
    assert refused(sql) is None
