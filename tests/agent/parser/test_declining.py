"""What the engine says when it does not answer: small talk, questions about the tables, words in doubt."""

from __future__ import annotations

import datetime as dt

import pytest

from agent.knowledge.values import ValueIndex
from agent.parser import read
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from eval.databases import Database
from eval.schema import Schema


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("hello!", "This is no question about the data. You can ask about"),
        ("thanks a lot", "This is no question about the data."),
        ("what can you do?", "You can ask about"),
        ("what tables are there?", "The database has the tables author, book, loan and member."),
        ("what data do you have", "The database has the tables author, book, loan and member."),
        ("show me the columns of member", "The table member has the columns id, first_name, last_name, city, age and"),
        ("describe the authors", "The table author has the columns id, name, country and birth_date."),
        ("asdf qwerty", "Nothing in this question is the name of a table, a column or a stored value"),
    ],
)
def test_says_what_it_has_instead(schema: Schema, values: ValueIndex, question: str, reply: str) -> None:
    reading = read(question, schema, values)
    assert reading.abstained
    assert reading.confidence == 0
    assert reply in reading.interpretation


def test_a_greeting_before_a_question_does_not_hide_it(schema: Schema, values: ValueIndex) -> None:
    assert "COUNT" in read("hello, how many members are there?", schema, values, threshold=0.0).sql


@pytest.mark.parametrize(
    "question",
    [
        "members with high fines",
        "loans of the previous owner",
        "average of members",
        "old books",
        "the cheapest book of the oldest author",
    ],
)
def test_a_doubt_names_a_word_and_a_decline_the_guess(schema: Schema, values: ValueIndex, question: str) -> None:
    reading = read(question, schema, values)
    assert reading.confidence < STATED_DOUBT
    assert "“" in reading.interpretation or reading.not_understood
    if reading.guess and reading.abstained:
        assert "I understood “" in reading.interpretation
        assert "My best guess was: " in reading.interpretation


@pytest.mark.parametrize("question", ["who are the authors and what do they teach?", "members and what they rent"])
def test_the_second_half_of_a_question_is_not_passed_over(schema: Schema, values: ValueIndex, question: str) -> None:
    reading = read(question, schema, values)
    assert reading.not_understood
    assert reading.confidence < STATED_DOUBT


def test_nothing_understood_still_offers_questions(schema: Schema, values: ValueIndex) -> None:
    assert read("asdf qwerty", schema, values).alternatives


def test_says_that_the_data_ends_before_a_relative_period(
    library: Database, schema: Schema, values: ValueIndex
) -> None:
    late, look = dt.date(2030, 6, 15), looker(library)
    past = read("how many loans last month", schema, values, today=late, threshold=0.0, look=look)
    assert "the data ends before that: no row of loan has loaned_on on or after 2030-05-01" in past.interpretation
    within = read("how many loans last month", schema, values, today=dt.date(2024, 6, 15), threshold=0.0, look=look)
    assert "the data ends" not in within.interpretation
