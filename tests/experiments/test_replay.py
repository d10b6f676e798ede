"""Replaying recorded answers through the whole agent: the figures, and the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.config import Settings
from experiments.replay.__main__ import replay_questions
from experiments.replay.recorded import Attempt, Replayed, by_category, by_difficulty, tally
from tests.jsonl import write_lines
from tests.writing import sqlite_file

SHIPS = """
CREATE TABLE ships (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tons REAL NOT NULL);
INSERT INTO ships (name, tons) VALUES ('Ida', 4.5), ('Bo', 12.0), ('Ra', 30.0);
"""
QUESTIONS = [
    ("q1", "How many ships are there?", "easy", "SELECT COUNT(*) FROM ships"),
    ("q2", "Which ships weigh more than 10 tons?", "hard", "SELECT name FROM ships WHERE tons > 10"),
    ("q3", "What is the total weight of all ships?", "easy", "SELECT SUM(tons) FROM ships"),
]
ANSWERS = {
    "weak": ["SELECT COUNT(*) FROM ships", "SELECT name FROM boats WHERE tons > 10", "SELECT MAX(tons) FROM ship"],
    "strong": ["SELECT COUNT(id) FROM ships", QUESTIONS[1][3], "SELECT TOTAL(weight) FROM ships"],
}


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    folder = tmp_path / "harbour"
    (folder / "databases").mkdir(parents=True)
    sqlite_file(folder / "databases" / "port.sqlite", SHIPS)
    write_lines(
        folder / "questions.jsonl",
        [
            {"id": i, "db": "port", "question": text, "gold_sql": sql, "difficulty": level}
            for i, text, level, sql in QUESTIONS
        ],
    )
    return folder


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    folder = tmp_path / "recorded"
    folder.mkdir()
    write_lines(
        folder / "harbour.jsonl",
        [
            {"system": system, "id": question[0], "db": "port", "sql": sql}
            for system, given in ANSWERS.items()
            for question, sql in zip(QUESTIONS, given, strict=True)
        ],
    )
    return folder


def test_retries_get_the_next_system_and_the_figures_say_what_they_brought(bench: Path, recorded: Path) -> None:
    items = replay_questions(bench, recorded / "harbour.jsonl", ["weak", "strong"], Settings(_env_file=None))

    assert [i.id for i in items] == ["q1", "q2", "q3"]
    assert [[a.right for a in i.attempts] for i in items] == [[True], [False, True], [False, False, False]]
    assert [i.status for i in items] == ["success", "success", "error"]
    whole = tally(items)
    assert (whole.questions, whole.first_right, whole.final_right) == (3, 1, 2)
    assert (whole.repaired, whole.spoiled, whole.retries, whole.retried) == (1, 0, 3, 2)
    assert (whole.right_rejected, whole.wrong_passed) == (0, 0)
    assert by_category(items)["hallucination"].retries == 3
    assert by_category(items)["hallucination"].next_right == 1


def question(difficulty: str, *attempts: Attempt, final_right: bool, gold_ran: bool = True) -> Replayed:
    sql = attempts[-1].sql if attempts else ""
    return Replayed("i", "d", difficulty, gold_ran, attempts, sql, final_right, "success", "", 0.1)


def test_counts_are_over_all_questions_errors_and_bad_gold_included() -> None:
    right, wrong = Attempt("a", True, True, 0.9, None), Attempt("b", False, True, 0.8, None)
    rejected = Attempt("c", True, False, 0.5, "generic")
    items = [
        question("easy", right, final_right=True),
        question("extra", wrong, final_right=False),
        question("odd", rejected, wrong, final_right=False),
        question("easy", final_right=False, gold_ran=False),
    ]

    whole = tally(items)

    assert (whole.questions, whole.first_right, whole.final_right, whole.any_right) == (4, 2, 1, 2)
    assert (whole.repaired, whole.spoiled, whole.right_rejected, whole.wrong_passed) == (0, 1, 1, 1)
    assert (whole.gold_failed, whole.p) == (1, 1.0)
    assert list(by_difficulty(items)) == ["easy", "extra", "odd"]
    generic = by_category(items)["generic"]
    assert (generic.retries, generic.needless, generic.next_right) == (1, 1, 0)
