"""A model's query gets the signs and the names that the engine has, and no others."""

from __future__ import annotations

import pytest

from agent.statements.spelling import as_stored, in_any_case, without_escapes
from eval.schema import Column, Dialect, Schema, Table

PEOPLE = Table("AppUser", (Column("id", "int"), Column("displayName", "text")), namespace="Shop")
ORDERS = Table(
    "orders", (Column("id", "int"), Column("userId", "int"), Column("total", "numeric"), Column("paid", "money"))
)
TWINS = (Table("Log", (Column("at", "date"),)), Table("LOG", (Column("At", "date"),)))


@pytest.mark.parametrize(
    ("dialect", "written", "stored"),
    [
        ("postgres", "SELECT COUNT(*) FROM AppUser", 'SELECT COUNT(*) FROM "AppUser"'),
        ("postgres", 'SELECT u.displayName FROM "AppUser" AS u', 'SELECT u."displayName" FROM "AppUser" AS u'),
        ("postgres", "SELECT AppUser.ID FROM appuser", 'SELECT "AppUser".ID FROM "AppUser"'),
        ("postgres", "SELECT 1 FROM shop.appuser", 'SELECT 1 FROM "Shop"."AppUser"'),
        ("postgres", 'SELECT "Total" FROM "Orders"', 'SELECT "total" FROM "orders"'),
        (
            "postgres",
            "SELECT o.userid FROM orders AS o WHERE EXISTS(SELECT 1 FROM AppUser AS a WHERE a.id = o.USERID)",
            'SELECT o."userId" FROM orders AS o WHERE EXISTS(SELECT 1 FROM "AppUser" AS a WHERE a.id = o."userId")',
        ),
        ("postgres", "SELECT AVG(paid) FROM orders", "SELECT AVG(CAST(paid AS DECIMAL)) FROM orders"),
        (
            "postgres",
            "SELECT paid FROM orders WHERE paid > 3",
            "SELECT paid FROM orders WHERE CAST(paid AS DECIMAL) > 3",
        ),
        ("postgres", "SELECT paid, COUNT(paid) FROM orders GROUP BY paid", None),
        ("postgres", "SELECT at FROM log", "SELECT at FROM log"),
        ("postgres", "SELECT nothing FROM orders", "SELECT nothing FROM orders"),
        ("postgres", "WITH appuser AS (SELECT 1 AS n) SELECT n FROM appuser", None),
        ("postgres", "SELECT COUNT(*) FROM store.orders", "SELECT COUNT(*) FROM orders"),
        ("mysql", "SELECT COUNT(*) FROM store.orders", "SELECT COUNT(*) FROM orders"),
        ("mysql", "SELECT store.orders.id FROM store.orders", "SELECT orders.id FROM orders"),
        ("mysql", "SELECT COUNT(*) FROM mysql.user", None),
        ("mysql", "SELECT COUNT(*) FROM store.secrets", None),
        ("sqlite", "SELECT COUNT(*) FROM store.orders", "SELECT COUNT(*) FROM orders"),
        ("sqlite", "SELECT user\\_id FROM orders", "SELECT user_id FROM orders"),
        ("sqlite", "SELECT id\\nFROM orders\\tWHERE total \\> 3", "SELECT id FROM orders WHERE total > 3"),
        ("sqlite", "SELECT id FROM orders WHERE id = ’a b’", "SELECT id FROM orders WHERE id = 'a b'"),
        ("postgres", "SELECT id FROM log WHERE id = ’saw’", "SELECT id FROM log WHERE id = 'saw'"),
        ("sqlite", "SELECT id FROM orders WHERE total &gt; 3", "SELECT id FROM orders WHERE total > 3"),
        ("sqlite", "SELECT '&gt;' FROM orders", None),
        ("sqlite", "SELECT 'it’s \\n' FROM orders", None),
        ("sqlite", "no query \\_ at all", None),
    ],
)
def test_names_and_signs(dialect: Dialect, written: str, stored: str | None) -> None:
    schema = Schema(dialect, (PEOPLE, ORDERS, *(TWINS if dialect == "postgres" else ())))
    assert as_stored(written, schema, "store") == (written if stored is None else stored)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a\\_b = 'x\\_y'", "a_b = 'x\\_y'"),
        ("“Name” = ‘Ann’", "\"Name\" = 'Ann'"),
        ("x \\>= 3 \\*", "x >= 3 *"),
    ],
)
def test_what_is_quoted_stays(text: str, plain: str) -> None:
    assert without_escapes(text) == plain


@pytest.mark.parametrize(
    ("dialect", "written", "compared"),
    [
        ("postgres", "SELECT id FROM t WHERE s = 'Paid'", "SELECT id FROM t WHERE LOWER(s) = 'paid'"),
        ("sqlite", "SELECT id FROM t AS a WHERE NOT a.s IN ('X', 'B-2')", "SELECT id FROM t AS a WHERE NOT "
         "LOWER(a.s) IN ('x', 'b-2')"),
        ("postgres", "SELECT SUM(CASE WHEN s <> 'No' THEN 1 END) FROM t", "SELECT SUM(CASE WHEN LOWER(s) <> 'no' "
         "THEN 1 END) FROM t"),
        ("mysql", "SELECT id FROM t WHERE s = 'Paid'", None),
        ("postgres", "SELECT id FROM t WHERE kind = 'Paid'", None),
        ("postgres", "SELECT id FROM t WHERE s = '2024' AND day = '2024-05-01'", None),
        ("sqlite", "SELECT a.id FROM t AS a JOIN t AS b ON a.s = b.s", None),
    ],
)  # fmt: skip
def test_texts_in_any_case(dialect: Dialect, written: str, compared: str | None) -> None:
    columns = (Column("id", "int"), Column("s", "varchar(9)"), Column("kind", "order_enum"), Column("day", "date"))
    assert in_any_case(written, Schema(dialect, (Table("t", columns),))) == (compared or written)
