"""What is read off a question's words."""

from __future__ import annotations

import pytest

from eval.scoring.intent import read_intent


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many singers do we have?", {"count", "count_only"}),
        ("What is the number of orders per country?", {"count", "count_only", "per_group"}),
        ("What is the average price of the products?", {"average"}),
        ("Which customer spent the most?", {"most"}),
        ("List the students who do not have a cat.", {"negation"}),
        ("What are the different cities?", {"distinct"}),
        ("Show the names ordered by age from the oldest to the youngest.", {"order", "descending"}),
        ("Which shops sell more than 100 products?", {"greater"}),
    ],
)
def test_intent(question: str, expected: set[str]) -> None:
    intent = read_intent(question)
    for name in expected:
        assert getattr(intent, name), name


@pytest.mark.parametrize(
    ("question", "ordered"),
    [
        ("What is the total amount per order number?", False),
        ("Show the 5 orders with the highest number of lines.", False),
        ("List all products that were ordered.", False),
        ("Order the products by price.", True),
        ("List the names ordered by age.", True),
        ("What are the names in order of age?", True),
        ("Show all cities and order the results by size.", True),
        ("Give the titles in alphabetical order.", True),
    ],
)
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


@pytest.mark.parametrize("question", ["", " ", "?" * 5000, "\0\ud800", "'" * 300])
def test_anything_can_be_read(question: str) -> None:
    intent = read_intent(question)
    assert (intent.count, intent.top, intent.numbers, intent.order) == (False, None, (), False)
