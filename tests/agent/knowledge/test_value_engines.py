"""Values beyond the index are looked up in every engine: by any capitals, never by a date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import duckdb
import psycopg
import pymysql
import pytest

from agent.knowledge import value_reading
from agent.knowledge.values import value_index
from eval.databases import open_database

TABLE = "CREATE TABLE parcels (id INTEGER PRIMARY KEY, client VARCHAR(40), city VARCHAR(40), sent_on DATE, weight INT)"
ROWS = [
    (i, f"Client {i}", "Badheim" if i == 3_000 else f"Town {i % 20}", f"2024-01-{1 + i % 30:02}", i % 8)
    for i in range(1, 3_001)
]
INSERT = "INSERT INTO parcels VALUES (%s, %s, %s, %s, %s)"


@pytest.fixture(params=["duckdb", "postgres_url", "mysql_url"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "duckdb":
        with duckdb.connect(tmp_path / "parcels.duckdb") as file:
            file.execute(TABLE)
            file.execute(f"INSERT INTO parcels VALUES {', '.join(map(str, ROWS))}")
        yield str(tmp_path / "parcels.duckdb")
        return
    server: str = request.getfixturevalue(request.param)
    parts = urlsplit(server)
    if request.param == "postgres_url":
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS parcels")
            connection.execute(TABLE)
            connection.cursor().executemany(INSERT, ROWS)
            connection.execute("ANALYZE parcels")
            yield server
            connection.execute("DROP TABLE parcels")
        return
    with pymysql.connect(
        host=parts.hostname, port=parts.port or 3306, user=parts.username, password=unquote(parts.password or ""),
        database=parts.path[1:], autocommit=True,
    ) as mysql:  # fmt: skip
        mysql.cursor().execute("DROP TABLE IF EXISTS parcels")
        mysql.cursor().execute(TABLE)
        mysql.cursor().executemany(INSERT, ROWS)
        yield server
        mysql.cursor().execute("DROP TABLE parcels")


def test_every_engine_is_asked(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_reading, "SCANNED_ROWS", 500)
    monkeypatch.setattr(value_reading, "VALUES_PER_COLUMN", 200)
    with open_database(url) as database:
        index = value_index(database, database.schema(), cache_dir=tmp_path)

        assert [h.column for h in index.find("badheim")] == ["city"]
        assert not index.complete("parcels", "client")
        assert [h.value for h in index.find("CLIENT 3000", fuzzy=True)] == ["Client 3000"]
        assert [h.value for h in index.look_up(["client 2999", "it's \\ no client"])] == ["Client 2999"]
        assert (index.facts("parcels", "weight").least, index.facts("parcels", "weight").greatest) == (0, 7)
        assert str(index.facts("parcels", "sent_on").least) == "2024-01-01"
