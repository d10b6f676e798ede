"""Every word counts: with one more content word, a sure reading changes its statement or is no longer sure."""

from __future__ import annotations

import random

from agent.runtime.probability import STATED_DOUBT
from experiments.parser.inserted_words import words
from tests.asked import Asked

QUESTIONS = (
    "how many members are from bonn",
    "total amount of the invoices per city",
    "which course has the most enrolments",
    "average price of the courses by room",
    "members without enrolments",
)
LEAST = 0.99


def test_hardly_a_word_is_passed_over(trades: Asked) -> None:
    draw = random.Random(28)
    inserted = draw.sample(words(28), 120)
    passed, tried = [], 0
    for question in QUESTIONS:
        first = trades.reading("studio", question)
        assert first.confidence >= STATED_DOUBT, question
        for word in inserted:
            text = question.split()
            text.insert(draw.randint(1, len(text)), word)
            other = trades.reading("studio", " ".join(text))
            tried += 1
            if other.confidence >= STATED_DOUBT and other.sql == first.sql:
                passed.append(" ".join(text))
    assert 1 - len(passed) / tried >= LEAST, passed
