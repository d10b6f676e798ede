"""Results of every engine are kept with their types, paged and exported; edited SQL runs on each."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from agent.results import ResultStore, StatementFailed, export
from eval.databases import Database, Limits, open_database
from eval.statement import ReadStatement

TYPED = {
    "duckdb": "SELECT 1 AS n, 12.50::DECIMAL(8,2) AS price, DATE '2024-02-29' AS day, TIMESTAMP '2024-01-01 10:00:00' "
    "AS at, TRUE AS yes, 'NaN'::DOUBLE AS odd, 170141183460469231731687303715884105727::HUGEINT AS big",
    "postgres": "SELECT 1 AS n, 12.50::NUMERIC(8,2) AS price, DATE '2024-02-29' AS day, TIMESTAMP '2024-01-01 "
    "10:00:00' AS at, TRUE AS yes, 'NaN'::FLOAT8 AS odd, 170141183460469231731687303715884105727::NUMERIC AS big",
    "mysql": "SELECT 1 AS n, CAST(12.50 AS DECIMAL(8,2)) AS price, DATE '2024-02-29' AS day, TIMESTAMP '2024-01-01 "
    "10:00:00' AS at, TRUE AS yes, 1e0 AS odd, CAST('170141183460469231731687303715884105727' AS DECIMAL(39,0)) AS big",
}


@pytest.fixture(scope="module", params=["duckdb", "postgres", "mysql"])
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    target: str | Path
    if request.param == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        target = tmp_path_factory.mktemp("kept") / "x.duckdb"
        with duckdb.connect(str(target)) as connection:
            connection.execute("CREATE TABLE t (n INTEGER)")
    else:
        target = request.getfixturevalue(f"{request.param}_url")
    with open_database(target) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    return ResultStore(tmp_path / "results", limits=Limits(seconds=20, rows=100_000))


async def test_types_survive_keeping_and_parquet(database: Database, store: ResultStore) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    result = await store.keep(database, ReadStatement(TYPED[database.dialect], database.dialect))
    row = [column[0] for column in next(result.batches())]

    assert row[:4] == [1, Decimal("12.50"), date(2024, 2, 29), datetime(2024, 1, 1, 10)]
    assert str(row[1]) == "12.50"
    assert row[4] == 1
    assert isinstance(row[5], float)
    assert math.isnan(row[5]) == (database.dialect != "mysql")
    assert row[6] == 2**127 - 1
    assert result.page().rows[0][:4] == [1, 12.5, "2024-02-29", "2024-01-01T10:00:00"]
    table = pq.read_table(io.BytesIO(b"".join(export(result, "parquet"))))
    assert [str(f.type) for f in table.schema][1:4] == ["decimal128(4, 2)", "date32[day]", "timestamp[us]"]
    assert table.to_pydict()["big"] == [2**127 - 1]


async def test_a_failing_statement_says_what_the_engine_said(database: Database, store: ResultStore) -> None:
    with pytest.raises(StatementFailed, match="missing_table"):
        await store.keep(database, ReadStatement("SELECT * FROM missing_table", database.dialect))
