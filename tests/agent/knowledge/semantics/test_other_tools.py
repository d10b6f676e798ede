"""Files that other tools wrote: dbt 1.12 (`dbt parse` writes a manifest and an Ossie document) and Ossie's converters
(dbt → Ossie, Ossie → GSF → Ossie), all from projects made for these tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.knowledge.semantics.check import checked
from agent.knowledge.semantics.expansion import model_view_of
from agent.knowledge.semantics.files import read_model
from eval.databases import Database, open_database
from eval.sql import check, parse, render
from tests.writing import sqlite_file

FIXTURES = Path(__file__).parents[3] / "fixtures" / "semantics"
DBT = ("dbt_semantic_manifest.json", "dbt_osi_document.json", "ossie_from_dbt.yaml")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = sqlite_file(
        tmp_path_factory.mktemp("dbt") / "warehouse.sqlite",
        "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, country TEXT, signed_up DATE);"
        "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER, order_date DATE, channel TEXT,"
        " amount REAL, is_food BOOLEAN);"
        "INSERT INTO customers VALUES (1, 'DE', '2023-01-01');"
        "INSERT INTO orders VALUES (1, 1, '2024-01-01', 'web', 10, 1), (2, 1, '2024-01-02', 'shop', 5, 0);",
    )
    with open_database(path) as database:
        yield database


def computed(database: Database, sql: str) -> object:
    parsed = parse(f"SELECT {sql} FROM orders", "sqlite")
    verdict = check(parsed, database.schema())
    assert verdict.statement is not None
    return database.execute(verdict.statement).rows[0][0]


@pytest.mark.parametrize("name", DBT)
def test_the_metrics_of_a_dbt_project_mean_the_same_in_each_of_its_files(name: str, warehouse: Database) -> None:
    model = read_model(FIXTURES / name)
    view = model_view_of(model, warehouse.schema())
    meanings = {m.metric: render(m.tree, "sqlite") for m in view.meanings.values() if m.metric}
    rows = {
        metric: computed(warehouse, sql)
        for metric, sql in meanings.items()
        if metric in ("revenue", "web_revenue", "orders", "average_order", "twice", "food")
    }
    assert rows == {"revenue": 15, "web_revenue": 10, "orders": 2, "average_order": 7.5, "twice": 30, "food": 1}
    assert [(r.source, r.target) for r in model.relationships] == [("orders", "customers")]


@pytest.mark.parametrize("name", DBT)
def test_a_metric_that_the_engine_cannot_compute_is_found_by_the_check(name: str, warehouse: Database) -> None:
    places = {finding.place for finding in checked(read_model(FIXTURES / name), warehouse)}
    assert "revenue" not in places
    assert "median_order" in places  # SQLite has no median
