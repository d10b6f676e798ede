"""Names that exist, names that do not, and names that too much answers to."""

from __future__ import annotations

import pytest

from eval.schema import Column, Dialect, Schema, Table
from eval.sql import parse, resolve


def _table(name: str, *columns: str) -> Table:
    return Table(name, tuple(Column(c) for c in columns))


TABLES = (
    _table("customers", "id", "name", "email", "city"),
    _table("orders", "id", "customer_id", "total", "status"),
)

KNOWN = [
    ("sqlite", "WITH t(a, b) AS (SELECT id, total FROM orders) SELECT a FROM t WHERE b > 1"),
    ("sqlite", "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT x FROM n"),
    ("sqlite", 'SELECT "no such column, so a string", rowid FROM customers'),
    ("sqlite", "SELECT id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)"),
    ("sqlite", "SELECT total * 2 AS d FROM orders WHERE d > 3"),
    ("sqlite", "SELECT value FROM orders, json_each('[1]')"),
    ("sqlite", "SELECT id FROM customers JOIN (SELECT customer_id AS id FROM orders) USING (id)"),
    ("duckdb", "SELECT total * 2 AS d, d + 1 AS e FROM orders WHERE d > 3"),
    ("postgres", "SELECT o.id, g FROM orders o, generate_series(1, o.id) AS g"),
    ("postgres", "SELECT c FROM customers c"),
    ("mysql", "SELECT status AS s, COUNT(*) AS n FROM orders GROUP BY s HAVING n > 1"),
    ("mysql", "SELECT TIMESTAMPDIFF(MONTH, '2024-01-01', status) FROM orders"),
]

UNKNOWN = [
    ("sqlite", "SELECT totl FROM orders", "column", "totl", "total"),
    ("sqlite", "SELECT o.name FROM orders o JOIN customers c ON c.id = o.customer_id", "column", "o.name", "c.name"),
    ("sqlite", "SELECT id FROM customer", "table", "customer", "customers"),
    ("sqlite", "SELECT LENGHT(name) FROM customers", "function", "lenght", "length"),
    ("sqlite", "SELECT ROUND(total, 1, 2) FROM orders", "function", "round", "round(a[, b])"),
    ("sqlite", "SELECT [nme] FROM customers", "column", "nme", "name"),
    ("sqlite", "SELECT id FROM orders JOIN customers ON customer_id = customers.id", "ambiguous", "id", "orders"),
    ("postgres", "SELECT total * 2 AS d FROM orders WHERE d > 3", "column", "d", None),
    ("postgres", 'SELECT "Name" FROM customers', "column", "Name", "name"),
    ("mysql", "SELECT total * 2 AS d FROM orders WHERE d > 3", "column", "d", None),
]


@pytest.mark.parametrize(("dialect", "sql"), KNOWN)
def test_a_name_that_exists_is_no_phantom(dialect: Dialect, sql: str) -> None:
    assert resolve(parse(sql, dialect), Schema(dialect, TABLES)).phantoms == ()


@pytest.mark.parametrize(("dialect", "sql", "kind", "name", "nearest"), UNKNOWN)
def test_a_phantom_is_named_with_the_nearest_real_name(
    dialect: Dialect, sql: str, kind: str, name: str, nearest: str | None
) -> None:
    (phantom,) = resolve(parse(sql, dialect), Schema(dialect, TABLES)).phantoms
    assert (phantom.kind, phantom.name) == (kind, name)
    assert nearest is None or phantom.nearest[0] == nearest


def test_tables_columns_and_functions_used_are_reported_by_their_schema_names() -> None:
    sql = "SELECT UPPER(C.NAME) FROM Customers C JOIN ORDERS o ON o.customer_id = C.id"
    references = resolve(parse(sql, "sqlite"), Schema("sqlite", TABLES))
    assert references.tables == ("customers", "orders")
    assert set(references.columns) == {("customers", "name"), ("customers", "id"), ("orders", "customer_id")}
    assert references.functions == ("upper",)
