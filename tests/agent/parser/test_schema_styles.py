"""Schemas in other styles: abbreviated names, and dates stored as text or seconds."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from agent.knowledge.stored_dates import date_form
from agent.knowledge.values import value_index
from agent.knowledge.vocabulary import vocabulary
from agent.parser.date_functions import DateFunctions
from agent.parser.engine import read
from agent.runtime.probability import STATED_DOUBT
from eval.databases.factory import open_database
from eval.schema import Column, Schema, Table
from eval.sql import check, parse, parsed_from_tree
from tests.asked import Asked


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["03.11.2023", "28.02.2024"], "%d.%m.%Y"),
        (["12/31/2023 10:15", "01/02/2024 08:00"], "%m/%d/%Y %H:%M"),
        (["03/04/2023", "05/06/2023"], ""),
        (["20231103", "20240228"], "%Y%m%d"),
        (["2024-02-28"], "iso"),
        (["1.5.2", "03.11.2023"], ""),
    ],
)
def test_stored_forms_are_told_from_the_values(values: list[str], form: str) -> None:
    assert date_form(values, dated=True) == form


def test_numbers_are_dates_only_where_the_name_says_so() -> None:
    assert date_form(["20231103"], dated=False) == ""


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql", "spark", "clickhouse"])
@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y %H:%M", "%Y%m%d", "unix", "unix_ms"])
def test_every_dialect_reads_every_date_form(dialect: str, form: str) -> None:
    moment = DateFunctions(dialect).moment(exp.column("d"), form)  # type: ignore[arg-type]
    assert check(parsed_from_tree(exp.select(moment).from_("t"), dialect)).statement is not None  # type: ignore[arg-type]


def test_a_vocabulary_knows_the_dates_of_its_columns(everyday: Asked) -> None:
    plant, values = everyday.database("plant")
    words = vocabulary(plant.schema(), values.stored_forms)
    assert words.columns["inspection", "held_on"].form == "%d.%m.%Y"
    assert words.columns["inspection", "closed_at"].form == "unix"
    assert words.columns["prt", "prt_no"].form == ""


_STAYS = Table(
    name="stays",
    columns=(
        Column(name="stay_no", type="TEXT", primary_key=True),
        Column(name="arrival_date", type="DATE"),
        Column(name="booked_on", type="DATE"),
        Column(name="category", type="TEXT"),
        Column(name="amount", type="REAL"),
    ),
)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("how many bookings", "SELECT COUNT(*) AS stays FROM stays"),
        (
            "stays booked in may 2024",
            "SELECT * FROM stays WHERE booked_on >= '2024-05-01' AND booked_on < '2024-06-01'",
        ),
        ("booking dates", "SELECT booked_on FROM stays"),
    ],
)
def test_an_event_that_a_date_is_called_by_means_rows(question: str, sql: str) -> None:
    assert read(question, Schema(dialect="sqlite", tables=(_STAYS,))).sql == sql


@pytest.mark.parametrize("question", ["members by category", "stays, how many and how much"])
def test_what_a_reading_leaves_out_is_never_told_with_confidence(question: str) -> None:
    reading = read(question, Schema(dialect="sqlite", tables=(_STAYS,)), threshold=0.0)
    assert reading.confidence < STATED_DOUBT


def test_a_share_of_nothing_is_never_told_with_confidence() -> None:
    schema = Schema(dialect="sqlite", tables=(_STAYS,))
    assert read("share of stays that came through our website", schema).abstained


def test_what_the_date_of_a_thing_is_called_is_no_class() -> None:
    columns = (Column(name="clm_id", type="INTEGER", primary_key=True), Column(name="dt_cls", type="DATE"))
    schema = Schema(dialect="sqlite", tables=(Table(name="clm", columns=columns),))
    assert vocabulary(schema).columns["clm", "dt_cls"].words == ("date", "closed")


def test_a_word_in_a_name_of_a_table_comes_before_a_synonym() -> None:
    key = Column(name="id", type="INTEGER", primary_key=True)
    account = Table(name="account", columns=(key, Column(name="company_name", type="TEXT")))
    user = Table(name="app_user", columns=(key, Column(name="role", type="TEXT")))
    sql = read("users by role", Schema(dialect="sqlite", tables=(account, user)), threshold=0.0).sql
    assert "FROM app_user" in sql


def test_a_command_to_count_names_no_column() -> None:
    number = Column(name="staffNumber", type="INTEGER", primary_key=True)
    staff = Table(name="staff", columns=(number, Column(name="city", type="TEXT")))
    sql = read("Count staff by city", Schema(dialect="sqlite", tables=(staff,)), threshold=0.0).sql
    assert "COUNT(*)" in sql


def test_blanks_among_dates_stored_as_text_are_no_dates(tmp_path: Path) -> None:
    path = tmp_path / "visits.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visit (id INTEGER PRIMARY KEY, held_on TEXT)")
        connection.execute("INSERT INTO visit VALUES (1, '03.11.2023'), (2, '28.02.2024'), (3, '')")
    with open_database(str(path)) as database:
        schema = database.schema()
        sql = read("visits in 2024", schema, value_index(database, schema, cache_dir=tmp_path), threshold=0.0).sql
        statement = check(parse(sql, "duckdb")).statement
        assert statement is not None
        assert database.execute(statement).rows == ((2, "28.02.2024"),)


def test_pieces_are_no_value() -> None:
    columns = ("id INTEGER", "name TEXT", "price REAL", "stock_quantity INTEGER")
    split = [c.split() for c in columns]
    part = Table(name="part", columns=tuple(Column(name=n, type=t, primary_key=n == "id") for n, t in split))
    assert read("total value of stock", Schema(dialect="sqlite", tables=(part,))).abstained
