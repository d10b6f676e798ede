"""The demos in engines that keep no keys: the same rows, and keys that are inferred as the demo declares them."""

from __future__ import annotations

import pytest

from eval.databases import Database, open_database
from eval.sql import check, parse
from eval.tasks.archive import table_definitions, table_rows
from eval.tasks.load import LoadError, load
from tests.optional import needs_chdb, needs_sail


@pytest.fixture(params=[pytest.param("clickhouse", marks=needs_chdb), pytest.param("sail", marks=needs_sail)])
def url(request: pytest.FixtureRequest) -> str:
    place: str = request.getfixturevalue(f"{request.param}_url")
    return place


def rows(database: Database, sql: str) -> list[tuple[object, ...]]:
    statement = check(parse(sql, database.dialect), database.schema()).statement
    assert statement is not None
    result = database.execute(statement)
    assert result.ok, result.error
    return list(result.rows)


def test_the_shop_is_loaded_once_with_its_keys(url: str) -> None:
    tables = table_definitions("shop")
    counts = {table.name: len(found) for table, found in table_rows("shop")}
    load(table_rows("shop"), tables, url)
    with open_database(url) as database:
        schema = database.schema()
        assert {t.name: t.row_count for t in schema.tables} == counts
        declared = {(t.name, k.columns, k.ref_table) for t in tables for k in t.table.foreign_keys}
        inferred = {(t.name, k.columns, k.ref_table) for t in schema.tables for k in t.foreign_keys}
        assert len(inferred & declared) >= 0.9 * len(declared)
        assert inferred <= declared
        sql = "SELECT count(*), min(order_date), sum(CASE WHEN shipped_date IS NULL THEN 1 ELSE 0 END) FROM orders"
        number, first, unshipped = rows(database, sql)[0]
        assert (number, str(first)[:10]) == (counts["orders"], "2023-01-01")
        assert isinstance(unshipped, int)
        assert unshipped > 0
    with pytest.raises(LoadError, match="exists already"):
        load(table_rows("shop"), tables, url)
