"""Foreign keys that nobody declared: those that a person would see, and none that only look like one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from eval.databases.catalogue.sqlite import read_schema
from eval.databases.inference import with_inferred_keys
from experiments.databases.inference import measure


def inferred(script: str) -> set[str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script)
        schema = with_inferred_keys(read_schema(connection), lambda sql: connection.execute(sql).fetchall())
    return {
        f"{t.name}.{','.join(k.columns)} -> {k.ref_table}.{','.join(k.ref_columns)}"
        for t in schema.tables
        for k in t.foreign_keys
        if k.inferred
    }


CUSTOMERS = (
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customers VALUES (1, 'a'), (2, 'b');"
)


@pytest.mark.parametrize(
    ("script", "keys"),
    [
        (CUSTOMERS + "CREATE TABLE o (customer_id INT); INSERT INTO o VALUES (1)", {"o.customer_id -> customers.id"}),
        (CUSTOMERS + "CREATE TABLE o (CustomerID INT); INSERT INTO o VALUES (1)", {"o.CustomerID -> customers.id"}),
        (
            CUSTOMERS + "CREATE TABLE o (billing_customer_id INT); INSERT INTO o VALUES (2), (NULL)",
            {"o.billing_customer_id -> customers.id"},
        ),
        (CUSTOMERS + "CREATE TABLE o (customer INT); INSERT INTO o VALUES (2)", {"o.customer -> customers.id"}),
        (
            "CREATE TABLE dim_store (store_key INTEGER PRIMARY KEY); CREATE TABLE sales (store_key INT);"
            "INSERT INTO dim_store VALUES (1); INSERT INTO sales VALUES (1)",
            {"sales.store_key -> dim_store.store_key"},
        ),
        (
            "CREATE TABLE country (code TEXT PRIMARY KEY); CREATE TABLE city (country_code TEXT);"
            "INSERT INTO country VALUES ('DE'); INSERT INTO city VALUES ('DE')",
            {"city.country_code -> country.code"},
        ),
        (
            "CREATE TABLE customers (id INT, name TEXT); INSERT INTO customers VALUES (1, 'a'), (2, 'b');"
            "CREATE TABLE o (customer_id INT); INSERT INTO o VALUES (1)",
            {"o.customer_id -> customers.id"},  # no key is declared anywhere: the values are unique
        ),
        (
            "CREATE TABLE employees (employee_id INTEGER PRIMARY KEY, manager_employee_id INT);"
            "INSERT INTO employees VALUES (1, NULL), (2, 1)",
            {"employees.manager_employee_id -> employees.employee_id"},
        ),
    ],
)
def test_keys_that_are_meant(script: str, keys: set[str]) -> None:
    assert inferred(script) == keys


@pytest.mark.parametrize(
    "script",
    [
        CUSTOMERS + "CREATE TABLE o (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO o VALUES (1, 'a')",
        CUSTOMERS + "CREATE TABLE o (customer_id INT); INSERT INTO o VALUES (77)",
        CUSTOMERS + "CREATE TABLE o (customer_id REAL, customer_id_note TEXT); INSERT INTO o VALUES (1.5, 'a')",
        CUSTOMERS + "CREATE TABLE o (customer_id INT REFERENCES customers); INSERT INTO o VALUES (1)",
        CUSTOMERS + "CREATE TABLE o (customer_id DATE); INSERT INTO o VALUES ('2024-01-01')",
        "CREATE TABLE a (code TEXT PRIMARY KEY); CREATE TABLE b (code TEXT);"
        "INSERT INTO a VALUES ('x'); INSERT INTO b VALUES ('x')",
        "CREATE TABLE kinds (type TEXT PRIMARY KEY); CREATE TABLE b (type TEXT);"
        "INSERT INTO kinds VALUES ('x'); INSERT INTO b VALUES ('x')",
        "CREATE TABLE p (person_id INTEGER PRIMARY KEY); CREATE TABLE q (person_id INTEGER PRIMARY KEY);"
        "INSERT INTO p VALUES (1); INSERT INTO q VALUES (1)",
        "CREATE TABLE customers (id INT, name TEXT); INSERT INTO customers VALUES (1, 'a'), (1, 'b');"
        "CREATE TABLE o (customer_id INT); INSERT INTO o VALUES (1)",
    ],
)
def test_keys_that_only_look_so(script: str) -> None:
    assert inferred(script) == set()


@pytest.mark.bench
def test_precision_on_real_databases(bench_dir: Path) -> None:
    """Most keys counted as wrong here are real ones that the database's authors did not declare."""
    score = measure(bench_dir / "spider_train" / "databases")
    assert score.databases > 100
    assert score.precision > 0.92
    assert score.recall > 0.70
