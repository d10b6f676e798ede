"""ClickHouse through its driver: chDB in this process, and the HTTP interface with the same engine behind it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from eval.databases import (
    CancelToken,
    Database,
    DatabaseError,
    DatabaseNotFound,
    DatabaseUnreachable,
    Limits,
    open_database,
)
from eval.databases.clickhouse import STANDARD_SETTINGS
from eval.databases.urls import parse_target
from eval.sql import parse, resolve
from eval.statement import ReadStatement
from tests.conftest import chdb_client
from tests.http_server import Answer, answered_by
from tests.pairs import FIXTURES
from tests.writing import rows_of

_NOT_SETTINGS = frozenset(
    {"database", "query_id", "session_id", "compress", "decompress", "client_protocol_version", "wait_end_of_query"}
    | {"send_progress_in_http_headers", "http_headers_progress_interval_ms", "query", "enable_http_compression", "role"}
)
ENDLESS = "SELECT count() FROM numbers_mt(100000000000) WHERE sipHash64(number) % 7 = 3"
NEVER_ORDERED = "SELECT count(*) FROM customers AS c LEFT JOIN orders AS o ON o.customer_id = c.id WHERE o.id IS NULL"


@contextmanager
def served(folder: str, profile: dict[str, str] | None = None) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """`host:port` of a server over the chDB folder, and the parameters of each request so far."""
    import chdb

    seen: list[dict[str, str]] = []
    zone = {"X-ClickHouse-Timezone": "UTC"}

    def answer(request: BaseHTTPRequestHandler, data: bytes) -> Answer:
        if request.command == "GET":
            return 200, zone, b"Ok.\n"
        parameters = dict(parse_qsl(urlsplit(request.path).query, keep_blank_values=True))
        sql = data.decode() or parameters.get("query", "")
        seen.append({**parameters, "sql": sql})
        if request.headers.get("Authorization") != "Basic cmVhZGVyOnNlY3JldA==":  # reader:secret
            refused = b"Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)"
            return 403, zone | {"X-ClickHouse-Exception-Code": "516"}, refused
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
            return 200, zone, bytes(connection.query(sql, "TabSeparated").bytes() or b"")
        except Exception as problem:  # noqa: BLE001 (the engine's message is the answer)
            code = str(problem).partition("Code: ")[2].partition(".")[0] or "1"
            return 500, zone | {"X-ClickHouse-Exception-Code": code}, str(problem).encode()
        finally:
            connection.close()

    with answered_by(answer) as place:
        yield place, seen


@pytest.fixture(scope="module")
def shop_url(clickhouse_url: str) -> str:
    script = (FIXTURES / "databases/setup_clickhouse.sql").read_text(encoding="utf-8")
    with chdb_client(clickhouse_url) as client:
        for statement in script.split(";\n"):
            client.command(statement)
    return clickhouse_url


@pytest.fixture(scope="module")
def shop(shop_url: str) -> Iterator[Database]:
    with open_database(shop_url) as database:
        yield database


def test_the_structure_has_types_comments_counts_and_keys(shop: Database) -> None:
    customers, orders, berliners = (shop.schema().table(n) for n in ("customers", "orders", "berliners"))
    assert customers.comment == "people who buy"
    assert customers.row_count == 10
    assert not customers.row_count_estimated
    assert customers.primary_key == ("id",)  # ClickHouse keeps no key unique; these values are
    assert [(c.name, c.type, c.nullable, c.comment) for c in customers.columns][3] == (
        "city",
        "LowCardinality(Nullable(String))",
        True,
        "where they live",
    )
    assert orders.primary_key == ("id",)  # not in ORDER BY, but named and filled like a key
    assert [(i.name, i.columns) for i in orders.indexes] == [
        ("ORDER BY", ("customer_id", "at")),
        ("PARTITION BY", ("customer_id",)),
    ]
    assert [(k.columns, k.ref_table, k.inferred) for k in orders.foreign_keys] == [
        (("customer_id",), "customers", True)
    ]
    assert {c.name: c.type for c in orders.columns}["lines.pieces"] == "Array(Int32)"
    assert berliners.kind == "view"


def test_values_come_as_plain_python_and_a_query_means_what_the_standard_says(shop: Database) -> None:
    sql = (
        "SELECT tags[1], attributes['k'], place.y, length(lines.product), product FROM orders "
        "ARRAY JOIN lines.product AS product WHERE id = 0 ORDER BY product"
    )
    assert resolve(parse(sql, "clickhouse"), shop.schema()).phantoms == ()
    assert rows_of(shop, sql) == [("a", 1, "y", 2, "p"), ("a", 1, "y", 2, "q")]
    ((day, at, tags, place, total),) = rows_of(
        shop,
        "SELECT c.joined, o.at, o.tags, o.place, o.total FROM customers AS c JOIN orders AS o ON o.customer_id = c.id "
        "WHERE o.id = 7",
    )
    assert day == date(2020, 1, 2)
    assert isinstance(at, datetime)
    assert (tags, str(total)) == (["a", "b"], "7.00" if str(total) == "7.00" else "7")
    assert place == {"x": 1, "y": "y"}
    assert rows_of(shop, NEVER_ORDERED) == [(5,)]
    assert rows_of(shop, "SELECT sum(total), max(id) FROM orders WHERE id > 1000") == [(None, None)]
    assert rows_of(shop, "SELECT 1 AS x UNION SELECT 1") == [(1,)]
    assert rows_of(shop, "SELECT max(id) AS id FROM orders WHERE id < 50") == [(49,)]


def test_a_name_that_does_not_exist_is_told_in_the_engine_s_words(shop: Database) -> None:
    result = shop.execute(ReadStatement("SELECT totl FROM orders", "clickhouse"))
    assert result.status == "error"
    assert "Unknown expression identifier `totl`" in (result.error or "")
    result = shop.execute(ReadStatement("SELECT 1 INTO OUTFILE 'x'", "clickhouse"))
    assert result.error == "Syntax error near 'OUTFILE'"


def test_a_statement_stops_at_its_caps_at_its_deadline_and_when_it_is_cancelled(shop: Database) -> None:
    statement = ReadStatement("SELECT number, repeat('x', 100) FROM numbers(1000000)", "clickhouse")
    few = shop.execute(statement, limits=Limits(rows=5))
    assert (few.status, len(few.rows), few.truncated) == ("success", 5, True)
    small = shop.execute(statement, limits=Limits(bytes=10_000))
    assert small.truncated
    assert 50 < len(small.rows) < 100
    with shop.stream(statement, limits=Limits(rows=300_000)) as stream:
        assert stream.columns == ("number", "repeat('x', 100)")
        first = next(iter(stream))
    assert len(first) == 100
    assert stream.status == "cancelled"
    assert shop.execute(ReadStatement("SELECT 1", "clickhouse")).rows == ((1,),)
    late = shop.execute(ReadStatement(ENDLESS, "clickhouse"), limits=Limits(seconds=0.3))
    assert late.status == "timeout"
    token = CancelToken()
    timer = threading.Timer(0.3, token.cancel)
    timer.start()
    stopped = shop.execute(ReadStatement(ENDLESS, "clickhouse"), cancel=token)
    timer.join()
    assert stopped.status == "cancelled"


def test_the_sign_of_the_data_changes_with_the_data(shop: Database, shop_url: str) -> None:
    before, structure = shop.data_version(), shop.schema().fingerprint
    with chdb_client(shop_url) as client:
        client.command("CREATE TABLE extra (x Int8) ENGINE = Memory")
        assert shop.schema().table("extra") is not None
        client.command("INSERT INTO extra VALUES (1)")
        assert shop.data_version() != before
        client.command("DROP TABLE extra SYNC")
    assert shop.schema().fingerprint == structure


def test_a_folder_or_database_that_does_not_exist_is_not_created(chdb_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DatabaseNotFound, match="none was created"):
        open_database(f"chdb:///{tmp_path}/missing")
    assert not (tmp_path / "missing").exists()
    with pytest.raises(DatabaseNotFound, match="no database 'missing'"):
        open_database(f"chdb:///{chdb_folder}?database=missing")
    (tmp_path / "metadata").mkdir()
    with pytest.raises(DatabaseError, match="one folder for each process"):
        open_database(f"chdb:///{tmp_path}")


def test_a_url_names_a_folder(tmp_path: Path) -> None:
    (tmp_path / "metadata").mkdir()
    folder = parse_target(f"chdb:///{tmp_path}?database=sales")
    assert (folder.path, folder.database, folder.name) == (tmp_path, "sales", "sales")
    assert parse_target(folder.url) == folder


@pytest.mark.parametrize("profile", [{}, {"readonly": "2"}, {"readonly": "1", **STANDARD_SETTINGS}])
def test_a_server_is_read_over_http(shop_url: str, chdb_folder: Path, profile: dict[str, str]) -> None:
    name = shop_url.partition("?database=")[2]
    with (
        served(str(chdb_folder), profile) as (place, seen),
        open_database(f"clickhouse://reader:secret@{place}/{name}") as database,
    ):
        assert len(database.schema().tables) == 3
        assert rows_of(database, NEVER_ORDERED) == [(5,)]
        late = database.execute(ReadStatement(ENDLESS, "clickhouse"), limits=Limits(seconds=0.5))
        assert late.status == "timeout"
        assert database.execute(ReadStatement("DROP TABLE orders", "clickhouse")).status == "error"
        sent = [request for request in seen if request["sql"].startswith("SELECT count(*)")]
    assert all(request["query_id"] for request in sent)
    assert {request.get("readonly") for request in sent} == ({"1"} if not profile else {None})
    assert {"max_execution_time" in request for request in sent} == {profile.get("readonly") != "1"}


def test_a_wrong_password_is_told_without_it(chdb_folder: Path) -> None:
    with served(str(chdb_folder)) as (place, _), pytest.raises(DatabaseUnreachable) as refusal:
        open_database(f"clickhouse://reader:wrongpw@{place}/default")
    assert "refused the login of 'reader'" in str(refusal.value)
    assert "wrongpw" not in str(refusal.value)
