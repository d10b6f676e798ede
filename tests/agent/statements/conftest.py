"""A small business with gaps in its data, on every engine and on SQLite alone: rows of one random seed, and queries."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from eval.databases import open_database
from eval.databases.base import Database
from eval.databases.values import json_rows
from eval.sql import check, parse
from tests.pairs import rows
from tests.writing import url_on, write


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgres", "mysql"])
def market(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with _opened(url_on(request.param, request, tmp_path_factory.mktemp("stall"))) as database:
        yield database


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with _opened(f"sqlite:///{tmp_path_factory.mktemp('stall')}/stall.db") as database:
        yield database


@contextmanager
def _opened(url: str) -> Iterator[Database]:
    write(url, *statements(stall()))
    with open_database(url) as database:
        yield database


Rows = list[tuple[Any, ...]]


def run(database: Database, sql: str) -> tuple[list[str], list[list[Any]]]:
    """The columns and rows of a query that may be run and runs."""
    verdict = check(parse(sql, database.dialect), database.schema())
    assert verdict.statement is not None, (sql, verdict.reason)
    result = database.execute(verdict.statement)
    assert result.ok, (sql, result.error)
    return list(result.columns), json_rows(result.rows)


TABLES = {
    "regions": "id INTEGER PRIMARY KEY, title VARCHAR(20)",
    "shops": "id INTEGER PRIMARY KEY, region_id INTEGER REFERENCES regions(id), town VARCHAR(20), size VARCHAR(10)",
    "goods": "id INTEGER PRIMARY KEY, title VARCHAR(20), kind VARCHAR(10)",
    "sales": "id INTEGER PRIMARY KEY, shop_id INTEGER REFERENCES shops(id), goods_id INTEGER REFERENCES goods(id), "
    "sold_on DATE, amount INTEGER, returned INTEGER, status VARCHAR(10)",
}


def stall(seed: int = 7) -> dict[str, Rows]:
    draw = random.Random(seed)

    def some(values: Iterable[Any]) -> Any:
        return draw.choice([*values, None])

    made: dict[str, Rows] = {
        "regions": [(i, title) for i, title in enumerate(("North", "South", "O'Hara"), 1)],
        "shops": [
            (i, some([1, 2, 3]), draw.choice(["Rome", "Bern", "Oslo"]), some(["small", "big"])) for i in range(1, 9)
        ],
        "goods": [(i, f"thing {i % 5}", some(["food", "toy"])) for i in range(1, 8)],
        "sales": [],
    }
    for i in range(1, 161):
        shop, goods = some(range(1, 9)), draw.randint(1, 7)
        day = some([f"2024-{month:02}-{draw.randint(1, 28):02}" for month in range(1, 7)])
        amount, returned, status = some(range(1, 60)), draw.randint(0, 1), some(["open", "paid"])
        made["sales"].append((i, shop, goods, day, amount, returned, status))
    return made


def statements(held: dict[str, Rows]) -> list[str]:
    made = [f"CREATE TABLE {name} ({columns})" for name, columns in TABLES.items()]
    for name, lines in held.items():
        values = ", ".join("(" + ", ".join(_written(cell) for cell in line) + ")" for line in lines)
        made += [f"INSERT INTO {name} VALUES {values}"] if lines else []
    return made


def _written(cell: Any) -> str:
    text = str(cell).replace("'", "''")
    return "NULL" if cell is None else str(cell) if isinstance(cell, int) else f"'{text}'"


GROUPS = rows("statements/groups.jsonl")
FIGURES = (
    "COUNT(*)", "COUNT(s.amount)", "COUNT(DISTINCT s.status)", "SUM(s.amount)", "AVG(s.amount)", "MAX(s.amount)",
    "MIN(s.amount)", "SUM(CASE WHEN s.status = 'paid' THEN 1 ELSE 0 END)", "COUNT(CASE WHEN s.amount > 20 THEN 1 END)",
)  # fmt: skip
TESTS = ("", " WHERE s.returned = 0", " WHERE s.amount > 10 OR s.status = 'open'", " WHERE s.status IS NULL")


def query(draw: random.Random) -> tuple[str, str]:
    """A query with one figure, and the figure."""
    shown, source, group = draw.choice(GROUPS)
    figure = draw.choice(FIGURES)
    grouped = f" GROUP BY {group}" if group else ""
    columns = f"{shown}, {figure} AS figure" if shown else f"{figure} AS figure"
    return f"SELECT {columns} FROM {source}{draw.choice(TESTS)}{grouped}", figure
