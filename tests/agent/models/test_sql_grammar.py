"""Replies that a grammar keeps to queries over the schema: what it lets through, and which servers are sent one."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from agent.knowledge.schema_context import BREAK, schema_context
from agent.models.protocol import ModelReplyError
from agent.models.sql_grammar import MOST_CHARACTERS, OPENING, sql_grammar
from agent.models.structured import SQL_ALONE_SCHEMA
from eval.databases import open_database
from eval.schema import Column, Dialect, Schema, Table
from eval.tasks import demo_path
from eval.tasks.library import tasks
from tests.agent.models.conftest import MakeModel, sql_request
from tests.gbnf import Grammar
from tests.openai_server import OpenAIServer, Reply, completion, error

REPLY = {"sql": "SELECT COUNT(*) FROM customers"}
BRIEF = sql_request(brief=True, grammar=True)


def entry(owner: str) -> dict[str, Any]:
    return {"id": "m", "object": "model", "owned_by": owner}


@cache
def shop() -> tuple[Schema, Grammar]:
    with open_database(str(demo_path("shop"))) as database:
        schema = database.schema()
    return schema, Grammar(sql_grammar(schema, schema_context(schema)))


def lets_through(sql: str, grammar: Grammar | None = None) -> bool:
    return (grammar or shop()[1]).accepts(json.dumps({"sql": " ".join(sql.split())}, ensure_ascii=False))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name, price FROM products WHERE price > 10.5 ORDER BY price DESC LIMIT 3",
        "SELECT country, COUNT(*) FROM customers GROUP BY country HAVING COUNT(*) > 2",
        "SELECT products.name FROM products WHERE name LIKE '%tea%' AND NOT price BETWEEN 1 AND 2",
        "SELECT p.name FROM products AS p JOIN categories AS c ON p.category_id = c.category_id WHERE c.name = 'Tea'",
        "SELECT name FROM products WHERE price = (SELECT MAX(price) FROM products)",
        "SELECT name FROM products WHERE product_id NOT IN (SELECT product_id FROM order_items)",
        "SELECT city FROM customers GROUP BY city ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT COUNT(*), AVG(price) FROM products WHERE price > 1",
        "SELECT city FROM customers UNION SELECT city FROM suppliers",
        "SELECT SUM(quantity * unit_price) / COUNT(*) FROM order_items WHERE unit_price IS NOT NULL",
        "SELECT city FROM customers WHERE last_name = 'O''Hara' OR last_name = 'Müller'",
        "",
    ],
)
def test_queries_over_the_schema_are_let_through(sql: str) -> None:
    assert lets_through(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM goods",
        "SELECT nickname FROM customers",
        "SELECT price FROM customers",
        "SELECT customers.price FROM customers JOIN products ON customers.city = products.name",
        "DROP TABLE customers",
        "DELETE FROM customers",
        "INSERT INTO customers SELECT * FROM customers",
        "SELECT city FROM customers; DROP TABLE customers",
        "SELECT city FROM customers; SELECT city FROM customers",
        "SELECT load_extension('x') FROM customers",
        "SELECT city FROM customers -- all",
        "SELECT city FROM customers WHERE city = 'a' OR 'b",
        f"SELECT city FROM customers WHERE city = '{'x' * 61}'",
        f"SELECT city FROM customers LIMIT {10**12}",
        f"SELECT {', '.join(['city'] * 9)} FROM customers",
        "SELECT city",
        "SELECT city FROM customers ORDER BY COUNT(*)",
        "SELECT city, COUNT(*) FROM customers",
        "SELECT city FROM customers WHERE customer_id = (SELECT * FROM customers)",
        "SELECT city FROM customers WHERE customer_id IN (SELECT customer_id, city FROM customers)",
        "Sure! SELECT city FROM customers",
    ],
)
def test_nothing_else_is(sql: str) -> None:
    assert not lets_through(sql)


def test_subqueries_go_so_deep_and_no_deeper() -> None:
    within = "SELECT city FROM customers"
    for _ in range(2):
        within = f"SELECT city FROM customers WHERE city IN ({within})"
    assert lets_through(within)
    assert not lets_through(f"SELECT city FROM customers WHERE city IN ({within})")


def test_gold_queries_of_the_demo_database_that_are_plain_are_let_through() -> None:
    """Others have functions, CASE, aliases of outputs or WITH, which the bounded language leaves out."""
    easy = [task.gold.sql for task in tasks() if (task.database, task.difficulty) == ("shop", "easy")]
    assert (sum(map(lets_through, easy)), len(easy)) == (11, 17)


def test_names_are_those_that_the_prompt_shows() -> None:
    schema, _ = shop()
    shown = (
        "Table: customers (3 rows)\n  customer_id INTEGER PK\n  Also: city" + BREAK + "suppliers.country has 'Italy'"
    )
    grammar = Grammar(sql_grammar(schema, shown))
    assert lets_through("SELECT city FROM customers", grammar)
    assert not lets_through("SELECT country FROM customers", grammar)
    assert not lets_through("SELECT city FROM suppliers", grammar)
    assert sql_grammar(schema, "nothing of it") == ""


def test_names_are_quoted_as_the_dialect_needs_it() -> None:
    columns = (Column("Unit Price"), Column("order"), Column("Größe"), Column('a"b'))
    schema = Schema("sqlite", (Table("Order Details", columns),))
    grammar = Grammar(sql_grammar(schema, schema_context(schema)))
    assert lets_through('SELECT "Unit Price", "order" FROM "Order Details" ORDER BY "Order Details"."order"', grammar)
    assert not lets_through("SELECT Unit Price FROM Order Details", grammar)
    mysql = Schema("mysql", schema.tables)
    assert lets_through("SELECT `Unit Price` FROM `Order Details`", Grammar(sql_grammar(mysql, schema_context(mysql))))


@pytest.mark.parametrize(
    ("dialect", "has"), [("postgres", True), ("snowflake", True), ("tsql", False), ("oracle", False)]
)
def test_dialects_without_limit_have_no_grammar(dialect: Dialect, has: bool) -> None:
    schema = Schema(dialect, shop()[0].tables)
    assert bool(sql_grammar(schema, schema_context(schema))) == has


def test_a_wide_schema_has_no_grammar() -> None:
    tables = tuple(Table(f"table_{n}", tuple(Column(f"figure_{n}_{c}") for c in range(40))) for n in range(60))
    few, many = Schema("sqlite", tables[:10]), Schema("sqlite", tables)
    assert 0 < len(sql_grammar(few, schema_context(few))) <= MOST_CHARACTERS
    assert sql_grammar(many, schema_context(many)) == ""


@pytest.mark.parametrize(("owner", "field"), [("llamacpp", "grammar"), ("vllm", "structured_outputs")])
async def test_servers_that_take_grammars_get_one_in_place_of_the_json_schema(
    server: OpenAIServer, model_at: MakeModel, owner: str, field: str
) -> None:
    server.models = (entry(owner),)
    server.script(completion(REPLY), completion(REPLY))
    model = model_at()
    assert (await model.write_sql(BRIEF)).sql == REPLY["sql"]
    assert (await model.write_sql(BRIEF)).sql == REPLY["sql"]
    assert len(server.listed) == 1
    for body in server.bodies:
        sent = body[field]["grammar"] if field == "structured_outputs" else body[field]
        assert Grammar(sent).accepts(json.dumps(REPLY))
        assert "response_format" not in body


@pytest.mark.parametrize("owner", ["library", "organization_owner", "openai", ""])
async def test_other_servers_keep_the_json_schema(server: OpenAIServer, model_at: MakeModel, owner: str) -> None:
    server.models = (entry(owner),)
    server.script(completion(REPLY))
    await model_at().write_sql(BRIEF)
    assert server.bodies[0]["response_format"]["json_schema"]["schema"] == SQL_ALONE_SCHEMA
    assert not {"grammar", "structured_outputs"} & server.bodies[0].keys()


async def test_nobody_is_asked_what_it_is_where_no_grammar_is_wanted(server: OpenAIServer, model_at: MakeModel) -> None:
    server.models = (entry("llamacpp"),)
    server.script(completion(REPLY), completion(REPLY))
    await model_at().write_sql(replace(BRIEF, grammar=False))
    await model_at(structured_output="json_schema").write_sql(BRIEF)
    assert not server.listed
    assert all("response_format" in body and "grammar" not in body for body in server.bodies)


@pytest.mark.parametrize(
    "refusal",
    [error(400, "Failed to parse grammar"), error(422, "Extra inputs are not permitted"), error(400, "no")],
    ids=["named", "unnamed 422", "unnamed 400"],
)
async def test_a_refused_grammar_is_left_out_from_then_on(
    server: OpenAIServer, model_at: MakeModel, refusal: Reply
) -> None:
    server.models = (entry("vllm"),)
    server.script(refusal, completion(REPLY), completion(REPLY))
    assert (await model_at().write_sql(BRIEF)).sql == REPLY["sql"]
    assert (await model_at().write_sql(BRIEF)).sql == REPLY["sql"]
    assert ["structured_outputs" in body for body in server.bodies] == [True, False, False]
    assert ["response_format" in body for body in server.bodies] == [False, True, True]


async def test_a_grammar_that_was_ignored_is_left_out_from_then_on(server: OpenAIServer, model_at: MakeModel) -> None:
    server.models = (entry("vllm"),)
    server.script(completion("```sql\nSELECT COUNT(*) FROM customers\n```"), completion(REPLY))
    assert (await model_at().write_sql(BRIEF)).sql == "SELECT COUNT(*) FROM customers"
    assert (await model_at().write_sql(BRIEF)).sql == REPLY["sql"]
    assert ["structured_outputs" in body for body in server.bodies] == [True, False]


async def test_a_schema_that_was_never_sent_is_not_taken_for_proven(server: OpenAIServer, model_at: MakeModel) -> None:
    server.models = (entry("llamacpp"),)
    server.script(completion(REPLY), error(422, "no"), completion(REPLY))
    await model_at().write_sql(BRIEF)
    await model_at().write_sql(replace(BRIEF, grammar=False))
    assert server.bodies[2]["response_format"] == {"type": "json_object"}


async def test_a_reply_that_was_cut_off_is_asked_for_once_more_and_is_no_answer(
    server: OpenAIServer, model_at: MakeModel
) -> None:
    server.models = (entry("llamacpp"),)
    cut = completion(OPENING + "SELECT id FROM customers WHERE id IN (", finish_reason="length")
    server.script(cut, cut)
    with pytest.raises(ModelReplyError):
        await model_at().write_sql(BRIEF)
    assert [body["max_completion_tokens"] for body in server.bodies] == [1024, 2048]
