"""No word is ignored: a qualifier is sought in the data, and a word that finds no meaning is named."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from agent.knowledge.values import value_index
from agent.parser import Reading, read
from agent.parser.execution_probe import looker
from agent.runtime.probability import STATED_DOUBT
from eval.databases import Database, open_database
from experiments.parser.inserted_words import words
from tests.asked import Asked

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
PLAIN = (
    "how many members are from bonn",
    "total amount of the invoices per city",
    "which course has the most enrolments",
    "average price of the courses by room",
    "members without enrolments",
)


def _read(database: Database, question: str) -> Reading:
    schema = database.schema()
    return read(question, schema, value_index(database, schema), look=looker(database), threshold=0.0)


def _sure_with_a_word_left_out(database: Database, questions: list[str], step: int = 1) -> list[tuple[str, object]]:
    """The readings that leave a content word out and still have confidence: of the questions as they are, and of each
    `step`-th one with an invented adjective, noun or verb put somewhere into it."""
    wrong: list[tuple[str, object]] = []
    for number, question in enumerate(dict.fromkeys(questions)):
        reading = _read(database, question)
        left_out = reading.not_understood or reading.features.get("words left out")
        if left_out and reading.confidence >= STATED_DOUBT:
            wrong.append((question, reading.not_understood))
        if number % step:
            continue
        changed = _with_invented_word(question)
        reading = _read(database, changed)
        if reading.confidence >= STATED_DOUBT:
            wrong.append((changed, reading.not_understood))
    return wrong


INVENTED = ("blorptious", "thrapsively", "drumbled", "vorplings", "zinguatic")


def _with_invented_word(question: str) -> str:
    chance = random.Random(question)
    words = question.split()
    words.insert(chance.randrange(len(words) + 1), chance.choice(INVENTED))
    return " ".join(words)


@pytest.mark.parametrize("name", ["shop", "enterprise"])
def test_no_demo_question_is_read_with_confidence_while_a_word_is_left_out(name: str) -> None:
    from agent.runtime.catalogue import resolve_database

    lines = (FIXTURES / f"demo_questions_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    with open_database(resolve_database(name).url) as database:
        assert _sure_with_a_word_left_out(database, [json.loads(line)["question"] for line in lines]) == []


def test_hardly_an_inserted_word_is_passed_over(everyday: Asked) -> None:
    """With one more content word, a sure reading changes its statement or is no longer sure."""
    draw = random.Random(28)
    inserted = draw.sample(words(28), 60)
    passed = []
    for question in PLAIN:
        first = everyday.reading("studio", question)
        assert first.confidence >= STATED_DOUBT, question
        for word in inserted:
            text = question.split()
            text.insert(draw.randint(1, len(text)), word)
            other = everyday.reading("studio", " ".join(text))
            if other.confidence >= STATED_DOUBT and other.sql == first.sql:
                passed.append(" ".join(text))
    assert len(passed) <= 0.01 * len(PLAIN) * len(inserted), passed
