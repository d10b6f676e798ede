"""What the engine refuses to read, how it says what it understood, and that no text can break it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.knowledge.values import ValueIndex, value_index
from agent.parser import Reading, read
from eval.databases import open_database
from eval.schema import ALL_DIALECTS, Dialect, Schema
from eval.sql import check, parse, parsed_from_tree
from eval.tasks.demos import demo_path

Ask = Callable[..., Reading]


@pytest.mark.parametrize("question", ["", "   ", "?!…", "\n\t", "— ''"])
def test_abstains_without_a_question(question: str, ask: Ask) -> None:
    reading = ask(question)
    assert reading.abstained
    assert reading.confidence == 0.0
    assert reading.interpretation == "There is no question to read."


def test_abstains_on_a_very_long_question(ask: Ask) -> None:
    reading = ask("books " * 20_000)
    assert reading.abstained
    assert "longer than 2000 characters" in reading.interpretation


@pytest.mark.parametrize(
    "question",
    [
        "delete all loans",
        "Please drop the book table",
        "UPDATE book SET price = 0",
        "insert a new member",
        "truncate loan",
    ],
)
def test_abstains_on_requests_to_write(question: str, ask: Ask) -> None:
    reading = ask(question)
    assert reading.abstained
    assert "only reading is possible" in reading.interpretation


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("What is the weather in Leeds?", "weather"),
        ("Which books did the astronauts review?", "astronauts"),
        ("What is the temperature per city?", "temperature"),
        ("Show 0 books", "0"),
    ],
)
def test_names_what_it_did_not_understand(question: str, word: str, ask: Ask) -> None:
    reading = ask(question)
    assert reading.abstained
    assert word in reading.not_understood
    assert word in reading.interpretation


@pytest.mark.parametrize(
    "question",
    [
        "What is the running total of fines by loan date?",
        "Compare the prices of novels and travel books.",
        "Show the members in Berlin.",
        "Which authors have more books than the members?",
    ],
)
def test_does_not_answer_another_question_than_the_one_asked(question: str, ask: Ask) -> None:
    """A computation, a name or a comparison that the reading leaves out is not a detail."""
    assert ask(question).abstained


def test_offers_questions_near_an_unknown_word(ask: Ask) -> None:
    assert ask("Which gnres do astronauts like?").alternatives[0] == "How many books are there per genre?"


@pytest.mark.parametrize(
    "question", ["Which gnres do astronauts like?", "What is the temperature per city?", "loans of the astronauts"]
)
def test_answers_every_question_that_it_offers(question: str, ask: Ask) -> None:
    reading = ask(question)
    assert reading.abstained
    assert 1 <= len(reading.alternatives) <= 3
    for offered in reading.alternatives:
        assert not ask(offered).abstained


@pytest.mark.parametrize(
    ("question", "open_word"),
    [
        ("books with a price higher than any novel", "doubt comparison_open"),
        ("Which member is the largest?", "doubt adjective_without_column"),
        ("loans longer than 3 parsecs of 17", "figure dropped"),
    ],
)
def test_is_never_sure_of_a_question_it_read_in_part(question: str, open_word: str, ask: Ask) -> None:
    reading = ask(question)
    assert reading.abstained
    assert reading.confidence <= 0.3
    assert reading.features[open_word] > 0


def test_knowledge_beside_the_question_tells_what_its_words_mean(ask: Ask) -> None:
    reading = ask("How many page-turners are there?\n\nEvidence: page-turners refers to genre = 'Novel'")
    assert reading.guess == "SELECT COUNT(*) AS books FROM book WHERE genre = 'Novel'"
    column = ask("average damage of loans\n\nEvidence: damage is stored in fine_amt")
    assert column.guess == "SELECT AVG(fine_amt) AS average_fine_amount FROM loan"


@pytest.mark.parametrize("knowledge", ["", "the moon is made of cheese; x = = y", "a" * 5000, "genre refers to moon"])
def test_knowledge_without_meaning_here_changes_nothing(knowledge: str, ask: Ask) -> None:
    plain = ask("How many books are there?")
    assert ask(f"How many books are there?\n\nEvidence: {knowledge}").sql == plain.sql


def test_gives_the_next_best_reading_when_asked(schema: Schema, values: ValueIndex) -> None:
    first, second = (read("Which members from Leeds have the name Eva?", schema, values, threshold=0.0, place=k)
                     for k in (1, 9))  # fmt: skip
    assert first.tree is not None
    assert second.tree is not None


def test_says_how_it_understood_a_question(ask: Ask) -> None:
    reading = ask("the 2 cheapest novels published before 2020", threshold=0.0)
    assert reading.interpretation == (
        "title of book, only rows where genre is 'Novel' and published_on is under '2020-01-01', "
        "sorted by price (smallest first), only the first 2 rows"
    )


def test_says_what_a_relative_period_was_taken_to_be(ask: Ask) -> None:
    reading = ask("How many loans were made last month?")
    assert "2024-05-01 to 2024-05-31" in reading.interpretation
    assert "today" in reading.interpretation


def test_the_same_question_is_always_read_alike(ask: Ask) -> None:
    first = ask("Which member has the most loans?")
    assert all(ask("Which member has the most loans?") == first for _ in range(3))


def test_a_count_over_a_join_counts_each_row_once(ask: Ask) -> None:
    assert "COUNT(DISTINCT m.id)" in ask("How many members have loans?").sql


@pytest.mark.parametrize("dialect", ALL_DIALECTS)
@pytest.mark.parametrize(
    "question",
    ["number of loans per month", "books published in 2024", "Which member has the most loans?", "available books",
     "What share of books is available?"],
)  # fmt: skip
def test_writes_sql_that_each_dialect_parses_and_the_guard_allows(
    question: str, dialect: Dialect, schema: Schema, values: ValueIndex
) -> None:
    reading = read(question, Schema(dialect, schema.tables), values, dialect, threshold=0.0)
    parsed = parse(reading.sql, dialect)
    assert parsed.error is None
    assert check(parsed).allowed


def test_names_that_need_quotes_are_quoted_by_the_dialect() -> None:
    from eval.schema import Column, Table

    odd = Table("order details", (Column("unit price", "REAL"), Column("group", "TEXT")), row_count=3)
    assert read("average unit price of order details", Schema("sqlite", (odd,)), dialect="sqlite").guess == (
        'SELECT AVG("unit price") AS average_unit_price FROM "order details"'
    )
    assert read("average unit price of order details", Schema("mysql", (odd,)), dialect="mysql").guess == (
        "SELECT AVG(`unit price`) AS average_unit_price FROM `order details`"
    )


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


@pytest.mark.parametrize(
    "question",
    ["loans in March ⓺ 2024", "the ² cheapest books", "member ⑤", "the ⓺ oldest members", "books between ² and ⑤",
     "5⓺ books", "loans on ²/3/2024", "books with a limit of ⓺"],
)  # fmt: skip
def test_signs_that_look_like_digits_are_no_numbers(question: str, schema: Schema, values: ValueIndex) -> None:
    _never_breaks(question, schema, values)


@pytest.mark.parametrize(
    "question",
    [
        ":D",
        "please",
        "hi there",
        "hey :)",
        "thanks",
        "x: ,",
        "a b:",
        "a b (please)",
        "lol",
    ],
)
def test_a_question_of_courtesies_alone_is_read_as_it_is(question: str, schema: Schema, values: ValueIndex) -> None:
    _never_breaks(question, schema, values)


def test_a_table_behind_a_group_and_before_a_date_breaks_nothing() -> None:
    with open_database(demo_path("shop")) as shop:
        structure = shop.schema()
        _never_breaks("per order items orders since", structure, value_index(shop, structure))


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(_WORDS, max_size=25))
def test_no_heap_of_words_breaks_it(words: list[str], schema: Schema, values: ValueIndex) -> None:
    _never_breaks(" ".join(words), schema, values)


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=200))
def test_no_text_breaks_it(text: str, schema: Schema, values: ValueIndex) -> None:
    _never_breaks(text, schema, values)
