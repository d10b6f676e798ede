"""Schemas as they are sent: every usual form is understood or refused in words, and SQL is checked against them."""

from __future__ import annotations

from typing import Any

import pytest

from agent.a2a.answer import answered, answering
from agent.a2a.task import InputMissing, QuestionMissing, SqlTask, TaskAnswer, TaskUnusable, read_parts, read_task
from agent.config import Settings
from agent.models.openai import OpenAIModel
from agent.models.protocol import Endpoint
from agent.sources.structure import read_structure, without_samples
from eval.errors import InputError
from eval.schema import Column, Dialect, ForeignKey, Schema
from tests.agent.a2a.conftest import CUSTOMERS
from tests.openai_server import OpenAIServer, completion
from tests.pairs import rows, values
from tests.settings import overridden
from text2sql.testing import ScriptedModel

DDL = """
-- two tables
CREATE TABLE IF NOT EXISTS cities (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x;y');
INSERT INTO cities VALUES (1, 'Ulm');
create table "order items" (a int, b int references cities, c int, primary key (a, b),
  constraint k foreign key (c) references cities (id));
"""


def names(schema: Schema) -> dict[str, list[str]]:
    return {table.name: [c.name for c in table.columns] for table in schema.tables}


@pytest.mark.parametrize("given", values("a2a/forms_of_schemas.jsonl"))
def test_the_usual_forms_mean_the_same_table(given: Any) -> None:
    assert names(read_structure(given, "sqlite")) == {"t": ["a", "b"]}


def test_what_a_column_says_of_itself_is_kept_and_a_name_that_ends_like_a_type_stays_a_name() -> None:
    number = {"type": "INTEGER", "primary_key": True}
    text = {"data_type": "TEXT", "is_nullable": "NO", "default": 5}
    [table] = read_structure({"t": {"id": number, "n": text}}, "sqlite").tables

    one, other = Column("id", "INTEGER", nullable=False, primary_key=True), Column("n", "TEXT", False, default="5")
    assert table.columns == (one, other)
    assert table.primary_key == ("id",)
    assert names(read_structure({"t": ["Order Date", "first name"]}, "sqlite")) == {"t": ["Order Date", "first name"]}


@pytest.mark.parametrize("key", values("a2a/foreign_keys.jsonl"))
def test_a_foreign_key_is_read_in_every_spelling(key: Any) -> None:
    tables = {
        "people": {"columns": [{"name": "city_id", "foreign_key": key}]},
        "cities": {"columns": [{"name": "id", "primary_key": True}]},
    }

    assert read_structure({"tables": tables}, "sqlite").tables[0].foreign_keys == (
        ForeignKey(("city_id",), "cities", ("id",)),
    )


@pytest.mark.parametrize("keys", values("a2a/foreign_keys_of_tables.jsonl"))
def test_foreign_keys_of_a_whole_table_are_read(keys: Any) -> None:
    given = {"people": {"columns": ["c"], "foreign_keys": keys}, "cities": {"columns": ["id"], "primary_key": "id"}}

    assert read_structure(given, "sqlite").tables[0].foreign_keys == (ForeignKey(("c",), "cities", ("id",)),)


def test_create_table_statements_are_read_and_nothing_else_of_them() -> None:
    schema = read_structure(DDL, "sqlite")

    assert names(schema) == {"cities": ["id", "name"], "order items": ["a", "b", "c"]}
    assert schema.tables[0].columns[1] == Column("name", "TEXT", nullable=False, default="'x;y'")
    assert schema.tables[1].primary_key == ("a", "b")
    assert schema.tables[1].foreign_keys == (
        ForeignKey(("b",), "cities", ("id",)),
        ForeignKey(("c",), "cities", ("id",)),
    )


def test_the_engines_own_tables_are_left_out_and_namespaces_are_kept_where_they_matter() -> None:
    given = (("t", "sales"), ("u", "public"), ("sqlite_stat1", None))
    tables = [{"name": name, "schema": schema, "columns": ["a"]} for name, schema in given]
    expected: dict[Dialect, str | None] = {"postgres": "sales", "sqlite": None}
    for dialect, namespace in expected.items():
        found = [(t.name, t.namespace) for t in read_structure({"tables": tables}, dialect).tables]
        assert found[:2] == [("t", namespace), ("u", None)]
    assert len(found) == 2
    for catalogue in ("pg_catalog", "information_schema", "PG_TOAST"):
        own = [{"name": "pg_authid", "schema": catalogue, "columns": ["rolname"]}]
        with pytest.raises(InputError, match="catalogue"):
            read_structure({"tables": own}, "postgres")


LARGE: list[tuple[Any, str]] = [
    ({"t": ["x" * 300]}, "more than 200 characters"),
    ({f"t{i}": ["a"] for i in range(1_001)}, "more than 1,000 tables"),
    ({"t": [f"c{i}" for i in range(20_001)]}, "more than 20,000 columns"),
    ("CREATE TABLE t (a INT);" * 50_000, "more than 1,000,000 characters"),
    ("CREATE TABLE t (a INT DEFAULT " + "(" * 5_000 + "1" + ")" * 5_000 + ")", "cannot be read"),
]


@pytest.mark.parametrize(("given", "says"), [*rows("a2a/unusable_schemas.jsonl"), *LARGE])
def test_what_cannot_be_used_is_refused_in_words(given: Any, says: str) -> None:
    with pytest.raises(InputError, match=says.replace("(", r"\(")):
        read_structure(given, "sqlite")


def test_the_dialect_is_the_tasks_else_the_schemas_else_the_configured_one() -> None:
    tables = {"tables": {"t": ["a"]}}

    assert read_task({"question": "q", "schema": tables, "dialect": "PostgreSQL"}).dialect == "postgres"
    assert read_task({"question": "q", "schema": {**tables, "dialect": "duckdb"}}).dialect == "duckdb"
    assert read_task({"question": "q", "schema": tables}, "mysql").dialect == "mysql"


def test_the_tasks_name_is_echoed_and_evidence_goes_with_the_question() -> None:
    given = {"question": "How many?", "schema": {"t": ["a"]}}
    for name, echoed in (("t1", "t1"), (7, "7"), (7.0, "7"), (None, None), ("x" * 500, "x" * 200)):
        assert read_task({**given, "task_id": name}).task_id == echoed
    task = read_task({**given, "evidence": "big means over 5"})
    assert (task.question, task.evidence) == ("How many?", "big means over 5")


@pytest.mark.parametrize("parts", values("a2a/parts_of_messages.jsonl"))
def test_a_task_is_found_in_the_parts_of_messages(parts: list[Any]) -> None:
    task = read_parts(parts)

    assert task.question == "q"
    assert names(task.schema) == {"t": ["a"]}


def test_parts_without_a_task_say_what_is_missing() -> None:
    missing: dict[type[TaskUnusable], list[list[Any]]] = {
        QuestionMissing: [[], [{"key": "value"}], [[1, 2]]],
        InputMissing: [["How many?"], ["{broken"]],
        TaskUnusable: [["x"] * 100, [{"question": "q", "schema": 7}]],
    }
    for kind, given in missing.items():
        for parts in given:
            with pytest.raises(TaskUnusable) as caught:
                read_parts(parts)
            assert type(caught.value) is kind, parts


@pytest.mark.parametrize(
    "sent",
    [
        [[1, "open", "x" * 99], [2, "it's", None], [3, "open", ""]],
        [{"id": 1, "state": "open"}, {"id": 2, "state": "it's"}],
    ],
)
def test_texts_of_sample_rows_stand_behind_a_columns_comment(sent: list[object]) -> None:
    columns = ["id", {"name": "state", "comment": "of the order"}, "note"]
    schema = read_structure({"tables": [{"name": "t", "columns": columns, "sample_rows": sent}]}, "sqlite")

    assert [c.comment for c in schema.tables[0].columns] == [None, "of the order; e.g. 'open', 'it''s'", None]
    assert [c.comment for c in without_samples(schema).tables[0].columns] == [None, "of the order", None]


@pytest.mark.parametrize(("privacy", "seen"), [("full", True), ("masked", False), ("schema", False)])
async def test_a_model_sees_sample_rows_only_where_it_may_see_values(
    config: Settings, endpoint: OpenAIServer, privacy: str, seen: bool
) -> None:
    endpoint.otherwise = completion("```sql\nSELECT state FROM t\n```")
    table = {"name": "t", "columns": ["id", "state"], "sample_rows": [[1, "quokka"]]}
    task = read_task({"question": "Whatever is the matter with them?", "schema": {"tables": [table]}})
    model = OpenAIModel(Endpoint("m", base_url=endpoint.url, seconds=20.0))

    answer = await answered(task, overridden(config, strategy="cascade", privacy=privacy), model)

    assert answer.sql == "SELECT state FROM t"
    assert ("quokka" in endpoint.requests[-1].prompt) is seen


CONFIG = Settings(_env_file=None, OPENAI_API_KEY=None, OPENAI_BASE_URL=None)


def asked(dialect: str = "sqlite") -> SqlTask:
    return read_task({"question": "Which customers?", "schema": CUSTOMERS, "dialect": dialect, "task_id": "t"})


async def test_duckdbs_binder_speaks_where_names_and_guard_are_content() -> None:
    model = ScriptedModel("SELECT id, count(*) FROM customers", "SELECT id FROM customers")
    events = [event async for event in answering(asked("duckdb"), CONFIG, model)]

    [retry] = [e for e in events if not isinstance(e, TaskAnswer) and e.event == "retry"]
    assert retry.data.category == "execution_error"
    assert "must appear in the GROUP BY clause" in retry.data.feedback
    assert events[-1] == TaskAnswer(sql="SELECT id FROM customers", reasoning=events[-1].reasoning, task_id="t")
    assert "Shows: id of customers." in (events[-1].reasoning or "")


async def test_a_name_that_is_not_there_is_tried_again_with_the_nearest() -> None:
    for dialect in ("sqlite", "postgres"):
        model = ScriptedModel("SELECT ids FROM customers", "SELECT id FROM customers")

        assert (await answered(asked(dialect), CONFIG, model)).sql == "SELECT id FROM customers"
        assert "nearest: id" in model.sql_requests[1].feedback


async def test_sql_that_never_passes_is_not_handed_out() -> None:
    for bad in ("DROP TABLE customers", "SELECT nothing FROM customers", "SELECT id FROM"):
        answer = await answered(asked(), CONFIG, ScriptedModel(bad))

        assert answer.sql == ""
        assert answer.error
        assert answer.task_id == "t"


async def test_a_schema_that_no_engine_can_hold_is_an_answer() -> None:
    task = read_task({"question": "q", "schema": {"t": [f"c{i}" for i in range(5_000)]}, "dialect": "sqlite"})

    assert "too many columns" in ((await answered(task, CONFIG, ScriptedModel("SELECT 1"))).error or "")
