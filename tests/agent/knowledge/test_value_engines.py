"""Values beyond the index are looked up in every engine: by any capitals, never by a date."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.knowledge import value_reading
from agent.knowledge.values import value_index
from eval.databases import open_database
from tests.writing import write

TABLE = "CREATE TABLE parcels (id INTEGER PRIMARY KEY, client VARCHAR(40), city VARCHAR(40), sent_on DATE, weight INT)"
ROWS = [
    (i, f"Client {i}", "Badheim" if i == 3_000 else f"Town {i % 20}", f"2024-01-{1 + i % 30:02}", i % 8)
    for i in range(1, 3_001)
]


@pytest.fixture(params=["duckdb_url", "postgres_url", "mysql_url"])
def url(request: pytest.FixtureRequest) -> str:
    place: str = request.getfixturevalue(request.param)
    rows = f"INSERT INTO parcels VALUES {', '.join(map(str, ROWS))}"
    write(place, "DROP TABLE IF EXISTS parcels", TABLE, rows)
    if request.param == "postgres_url":
        write(place, "ANALYZE parcels")
    return place


@pytest.fixture
def duckdb_url(tmp_path: Path) -> str:
    return f"duckdb:///{tmp_path}/parcels.duckdb"


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
