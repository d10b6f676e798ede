"""A query that does not run is made one that does, and every change is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.statements.mending import mended
from eval.databases import Database, open_database
from tests.agent.access.company import build

MADE = [
    "CREATE TABLE clients (client_id INTEGER PRIMARY KEY, full_name TEXT, town TEXT, born DATE)",
    "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, client_id INTEGER REFERENCES clients(client_id), total REAL)",
    "INSERT INTO clients VALUES (1, 'Ada', 'Rome', '1990-05-06'), (2, 'Bo', 'Oslo', '2001-02-03')",
    "CREATE TABLE lines (order_id INTEGER REFERENCES orders(order_id), article TEXT)",
    "INSERT INTO orders VALUES (1, 1, 10), (2, 1, 5), (3, 2, 7)",
    "INSERT INTO lines VALUES (1, 'tea'), (3, 'rice')",
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("mending") / "shop.db"
    build(f"sqlite://{path}", MADE)
    with open_database(path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("sql", "rows", "told"),
    [
        ("SELECT COUNT(*) FROM clients", [(2,)], ()),
        ("SELECT COUNT(*) FROM client", [(2,)], ("There is no table `client`; `clients` is taken.",)),
        ("SELECT fullname FROM clients WHERE twn = 'Rome'", [("Ada",)], ("full_name", "town")),
        ("SELECT o.full_name FROM orders o JOIN clients c USING (client_id) WHERE total > 8", [("Ada",)], ("of c,",)),
        ("SELECT SUM(total) FROM orders WHERE town = 'Rome'", [(15.0,)], ("clients, which is joined",)),
        ("SELECT article FROM lines l WHERE town = 'Rome'", [("tea",)], ("clients, which is joined by 2 keys",)),
        ("SELECT c.town FROM clients c JOIN orders o ON c.id = o.client_id WHERE total = 7", [("Oslo",)], ("key is",)),
        ("```sql\nSELECT town FROM clients WHERE full_name = 'Bo';\n```\nHope this helps!", [("Oslo",)], ("left out",)),
        ("SELECT town FROM clients WHERE client_id > = 2", [("Oslo",)], ("put together",)),
        ("SELECT COUNT(*) FROM orders WHERE total > 6 WHERE total < 9", [(1,)], ("further condition",)),
        ("SELECT town FROM clients WHERE client_id = (SELECT MIN(client_id) FROM orders", [("Rome",)], ("closed",)),
        ("SELECT town FROM clients WHERE full\\_name = 'Bo'", [("Oslo",)], ("Backslashes",)),
        ("SELECT full_name FROM clients WHERE YEAR(born) = 1990", [("Ada",)], ("translated",)),
        ("SELECT CONCAT(town, '!') FROM clients WHERE full_name ILIKE 'ada'", [("Rome!",)], ("translated",)),
        ("SELECT client_id FROM orders WHERE SUM(total) > 8 GROUP BY client_id", [(1,)], ("HAVING",)),
        ("SELECT town FROM clients ORDER BY MAX(born) DESC LIMIT 1", [("Oslo",)], ("the column itself",)),
    ],
)  # fmt: skip
def test_it_runs_and_says_what_was_changed(
    database: Database, sql: str, rows: list[tuple[object, ...]], told: tuple[str, ...]
) -> None:
    made = mended(sql, database)
    assert made.problem == ""
    assert made.result is not None
    assert list(made.result.rows) == rows
    assert bool(made.changes) == bool(told)
    assert all(any(words in change for change in made.changes) for words in told), made.changes


NAMED = [
    'CREATE TABLE "Client" ("Id" INTEGER PRIMARY KEY, "FullName" TEXT)',
    'CREATE TABLE "Order" (id INTEGER PRIMARY KEY, "Group" TEXT, client INTEGER REFERENCES "Client"("Id"))',
    """INSERT INTO "Client" VALUES (1, 'Ada')""",
    """INSERT INTO "Order" VALUES (1, 'A', 1), (2, 'B', 1)""",
]


@pytest.fixture(scope="module", params=["sqlite", "postgres_url"])
def named(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    folder = tmp_path_factory.mktemp("named")
    url = f"sqlite://{folder}/named.db" if request.param == "sqlite" else request.getfixturevalue(request.param)
    build(url, NAMED)
    with open_database(url) as opened:
        yield opened


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT COUNT(*) FROM Ordr", [(2,)]),
        ('SELECT grup FROM "Order" WHERE id = 1', [("A",)]),
        ('SELECT O."FullName" FROM "Order" O WHERE O."Group" = \'B\'', [("Ada",)]),
        ('SELECT "Order"."FullName" FROM "Order" WHERE id = 2', [("Ada",)]),
        ('SELECT O."FullName" FROM "Order" O JOIN "Client" C ON C."Id" = O.client WHERE O.id = 2', [("Ada",)]),
        ('SELECT C."Group" FROM "Order" JOIN "Client" C ON C."Id" = client WHERE "Order".id = 2', [("B",)]),
    ],
)
def test_names_are_quoted_where_the_engine_needs_it(named: Database, sql: str, rows: list[tuple[object, ...]]) -> None:
    made = mended(sql, named)

    assert made.problem == "", made.sql
    assert made.result is not None
    assert list(made.result.rows) == rows
    assert made.changes


@pytest.mark.parametrize(
    "sql", ["", "hello", "DROP TABLE clients", "SELECT weather FROM planets", "SELECT " + "(" * 5000]
)
def test_what_cannot_be_mended_is_told(database: Database, sql: str) -> None:
    made = mended(sql, database)
    assert made.problem
    assert made.result is None or not made.result.ok


def test_nothing_that_writes_is_run(database: Database, tmp_path: Path) -> None:
    made = mended("SELECT 1; DELETE FROM clients", database)
    assert (made.sql, made.changes) == ("SELECT 1", ("What follows the query is left out.",))
    assert list(mended("SELECT COUNT(*) FROM clients", database).result.rows) == [(2,)]
