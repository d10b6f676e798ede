"""The end of a question: what stands on standard output."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.cli.report import changes, show_answer
from agent.runner import Answer, Tokens
from tests.agent.cli.conftest import Screen, attempt

Make = Callable[..., Answer]


def test_an_answer_shows_sql_rows_answer_and_how_sure(pipe: Screen, make_answer: Make) -> None:
    show_answer(pipe.console, make_answer())

    assert pipe.lines[0] == "SELECT COUNT(*) AS n FROM customers"
    assert "1 row" in pipe.lines
    assert "There are **42** customers." in pipe.lines
    assert pipe.lines[-1] == "How sure: very likely right. About 9 in 10 such answers are right."


def test_so_many_rows_are_shown_and_the_rest_is_counted(pipe: Screen, make_answer: Make) -> None:
    show_answer(pipe.console, make_answer(rows=[[n] for n in range(3401)]), rows=12)

    assert "12 of 3,401 rows shown" in pipe.lines
    assert "| 11 |" in pipe.lines
    assert "| 12 |" not in pipe.lines

    show_answer(pipe.console, make_answer(rows=[]))

    assert "0 rows" in pipe.lines


def test_text_of_a_model_cannot_steer_the_terminal(terminal: Screen, make_answer: Make) -> None:
    show_answer(
        terminal.console,
        make_answer(
            sql="SELECT '\x1b[2J'",
            answer="see \x1b]8;;http://evil.example\x07here\x1b]8;;\x07 [a link](http://evil.example) \x9b2J",
            reason="\x1b[2J",
            alternatives=["\x1b[2J"],
        ),
        explain=True,
    )

    without_colours = re.sub(r"\x1b\[[0-9;]*m", "", terminal.text)
    assert "\x1b" not in without_colours
    assert "\x9b" not in without_colours
    assert "\x07" not in without_colours


def test_explaining_shows_plan_attempts_dimensions_and_evidence(pipe: Screen, make_answer: Make) -> None:
    first = attempt(
        "SELECT COUNT(*) AS n FROM custmers",
        score=0.2,
        status="error",
        error="no such table: custmers",
        retry_category="execution_error",
    )
    second = attempt("SELECT COUNT(*) AS n FROM customers", number=2)

    show_answer(pipe.console, make_answer(attempts=[first, second]), explain=True)

    text = pipe.text
    assert "  t1: count the customers" in text
    assert "  t1.1: error, tried again: execution_error" in text
    assert "no such table: custmers" in text
    assert "[-custmers-] {+customers+}" in text
    assert "  correctness       ██████████████████░░ 0.88\n" in text
    assert "No alias for the count." in text
    assert "The rows name customers." in text
    assert text.index("- Three rows where one was expected.") < text.index("+ It runs.") < text.index("· The table has")


def test_explaining_says_what_was_spent(pipe: Screen, make_answer: Make) -> None:
    tokens = Tokens(input=1200, output=80, cached=1000, calls=4, cost_usd=None)

    show_answer(pipe.console, make_answer(tokens=tokens, model="gpt-5"), explain=True)

    assert "0.25 s · model gpt-5 · 4 model calls · 1,200 tokens in (1,000 cached), 80 out · cost unknown" in pipe.text


def test_changes_between_two_queries_word_by_word() -> None:
    assert changes("SELECT a FROM t", "SELECT b, c FROM t WHERE d = 1").plain == (
        "SELECT [-a-] {+b, c+} FROM t {+WHERE d = 1+}"
    )
