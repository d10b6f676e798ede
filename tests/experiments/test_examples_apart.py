"""Examples that are shown in an experiment are none of its questions."""

from __future__ import annotations

from agent.knowledge.memory.examples import Example
from experiments.ablation.examples_apart import apart


def test_a_test_set_is_kept_apart_and_the_overlap_told() -> None:
    examples = [
        Example("How many customers live in Lyon?", "a"),
        Example("how many customers live in  lyon", "b"),
        Example("How many customers live in Porto?", "SELECT COUNT(*) FROM customers WHERE city = 'Porto'"),
        Example("What is the total?", "not sql ("),
    ]
    tests = [("How many customers live in Lyon?", "select count(*) from customers where city='Lyon'"), ("Who?", "x")]

    left, overlap = apart(examples, tests, "sqlite")

    assert [e.question for e in left] == ["How many customers live in Porto?", "What is the total?"]
    assert overlap.same_sql == 1
    assert (overlap.examples, overlap.same_question, overlap.same_template, overlap.questions) == (4, 2, 1, 2)
    assert "Of 2 test questions, 1 (50.0%) share their template" in str(overlap)
