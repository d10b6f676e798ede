"""A small company on every engine: whole, and as a copy that holds only what Anna may see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests import spark_servers
from tests.conftest import chdb_client
from tests.optional import needs_chdb, needs_sail, needs_spark
from tests.pairs import FIXTURES
from tests.writing import write

STAFF = [
    # id, name, region, salary, email, boss_id
    (1, "Anna", "EU", 777001, "sentinel1@example.org", None),
    (2, "Bert", "EU", 777002, "sentinel2@example.org", 4),
    (3, "Cleo", "EU", 777003, "sentinel3@example.org", 1),
    (4, "Sentinel-Dora", "US", 777004, "sentinel4@example.org", 1),
    (5, "Sentinel-Egon", "US", 777005, "sentinel5@example.org", 4),
]
SALES = [
    # id, staff_id, amount, note
    (1, 1, 10, "first"),
    (2, 2, 20, "second"),
    (3, 4, 888003, "Sentinel three"),
    (4, 5, 888004, "Sentinel four"),
    (5, 3, 30, "fifth"),
]
PAYROLL = [(1, 1, 999001), (2, 4, 999002)]
GOODS = [(1, "chair"), (2, "table"), (3, "lamp"), (4, "desk"), (5, "shelf")]
SECRETS = ("sentinel", "77700", "88800", "99900")

POLICIES = (FIXTURES / "access/policies.yaml").read_text(encoding="utf-8")
TOKENS = "anna=anna-token-0123456789,ben=ben-token-0123456789,eve=eve-token-01234567890"
ANNA = {"Authorization": "Bearer anna-token-0123456789"}
BEN = {"Authorization": "Bearer ben-token-0123456789"}
_TABLES = {
    "staff": "id INTEGER, name VARCHAR(40), region VARCHAR(10), salary INTEGER, email VARCHAR(60), boss_id INTEGER",
    "sales": "id INTEGER, staff_id INTEGER, amount INTEGER, note VARCHAR(40)",
    "payroll": "id INTEGER, staff_id INTEGER, amount INTEGER",
    "goods": "id INTEGER, title VARCHAR(20)",
}


def _literal(value: object) -> str:
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


def _insert(table: str, rows: Sequence[tuple[object, ...]]) -> str:
    values = ", ".join("(" + ", ".join(map(_literal, row)) + ")" for row in rows)
    return f"INSERT INTO {table} VALUES {values}"


def whole() -> list[str]:
    """The statements that make the company."""
    rows: dict[str, Sequence[tuple[object, ...]]] = {"staff": STAFF, "sales": SALES, "payroll": PAYROLL, "goods": GOODS}
    tables = [f"CREATE TABLE {name} ({columns})" for name, columns in _TABLES.items()]
    filled = [_insert(name, kept) for name, kept in rows.items()]
    return [*tables, *filled, "CREATE VIEW all_staff AS SELECT * FROM staff"]


def visible(region: str) -> list[str]:
    """The statements that make a copy with only what a person of this region sees."""
    staff = [(i, name, where, "***", boss) for i, name, where, _, _, boss in STAFF if where == region]
    ids = {row[0] for row in staff}
    sales = [row for row in SALES if row[1] in ids]
    columns = "id INTEGER, name VARCHAR(40), region VARCHAR(10), email VARCHAR(60), boss_id INTEGER"
    return [
        f"CREATE TABLE staff ({columns})",
        _insert("staff", [*staff]),
        f"CREATE TABLE sales ({_TABLES['sales']})",
        _insert("sales", [*sales]),
        f"CREATE TABLE goods ({_TABLES['goods']})",
        _insert("goods", [*GOODS]),
    ]


def build(url: str, statements: list[str]) -> None:
    """Run the statements on the database of this URL, as its owner."""
    scheme = url.partition(":")[0]
    if scheme == "chdb":
        with chdb_client(url) as client:
            client.command("SET data_type_default_nullable = 1")
            for statement in statements:
                merge_tree = " ENGINE = MergeTree ORDER BY tuple()" if statement.startswith("CREATE TABLE") else ""
                client.command(statement + merge_tree)
    elif scheme == "sc":
        spark_servers.write(url, *statements)
    else:
        write(url.replace("://", ":///", 1) if scheme in ("sqlite", "duckdb") else url, *statements)


Urls = tuple[str, str]
"""(the company, Anna's copy)"""


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policies") / "access.yaml"
    path.write_text(POLICIES)
    return str(path)


ENGINES = [
    *("sqlite", "duckdb", "postgres", "mysql"),
    pytest.param("clickhouse", marks=needs_chdb),
    pytest.param("sail", marks=needs_sail),
    pytest.param("spark", marks=[needs_spark, pytest.mark.slow]),
]


@pytest.fixture(scope="module", params=ENGINES)
def company(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Urls]:
    folder = tmp_path_factory.mktemp("company")
    if request.param in ("sqlite", "duckdb"):
        if request.param == "duckdb":
            pytest.importorskip("duckdb")
        urls = (f"{request.param}:///{folder}/company.db", f"{request.param}:///{folder}/copy.db")
        for place, statements in zip(urls, (whole(), visible("EU")), strict=True):
            build(place.replace("///", "//"), statements)
        yield urls
        return
    url: str = request.getfixturevalue(f"{request.param}_url")
    if request.param in ("sail", "spark"):
        from tests.spark_servers import scratch_database

        server = "/".join(url.split("/")[:3])
        with scratch_database(server) as copy:
            build(url, whole())
            build(copy, visible("EU"))
            yield url, copy
        return
    copy, name = f"{url}_copy", f"{url.rpartition('=')[2]}_copy"
    if request.param != "clickhouse":
        copy = urlsplit(url)._replace(path=f"{urlsplit(url).path}_copy").geturl()
        name = urlsplit(copy).path[1:]
    build(url, [f"CREATE DATABASE {name}"])
    try:
        build(url, whole())
        build(copy, visible("EU"))
        yield url, copy
    finally:
        how = {"postgres": " WITH (FORCE)", "clickhouse": " SYNC"}.get(request.param, "")
        build(url, [f"DROP DATABASE {name}{how}"])


@pytest.fixture(scope="module")
def company_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "company.sqlite"
    build(f"sqlite://{path}", whole())
    return path
