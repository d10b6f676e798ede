"""What an engine's catalogue reads as, kept until it changes; keys that nobody declared; every value is strict JSON."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.databases import Database, open_database
from eval.databases.inference import with_inferred_keys
from eval.databases.sqlite import SQLiteDatabase, read_schema
from eval.databases.urls import parse_target
from eval.databases.values import json_rows, json_value
from eval.schema import Column, Schema, Table
from eval.statement import ReadStatement
from experiments.databases.inference import measure
from tests.clock import unit
from tests.jsonl import read_lines
from tests.pairs import FIXTURES, rows, sections
from tests.writing import sqlite_file, write

FOLDER = FIXTURES / "databases"
SETUPS = {"sqlite": "structure_sqlite", "duckdb": "setup_duckdb", "postgres": "setup_postgres", "mysql": "setup_mysql"}
VALUES = {line["engine"]: (line["sql"], line["row"]) for line in read_lines(FOLDER / "values_of_engines.jsonl")}


@pytest.fixture(scope="module", params=SETUPS)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    engine, folder = request.param, tmp_path_factory.mktemp("structures")
    script = (FOLDER / f"{SETUPS[engine]}.sql").read_text(encoding="utf-8")
    if engine == "sqlite":
        url = f"sqlite:///{sqlite_file(folder / 'made', script)}"
    elif engine == "duckdb":
        write(url := f"duckdb:///{folder / 'made'}", script)
    else:
        url = request.getfixturevalue(f"{engine}_url")
        write(url, *(script.split(";") if engine == "mysql" else [script]))
    with open_database(url, infer_keys=False) as opened:
        yield opened


def _told(part: object, plain: object) -> dict[str, Any]:
    """The fields that are not as in a plain table or column."""
    usual = asdict(plain)  # type: ignore[call-overload]
    return {name: value for name, value in asdict(part).items() if value != usual[name]}  # type: ignore[call-overload]


def test_the_structure_reads_as_it_was_made(database: Database) -> None:
    tables = [
        _told(table, Table("", ())) | {"columns": [_told(column, Column("")) for column in table.columns]}
        for table in database.schema().tables
    ]
    if database.dialect == "mysql":
        pytest.skip("MySQL and MariaDB spell some of it differently: see test_mysql")
    assert json.loads(json.dumps(tables)) == read_lines(FOLDER / f"structure_{database.dialect}.jsonl")


def test_values_survive(database: Database) -> None:
    sql, row = VALUES[database.dialect]
    result = database.execute(ReadStatement(sql, database.dialect))
    assert result.error is None
    assert json_rows(result.rows) == [row]


@pytest.mark.parametrize(("written", "form"), sections("databases/values.txt")["forms"])
def test_forms(written: str, form: str) -> None:
    """Both as Python writes them."""
    names = {"UTC": UTC, "uuid": uuid} | {kind.__name__: kind for kind in (Decimal, date, datetime, time, timedelta)}
    value, expected = (eval(text, dict(names)) for text in (written, form))
    assert json_value(value) == expected
    assert type(json_value(value)) is type(expected)


cells = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
    | st.dates()
    | st.datetimes()
    | st.timedeltas(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(cells)
def test_any_value_is_strict_json_in_utf_8(value: object) -> None:
    text = json.dumps(json_value(value), ensure_ascii=False, allow_nan=False)
    assert json.loads(text.encode("utf-8")) == json_value(value)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return sqlite_file(tmp_path / "shop.sqlite", "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); CREATE TABLE u (c)")


def traced(database: Database) -> list[str]:
    """Every statement that SQLite really runs for the catalogue, as the engine itself reports it."""
    ran: list[str] = []
    database._catalogue_connection().set_trace_callback(ran.append)
    return ran


def test_a_kept_schema_saves_the_statements_until_its_time_ends(shop: Path) -> None:
    with SQLiteDatabase(parse_target(shop)) as database:
        ran = traced(database)
        first = database.schema()
        assert len(ran) > 5
        ran.clear()
        assert database.schema() is first
        assert ran == ["PRAGMA schema_version"]
    with SQLiteDatabase(parse_target(shop)) as again:
        ran = traced(again)
        assert again.schema() is first
        assert ran == ["PRAGMA schema_version"]
        late = again.schema(ttl=0)
        assert late is not first
        assert late.fingerprint == first.fingerprint


def test_a_change_is_noticed_at_once(shop: Path) -> None:
    with open_database(shop) as database, closing(sqlite3.connect(shop)) as writer:
        before = database.schema()
        writer.execute("INSERT INTO u VALUES (1)")
        writer.commit()
        assert database.schema() is before  # rows are no structure
        writer.execute("ALTER TABLE t ADD COLUMN more TEXT")
        after = database.schema()
        assert [c.name for c in after.tables[0].columns] == ["a", "b", "more"]
        assert after.fingerprint != before.fingerprint


def test_with_and_without_inferred_keys_are_kept_apart(tmp_path: Path) -> None:
    script = "CREATE TABLE customers (id INTEGER PRIMARY KEY); CREATE TABLE orders (customer_id INTEGER)"
    path = sqlite_file(tmp_path / "k.sqlite", script)
    with open_database(path) as inferring, open_database(path, infer_keys=False) as plain:
        assert len(inferring.schema().tables[1].foreign_keys) == 1
        assert plain.schema().tables[1].foreign_keys == ()


def test_postgres_asks_one_statement(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval.databases.postgres import PostgresDatabase

    asked: list[str] = []
    really = PostgresDatabase._catalogue

    def counted(self: PostgresDatabase, sql: str, seconds: float = 30.0) -> list[tuple[object, ...]]:
        asked.append(sql)
        return really(self, sql, seconds)

    monkeypatch.setattr(PostgresDatabase, "_catalogue", counted)
    write(postgres_url, "DROP TABLE IF EXISTS cached", "CREATE TABLE cached (a int)")
    with open_database(postgres_url) as database, open_database(postgres_url) as second:
        first = database.schema()
        asked.clear()
        assert database.schema() is first
        assert len(asked) == 1
        assert second.schema() is first
        assert len(asked) == 2


@pytest.mark.parametrize("server", ["postgres", "mysql"])
def test_a_server_notices_ddl_and_changed_rows(server: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{server}_url")
    write(url, "DROP TABLE IF EXISTS cached", "CREATE TABLE cached (a int)")
    with open_database(url) as database:
        data = database.data_version()
        write(url, "INSERT INTO cached VALUES (1)")
        assert database.data_version() != data
        for change in sections("databases/changes.txt")[server][0]:
            before = database.schema().fingerprint
            write(url, change)
            assert database.schema().fingerprint != before, change
        write(url, "DROP TABLE cached")
        assert database.schema().table("cached") is None


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
    begun = process_time()
    keyed = with_inferred_keys(Schema("sqlite", (*tables, customers)), lambda _: [])

    assert process_time() - begun < 40 * unit()
    assert [k.ref_table for t in keyed.tables[:3] for k in t.foreign_keys] == ["customers"] * 3
