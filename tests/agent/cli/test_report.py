"""The end of a question: what stands on standard output."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.cli.report import show_answer
from agent.runner import Answer
from tests.agent.cli.conftest import Screen, attempt

Make = Callable[..., Answer]


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
