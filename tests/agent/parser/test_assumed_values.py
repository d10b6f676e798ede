"""Where there are no rows to look at, what a question names becomes a condition on the likeliest column, in doubt."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.models.protocol import PlanRequest
from agent.parser.assumed_values import assumed_values, doubted
from agent.parser.dialogue import whole_question
from agent.parser.engine import Reading, read
from agent.runtime.probability import STATED_DOUBT
from agent.sources.structure import read_structure
from agent.state import Turn
from eval.databases.base import Database
from eval.databases.scratch import scratch_database
from eval.schema import Schema
from tests.pairs import FIXTURES, rows

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
