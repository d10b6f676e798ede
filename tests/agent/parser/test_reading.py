"""How the engine says what it understood, what it assumes and offers, and that no text can break it."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.knowledge.values import ValueIndex, value_index
from agent.models.protocol import PlanRequest
from agent.parser import Reading, read
from agent.parser.assumed_values import assumed_values, doubted
from agent.parser.dialogue import whole_question
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from agent.sources.structure import read_structure
from agent.state import Turn
from eval.databases import Database, open_database
from eval.databases.scratch import scratch_database
from eval.schema import ALL_DIALECTS, Dialect, Schema
from eval.sql import check, parse, parsed_from_tree
from eval.tasks.demos import demo_path
from tests.asked import TODAY
from tests.jsonl import read_lines
from tests.pairs import FIXTURES, rows, sections

Ask = Callable[..., Reading]
QUESTIONS = sections("parser/questions.txt")


def test_abstains_on_a_very_long_question(ask: Ask) -> None:
    reading = ask("books " * 20_000)
    assert reading.abstained
    assert "longer than 2000 characters" in reading.interpretation


def test_offers_questions_near_an_unknown_word_and_where_nothing_is_understood(ask: Ask) -> None:
    assert ask("Which gnres do astronauts like?").alternatives[0] == "How many books are there per genre?"
    assert ask("asdf qwerty").alternatives


@pytest.mark.parametrize("question", QUESTIONS["a doubt names a word and a decline the guess"][0])
def test_a_doubt_names_a_word_and_a_decline_the_guess(schema: Schema, values: ValueIndex, question: str) -> None:
    reading = read(question, schema, values, today=TODAY)
    assert reading.confidence < STATED_DOUBT
    assert "“" in reading.interpretation or reading.not_understood
    if reading.guess and reading.abstained:
        assert "I understood “" in reading.interpretation
        assert "My best guess was: " in reading.interpretation


def test_says_that_data_ends_before_a_relative_period(library: Database, schema: Schema, values: ValueIndex) -> None:
    late, look = dt.date(2030, 6, 15), looker(library)
    past = read("how many loans last month", schema, values, today=late, threshold=0.0, look=look)
    assert "the data ends before that: no row of loan has loaned_on on or after 2030-05-01" in past.interpretation
    within = read("how many loans last month", schema, values, today=TODAY, threshold=0.0, look=look)
    assert "the data ends" not in within.interpretation


def test_gives_the_next_best_reading_when_asked(schema: Schema, values: ValueIndex) -> None:
    for place in (1, 9):
        assert read("Which members from Leeds have the name Eva?", schema, values, threshold=0.0, place=place).tree


@pytest.mark.parametrize("dialect", ALL_DIALECTS)
@pytest.mark.parametrize("question", QUESTIONS["each dialect reads what it writes"][0])
def test_each_dialect_reads_what_it_writes(question: str, dialect: Dialect, schema: Schema, values: ValueIndex) -> None:
    parsed = parse(read(question, Schema(dialect, schema.tables), values, dialect, threshold=0.0).sql, dialect)
    assert parsed.error is None
    assert check(parsed).allowed


_HEAP = """books members loans how many the of with more than 5 average price per city Leeds 'Ada' " not without or
and both top 3 most oldest 2024 March last month between each contains title; DROP TABLE -- /* */ ) ( % _ sorted by in
highest at least never no share genre Novel is are ' , . ? ! ünïcödé 名前 🙂 ⓺ ² ١٢ ⑤ \\"""
_WORDS = st.sampled_from(_HEAP.split())


def _never_breaks(question: str, schema: Schema, values: ValueIndex) -> None:
    reading = read(question, schema, values, threshold=0.0)
    assert 0.0 <= reading.confidence <= 1.0
    assert reading.abstained == (reading.sql == "")
    if reading.tree is not None:
        verdict = check(parsed_from_tree(reading.tree, "sqlite"))
        assert verdict.allowed, verdict.reason


@pytest.mark.parametrize("question", QUESTIONS["signs like digits and courtesies break nothing"][0])
def test_signs_like_digits_and_courtesies_break_nothing(question: str, schema: Schema, values: ValueIndex) -> None:
    _never_breaks(question, schema, values)


def test_a_table_behind_a_group_and_before_a_date_breaks_nothing() -> None:
    with open_database(demo_path("shop")) as shop:
        structure = shop.schema()
        _never_breaks("per order items orders since", structure, value_index(shop, structure))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(_WORDS, max_size=25).map(" ".join) | st.text(max_size=200))
def test_no_heap_of_words_and_no_text_breaks_it(text: str, schema: Schema, values: ValueIndex) -> None:
    _never_breaks(text, schema, values)


INVENTED = ("blorptious", "thrapsively", "drumbled", "vorplings", "zinguatic")


def _with_invented_word(question: str) -> str:
    chance = random.Random(question)
    words = question.split()
    words.insert(chance.randrange(len(words) + 1), chance.choice(INVENTED))
    return " ".join(words)


@pytest.mark.parametrize("name", ["shop", "enterprise"])
def test_no_demo_question_is_read_with_confidence_while_a_word_is_left_out(name: str) -> None:
    """Neither as it is, nor with an invented adjective, noun or verb put somewhere into it."""
    wrong = []
    with open_database(demo_path(name)) as database:
        schema = database.schema()
        values, look = value_index(database, schema), looker(database)
        for line in read_lines(FIXTURES / f"demo_questions_{name}.jsonl"):
            for question in (line["question"], _with_invented_word(line["question"])):
                reading = read(question, schema, values, look=look, threshold=0.0)
                left_out = reading.not_understood or reading.features.get("words left out")
                if reading.confidence >= STATED_DOUBT and (left_out or question != line["question"]):
                    wrong.append((question, reading.not_understood))
    assert wrong == []


SCHEMA: Schema = read_structure((FIXTURES / "parser/structures/orders.sql").read_text(), "sqlite")


def reading(question: str) -> Reading:
    values = assumed_values([question], SCHEMA)
    return doubted(read(question, SCHEMA, values), values)


@pytest.mark.parametrize(("question", "condition", "told"), rows("parser/assumed_values.jsonl"))
def test_a_literal_is_a_condition_told_as_assumed(question: str, condition: str, told: str) -> None:
    read_as = reading(question)

    assert condition in " ".join(read_as.sql.split())
    assert told in read_as.interpretation
    assert "in doubt: " in read_as.interpretation
    assert read_as.confidence < STATED_DOUBT


@pytest.mark.parametrize("question", ["How many orders were placed in 2024?", "How many customers are there?"])
def test_what_needs_no_row_is_as_sure_as_before(question: str) -> None:
    assert reading(question) == read(question, SCHEMA)


def test_a_table_named_with_a_capital_is_no_value() -> None:
    assert not len(assumed_values(["How many Customers and Orders were there in March or on Monday?"], SCHEMA))


@pytest.fixture
def empty() -> Iterator[Database]:
    with scratch_database(SCHEMA) as database:
        yield database


def test_a_follow_up_may_name_another_value(empty: Database) -> None:
    question = "How many customers live in Berlin?"
    earlier = Turn(number=1, asked=question, question=question)

    asked = PlanRequest("and in Munich?", "sqlite", "", SCHEMA, history=(earlier,))

    assert whole_question(asked, empty) == "How many customers live in Munich?"
