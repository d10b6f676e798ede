"""Rules of wording by themselves: what stands in place of everyday words, and which words a rewording lost."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.knowledge.values import value_index
from agent.knowledge.vocabulary import vocabulary
from agent.parser.wording import Known, Wording, worded
from eval.databases import open_database

BAKERY = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id),
    product_id INTEGER REFERENCES products(id), ordered_on DATE, total_amount REAL);
CREATE TABLE bakes (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES products(id), runtime INTEGER);
INSERT INTO customers VALUES (1, 'Ada');
INSERT INTO products VALUES (1, 'loaf', 3.5), (2, 'roll', 0.5);
INSERT INTO orders VALUES (1, 1, 1, '2024-03-01', 7.0), (2, 1, 2, '2024-04-02', 1.0);
INSERT INTO bakes VALUES (1, 1, 45);
"""


@pytest.fixture(scope="module")
def wording(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Wording]:
    path: Path = tmp_path_factory.mktemp("wording") / "bakery.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(BAKERY)
    connection.close()
    with open_database(str(path)) as database:
        schema = database.schema()
        values = value_index(database, schema)
    known = Known(vocabulary(schema, values.date_forms), values, dt.date(2024, 12, 1))
    return lambda question: worded(question, known)


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("what sells best?", "which product sold best"),
        ("best sellers", "which product sold best"),
        ("our worst sellers", "which product sold worst"),
        ("average bake runtime", "average bake runtime"),
        ("how long do bakes take", "average runtime of bakes"),
        ("customers who ordered more than twice", "customers with more than 2 orders"),
        ("the last 2 orders", "the latest 2 orders"),
    ],
)
def test_everyday_words_become_words_that_are_read(
    wording: Callable[[str], Wording], question: str, plain: str
) -> None:
    assert wording(question).text == plain


def test_a_question_without_everyday_words_stays_as_it_is(wording: Callable[[str], Wording]) -> None:
    assert wording(" How many customers? ") == Wording(" How many customers? ")


@pytest.mark.parametrize("word", ["license", "property", "copyright", "purple"])
def test_a_word_that_no_rule_explains_is_lost(wording: Callable[[str], Wording], word: str) -> None:
    """Words that happen to be names of Python were once taken for words of the rules."""
    assert wording(f"customers who spent more than 100 {word}").lost == (word,)


def test_words_of_the_rules_are_not_lost(wording: Callable[[str], Wording]) -> None:
    assert wording("revenue growth month over month").lost == ()
