"""Questions in other words than the schema's and the data's: general knowledge and stages of life."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.knowledge.values import value_index
from agent.parser.engine import Reading, read
from agent.runtime.probability import STATED_DOUBT
from eval.databases.factory import open_database
from eval.language.lexicon import similar_words

_TABLES = """
CREATE TABLE firm (firm_id INTEGER PRIMARY KEY, name TEXT, headquarters TEXT, market TEXT);
CREATE TABLE pilot (pilot_id INTEGER PRIMARY KEY, name TEXT, age INTEGER, sex TEXT, hometown TEXT, continent TEXT);
CREATE TABLE church (church_id INTEGER PRIMARY KEY, name TEXT, type TEXT, price REAL, email_address TEXT);
INSERT INTO firm VALUES (1, 'Arlo', 'USA', 'Jordan'), (2, 'Bex', 'UK', 'Tea'), (3, 'Cold', 'China', 'Salt');
INSERT INTO pilot VALUES (1, 'Ida', 17, 'F', 'Miami, FL', 'Europe'), (2, 'Jon', 41, 'M', 'Dallas, TX', 'Asia'),
                         (3, 'Kit', 15, 'M', 'Tampa, FL', 'Asia'), (4, 'Lea', 67, 'F', 'Boise, ID', 'Africa');
INSERT INTO church VALUES (1, 'St Ann', 'stone', 5, 'a@x'), (2, 'St Bee', 'wood', 9, 'b@x'), (3, 'St C', 'wood', 1, '');
"""
Asked = Callable[[str], tuple[Reading, list[tuple[object, ...]]]]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """The reading of a question, and the rows that its SQL returns."""
    folder: Path = tmp_path_factory.mktemp("words")
    path = folder / "words.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(_TABLES)
    database = open_database(str(path))
    schema = database.schema()
    values = value_index(database, schema, cache_dir=folder)

    def ask(question: str) -> tuple[Reading, list[tuple[object, ...]]]:
        reading = read(question, schema, values, threshold=0.0)
        with sqlite3.connect(path) as connection:
            return reading, connection.execute(reading.sql).fetchall()

    return ask


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many American firms are there?", [(1,)]),
        ("What are the names of the British firms?", [("Bex",)]),
        ("How many pilots are from Florida?", [(2,)]),
        ("How many pilots come from TX?", [(1,)]),
        ("How many European pilots are there?", [(1,)]),
        ("How old are pilots on average?", [(35,)]),
        ("What kinds of churches are there?", [("stone",), ("wood",)]),
        ("Which churches are dearer than the average one?", [("St Bee",)]),
        ("What is the oldest pilot called?", [("Lea",)]),
    ],
)
def test_general_knowledge_finds_what_is_stored(asked: Asked, question: str, rows: list[tuple[object, ...]]) -> None:
    _, got = asked(question)
    assert sorted(dict.fromkeys(got)) == rows


def test_a_stored_name_that_is_also_a_country_does_not_make_a_column_of_countries(asked: Asked) -> None:
    reading, _ = asked("How many Jordanian firms are there?")
    assert "Jordan" not in reading.sql or reading.confidence < STATED_DOUBT


def test_where_without_a_place_is_never_sure(asked: Asked) -> None:
    reading, _ = asked("Where do the churches come from?")
    assert "email" not in reading.sql
    assert reading.confidence < STATED_DOUBT


@pytest.mark.parametrize("word", ["mariners", "captains"])
def test_a_word_of_similar_meaning_is_a_guess(asked: Asked, word: str) -> None:
    """It is told in doubt, however similar it is: `late` is as near to `last` as `mariners` to `pilots`."""
    reading, rows = asked(f"How many {word} are there?")
    assert rows == [(4,)]
    assert reading.confidence < STATED_DOUBT
    assert "pilot" in similar_words(word.removesuffix("s"))


def test_a_verb_of_living_says_no_more_than_the_place(asked: Asked) -> None:
    reading, rows = asked("Which pilots live in Miami, FL?")
    assert rows == [("Ida",)]
    assert reading.confidence >= STATED_DOUBT
