"""Names of schemas, periods, distances, units and wording, and the joins between the tables that were named; dates and
figures as engines keep them, read and counted alike on each."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlglot import exp

from agent.knowledge.stored_dates import date_form
from agent.knowledge.vocabulary import abbreviates, split_name, vocabulary
from agent.parser import read
from agent.parser.joins import JoinGraph
from agent.parser.periods import before, period_at
from agent.parser.sql_parts import DateFunctions, as_number
from agent.parser.units import converted, sql_in_whole_units
from agent.parser.wording import Known, Wording, worded
from agent.sources.structure import read_structure
from eval.databases import open_database
from eval.language.numbers import text_figures
from eval.language.tokens import tokenize
from eval.schema import Column, Dialect, ForeignKey, Schema, Table
from eval.sql import check, parsed_from_tree
from tests.asked import TODAY, Asked, rows_of
from tests.clock import unit
from tests.pairs import rows, sections
from tests.writing import url_on, write

UNITS = sections("parser/minor_units.txt")
CENTS = [*UNITS["in whole units"], *((*case, None) for case in UNITS["as it is"])]


@pytest.mark.parametrize(("name", "words"), rows("parser/names_split.jsonl"))
def test_names_of_schemas_are_split_into_words(name: str, words: list[str]) -> None:
    assert list(split_name(name)) == words


@pytest.mark.parametrize(("short", "word", "meant"), rows("parser/names_without_vowels.jsonl"))
def test_names_without_vowels_stand_for_words(short: str, word: str, meant: bool) -> None:
    assert abbreviates(short, word) is meant


def test_a_vocabulary_knows_the_dates_of_its_columns(everyday: Asked) -> None:
    plant, values = everyday.database("plant")
    words = vocabulary(plant.schema(), values.stored_forms)
    assert words.columns["inspection", "held_on"].form == "%d.%m.%Y"
    assert words.columns["inspection", "closed_at"].form == "unix"
    assert words.columns["prt", "prt_no"].form == ""
    claims = vocabulary(read_structure("CREATE TABLE clm (clm_id INTEGER PRIMARY KEY, dt_cls DATE)", "sqlite"))
    assert claims.columns["clm", "dt_cls"].words == ("date", "closed")  # no class


@pytest.mark.parametrize(("text", "start", "end"), rows("parser/periods.jsonl"))
def test_periods(text: str, start: str | None, end: str | None) -> None:
    period = period_at(tokenize(text), 0, TODAY)
    assert (period and period.start.isoformat(), period and period.end.isoformat()) == (start, end)


@pytest.mark.parametrize(("day", "count", "unit", "expected"), rows("parser/distances.jsonl"))
def test_a_distance_back_ends_on_a_day_that_exists(day: str, count: int, unit: str, expected: str) -> None:
    assert before(dt.date.fromisoformat(day), count, unit) == dt.date.fromisoformat(expected)


def test_units_are_converted_to_the_column_s_own() -> None:
    assert converted(10, "minute", ("duration", "millisecond")) == 600_000
    assert converted(3, "hour", ("length",)) is None
    assert converted(30, "year", ("age",)) == 30


@pytest.mark.parametrize(("question", "sql", "whole"), CENTS)
def test_cents_are_told_in_whole_units(question: str, sql: str, whole: str | None) -> None:
    assert sql_in_whole_units(sql, "sqlite", question) == whole


@pytest.fixture(scope="module")
def wording(everyday: Asked) -> Callable[[str], Wording]:
    loaves, values = everyday.database("loaves")
    known = Known(vocabulary(loaves.schema(), values.stored_forms), values, dt.date(2024, 12, 1))
    return lambda question: worded(question, known)


def test_what_was_not_understood_is_told_in_the_words_of_the_question() -> None:
    reworded = Wording("total spend of Mira", asked="how much did Mira pay")
    assert reworded.in_asked_words(("spend",)) == ("pay",)
    assert Wording("robins by weather").in_asked_words(("weather",)) == ("weather",)


@pytest.mark.parametrize(("question", "plain"), rows("parser/wording.jsonl"))
def test_everyday_words_become_words_it_reads(wording: Callable[[str], Wording], question: str, plain: str) -> None:
    assert wording(question).text == plain


@pytest.mark.parametrize("word", ["license", "property", "copyright", "purple"])
def test_a_word_that_no_rule_explains_is_lost(wording: Callable[[str], Wording], word: str) -> None:
    """Words that happen to be names of Python were once taken for words of the rules."""
    assert wording(f"customers who spent more than 100 {word}").lost == (word,)
    assert wording("revenue growth month over month").lost == ()


def _table(name: str, *columns: str, refers: tuple[str, ...] = ()) -> Table:
    return Table(
        name,
        (Column("id", "INTEGER", primary_key=True), *(Column(c, "TEXT") for c in columns)),
        primary_key=("id",),
        foreign_keys=tuple(ForeignKey((f"{t}_id",), t, ("id",)) for t in refers),
        row_count=1,
    )


SCHEMA = Schema(
    "sqlite",
    (
        _table("film", "title"),
        _table("actor", "name"),
        _table("casting", "film_id", "actor_id", refers=("film", "actor")),
        _table("weather", "sky"),
    ),
)
GRAPH = JoinGraph(vocabulary(SCHEMA))


def test_knows_which_rows_a_join_repeats() -> None:
    over_bridge, to_parent = GRAPH.plan(["actor", "film"]), GRAPH.plan(["casting", "film"])
    assert over_bridge.multiplies("actor")
    assert not to_parent.multiplies("casting")


def test_goes_over_real_links_rather_than_over_a_shared_parent() -> None:
    schema = Schema(
        "sqlite",
        (
            _table("tenant", "name"),
            _table("product", "title", refers=("tenant",)),
            _table("sale", "total", refers=("tenant", "product")),
            _table("refund", "reason", refers=("tenant", "sale")),
            _table("newsletter", "subject", refers=("tenant",)),
        ),
    )
    graph = JoinGraph(vocabulary(schema))
    plan = graph.plan(["product", "refund"])
    assert plan.tables == ("product", "sale", "refund")
    assert plan.fan_outs() == frozenset()
    shared = graph.plan(["product", "newsletter"])
    assert shared.fan_outs() == {"tenant"}
    assert read("How many newsletters per product title?", schema).abstained


def test_a_table_without_keys_cannot_be_reached() -> None:
    assert GRAPH.plan(["film", "weather"]) is None
    reading = read("How many actors per weather sky?", SCHEMA)
    assert reading.abstained
    assert "no foreign keys tie together" in reading.interpretation


def test_many_threads_may_read_at_once() -> None:
    schemas = [Schema("sqlite", (_table(f"thing{k}", "label"),)) for k in range(60)]
    with ThreadPoolExecutor(8) as threads:
        statements = list(threads.map(lambda k: read(f"How many thing{k}?", schemas[k], threshold=0.0).sql, range(60)))
    assert statements == [f"SELECT COUNT(*) AS things FROM thing{k}" for k in range(60)]


def test_a_table_to_which_two_thousand_refer_is_joined_quickly() -> None:
    tables = [_table(f"part_{i}", "hub_id", refers=("hub",)) for i in range(2_000)]
    graph = JoinGraph(vocabulary(Schema("sqlite", (_table("hub", "name"), *tables))))
    begun = time.process_time()
    plan = graph.plan(["part_7", "part_1234"])

    assert time.process_time() - begun < 20 * unit()
    assert plan.tables == ("part_7", "hub", "part_1234")
    assert len(graph.between("hub", "part_7")) == len(graph.between("part_7", "hub")) == 1


TEXTS = ("8", "$1,250.50", "n/a", "60", "")


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "postgres", "mysql", "clickhouse", "sail"])
def test_weekdays_count_from_sunday_on_each_engine(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """PostgreSQL's `D` counts from 1, and the names of the days in an answer were those of the day after."""
    url = url_on(engine, request, tmp_path)
    if engine in ("sqlite", "duckdb"):
        write(url, "CREATE TABLE t (a INTEGER)")
    with open_database(url) as database:
        dialect = database.dialect
        day = exp.cast(exp.Literal.string("2024-06-16"), exp.DataType.Type.DATE)
        column = exp.Literal.string("2024-06-16") if dialect == "sqlite" else day
        part = DateFunctions(dialect).part(column, "DATE", "weekday").sql(dialect=dialect)
        assert rows_of(database, f"SELECT {part} AS weekday") == [("0",)]


@pytest.mark.parametrize(("values", "form"), rows("parser/date_forms.jsonl"))
def test_stored_forms_are_told_from_the_values(values: list[str], form: str) -> None:
    assert date_form(values, dated=True) == form


def test_numbers_are_dates_only_where_the_name_says_so() -> None:
    assert date_form(["20231103"], dated=False) == ""


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql", "spark", "clickhouse"])
def test_every_dialect_reads_every_date_form(dialect: Dialect) -> None:
    for form in ("%d.%m.%Y", "%m/%d/%Y %H:%M", "%Y%m%d", "unix", "unix_ms"):
        moment = DateFunctions(dialect).moment(exp.column("d"), form)
        assert check(parsed_from_tree(exp.select(moment).from_("t"), dialect)).statement is not None, form


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "postgres", "mysql"])
def test_figures_kept_as_text_are_numbers(tmp_path: Path, request: pytest.FixtureRequest, engine: Dialect) -> None:
    url = url_on(engine, request, tmp_path)
    values = ", ".join(f"({k}, '{text}')" for k, text in enumerate(TEXTS))
    write(url, "CREATE TABLE kept (k INTEGER, x VARCHAR(20))", f"INSERT INTO kept VALUES {values}")
    with open_database(url) as database:
        for complete in (True, False):
            figures = text_figures(TEXTS, complete)
            assert figures is not None
            query = exp.select(as_number(exp.column("x"), figures, engine)).from_("kept").order_by("k").sql(engine)
            told = [None if v is None else float(str(v)) for (v,) in rows_of(database, query)]
            assert told == [8.0, 1250.5, None, 60.0, None]
