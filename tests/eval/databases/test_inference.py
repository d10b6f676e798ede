"""Foreign keys that nobody declared: those that a person would see, and none that only look like one."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from eval.databases.inference import with_inferred_keys
from eval.databases.sqlite import read_schema
from eval.schema import Column, Schema, Table
from experiments.databases.inference import measure
from tests.clock import unit
from tests.pairs import rows, sections


def read(script: str) -> Schema:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script)
        return with_inferred_keys(read_schema(connection), lambda sql: connection.execute(sql).fetchall())


def inferred(script: str) -> set[str]:
    return {
        f"{t.name}.{','.join(k.columns)} -> {k.ref_table}.{','.join(k.ref_columns)}"
        for t in read(script).tables
        for k in t.foreign_keys
        if k.inferred
    }


LOOKALIKES = sections("databases/inference.txt")["keys that only look so"][0]
PEOPLE = "CREATE TABLE people (person_id INT, name TEXT); INSERT INTO people VALUES (1, 'a'), (2, 'a');"


@pytest.mark.parametrize(("script", "keys"), [*rows("databases/inferred_keys.jsonl"), *((s, []) for s in LOOKALIKES)])
def test_keys_that_are_meant_and_none_that_only_look_so(script: str, keys: list[str]) -> None:
    assert inferred(script) == set(keys)


@pytest.mark.parametrize(("script", "keys"), rows("databases/inferred_primary_keys.jsonl"))
def test_primary_keys_of_a_database_without_any(script: str, keys: dict[str, list[str]]) -> None:
    assert {table.name: [*table.primary_key] for table in read(script).tables} == keys


def test_a_text_refers_to_a_number_where_the_engine_compares_them() -> None:
    visits = "CREATE TABLE visits (person_id TEXT); INSERT INTO visits VALUES ('1'), ('2')"
    assert inferred(PEOPLE + visits) == {"visits.person_id -> people.person_id"}
    assert inferred(PEOPLE + visits + ", ('7')") == set()


def test_questions_are_asked_together_and_a_failing_one_alone() -> None:
    """A server answers few statements; a table that cannot be read must not hide what is known of the others."""
    sent: list[str] = []
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(
            PEOPLE + "CREATE TABLE pets (pet_id INT, person_id INT); INSERT INTO pets VALUES (7, 1), (8, 1);"
            "CREATE TABLE locked (locked_id INT); INSERT INTO locked VALUES (1)"
        )

        def ask(sql: str) -> list[tuple[int, int]]:
            sent.append(sql)
            if "locked" in sql:
                raise PermissionError("locked")
            return connection.execute(sql).fetchall()

        schema = with_inferred_keys(read_schema(connection), ask)
    keys = {t.name: (t.primary_key, [k.columns for k in t.foreign_keys]) for t in schema.tables}
    assert keys == {"people": (("person_id",), []), "pets": (("pet_id",), [("person_id",)]), "locked": ((), [])}
    assert len(sent) <= 6


def test_a_large_table_is_a_target_without_being_searched() -> None:
    """Only the first rows are looked at, so it gets no primary key; the unambiguous name makes the foreign key."""
    columns = (Column("customer_id", "BIGINT"), Column("name", "STRING"))
    customers = Table("customers", columns, row_count=30_000_000)
    orders = Table("orders", (Column("order_id", "BIGINT"), Column("customer_id", "BIGINT")), row_count=900_000_000)
    sent: list[str] = []

    def ask(sql: str) -> list[tuple[int, ...]]:
        sent.append(sql)
        return [(place, 100_000, 100_000, 100_000) for place in range(sql.count("AS place"))]

    schema = with_inferred_keys(Schema("spark", (customers, orders)), ask)
    assert [t.primary_key for t in schema.tables] == [(), ()]
    assert [(k.columns, k.ref_table) for t in schema.tables for k in t.foreign_keys] == [
        (("customer_id",), "customers")
    ]
    assert all("LIMIT 100000" in sql for sql in sent)


@pytest.mark.bench
def test_keys_of_databases_that_hide_them_all(bench_dir: Path) -> None:
    score = measure(bench_dir / "spider_train" / "databases", bare=True)
    assert score.precision > 0.92
    assert score.recall > 0.75
    assert score.primary_found > 0.9 * score.primary


def test_two_thousand_tables_with_a_key_of_the_same_name_are_quickly_compared() -> None:
    key, text = Column("id", "INTEGER", False, True), Column("customer_id", "INTEGER")
    tables = tuple(Table(f"table_{i}", (key, text), primary_key=("id",), row_count=0) for i in range(2_000))
    customers = Table("customers", (key,), primary_key=("id",), row_count=0)
    begun = time.process_time()
    keyed = with_inferred_keys(Schema("sqlite", (*tables, customers)), lambda _: [])

    assert time.process_time() - begun < 40 * unit()
    assert [k.ref_table for t in keyed.tables[:3] for k in t.foreign_keys] == ["customers"] * 3
