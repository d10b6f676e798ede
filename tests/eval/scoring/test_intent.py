"""What is read off a question's words."""

from __future__ import annotations

import pytest

from eval.scoring.intent import read_intent
from tests.pairs import rows


@pytest.mark.parametrize(("question", "expected"), rows("scoring/intent.jsonl"))
def test_intent(question: str, expected: list[str]) -> None:
    intent = read_intent(question)
    for name in expected:
        assert getattr(intent, name), name


@pytest.mark.parametrize(("question", "ordered"), rows("scoring/an_order_that_customers_place_is.jsonl"))
def test_an_order_that_customers_place_is_no_order_of_rows(question: str, ordered: bool) -> None:
    assert read_intent(question).order is ordered


def test_top_k_numbers_and_quotes() -> None:
    intent = read_intent("Show the top 3 products called 'Lamp' that cost over $1,200.50 or 2 million")
    assert intent.top == 3
    assert intent.quoted == ("Lamp",)
    assert intent.numbers == (3.0, 1200.5, 2e6)
    assert read_intent("Which airlines have at least 10 flights?").top is None
    assert read_intent("Which product has the most 5 star reviews?").top != 5
    assert not read_intent("What is the last name of the student?").superlative
