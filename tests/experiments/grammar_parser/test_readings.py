"""Questions on the demo shop and the rows that their first reading returns; what no reading may do."""

from __future__ import annotations

import random
import string
import time
from collections.abc import Iterator

import pytest

from agent.knowledge.values import value_index
from agent.runtime.catalogue import resolve_database
from eval.databases import open_database
from eval.metrics.comparison import same_result
from eval.sql import check, parse
from experiments.grammar_parser.reading import candidates, written
from experiments.grammar_parser.sources import Opened

READ = [
    ("How many customers are there?", "SELECT COUNT(*) FROM customers"),
    ("Which customers live in Berlin?", "SELECT first_name, last_name FROM customers WHERE city = 'Berlin'"),
    ("customers per country", "SELECT country, COUNT(*) FROM customers GROUP BY country"),
    ("What is the average product price?", "SELECT AVG(price) FROM products"),
    ("What is the most expensive product?", "SELECT name FROM products ORDER BY price DESC LIMIT 1"),
    ("Show the 5 heaviest products with their weight.",
     "SELECT name, weight_grams FROM products ORDER BY weight_grams DESC LIMIT 5"),
    ("Which products have been discontinued?", "SELECT name FROM products WHERE is_discontinued = 1"),
    ("How many orders were cancelled?", "SELECT COUNT(*) FROM orders WHERE status = 'cancelled'"),
    ("In how many different countries do our customers live?", "SELECT COUNT(DISTINCT country) FROM customers"),
    ("customers without orders",
     "SELECT first_name, last_name FROM customers WHERE customer_id NOT IN (SELECT customer_id FROM orders)"),
    ("Which customers have more than 5 orders?",
     "SELECT c.first_name, c.last_name FROM customers c JOIN orders o ON o.customer_id = c.customer_id "
     "GROUP BY c.customer_id HAVING COUNT(*) > 5"),
    ("How many orders were placed in 2024?",
     "SELECT COUNT(*) FROM orders WHERE order_date >= '2024-01-01' AND order_date < '2025-01-01'"),
    ("products with price above the average price",
     "SELECT name FROM products WHERE price > (SELECT AVG(price) FROM products)"),
]  # fmt: skip


@pytest.fixture(scope="module")
def shop() -> Iterator[Opened]:
    with open_database(resolve_database("shop").url) as database:
        schema = database.schema()
        yield Opened(database, schema, value_index(database, schema))


@pytest.mark.parametrize(("question", "sql"), READ, ids=[question for question, _ in READ])
def test_the_first_reading_returns_the_rows(shop: Opened, question: str, sql: str) -> None:
    found, context = candidates(question, shop.schema, shop.values)
    tree = written(found[0], context)
    assert tree is not None
    mine = shop.rows(tree)
    statement = check(parse(sql, shop.schema.dialect)).statement
    assert mine is not None
    assert statement is not None
    assert same_result(shop.database.execute(statement), mine, ordered="ORDER BY" in sql)


def test_readings_are_many_and_distinct(shop: Opened) -> None:
    found, _ = candidates("total revenue by country and status", shop.schema, shop.values)
    assert len(found) == 20
    assert len({candidate.plan for candidate in found}) == 20


@pytest.mark.parametrize("word", ["purple", "quarrelsome", "yodelling", "photosynthesis", "reluctant"])
def test_a_word_that_nothing_consumed_is_kept(shop: Opened, word: str) -> None:
    found, context = candidates(f"how many {word} customers are there", shop.schema, shop.values)
    state = found[0].completed.state
    assert [context.lattice.words[at] for at in state.missed] == [word]


def test_any_text_ends_within_its_budget(shop: Opened) -> None:
    draw = random.Random(7)
    words = ["city", "more than", "2024", "漢", "and", "order", "by", "name", "the most", "without", "per", "99999"]
    letters = string.ascii_letters + string.digits + " '\"%_-;()"
    texts = [" ".join(draw.choices(words, k=draw.randint(1, 60))) for _ in range(60)]
    texts += ["".join(draw.choices(letters, k=300)) for _ in range(20)]
    texts.append("list customers with name" + " and city" * 180 + " 5")
    started = time.process_time()
    for text in texts:
        candidates(text, shop.schema, shop.values)
    everyday = time.process_time()
    for _ in range(20):
        candidates("Which customers have more than 5 orders in 2024 by country?", shop.schema, shop.values)
    one = (time.process_time() - everyday) / 20
    assert (everyday - started) / len(texts) < 30 * one, "garbled texts may not cost much more than a question"
