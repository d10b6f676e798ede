"""Rows, steps and answers as a person reads them: what is missing, what was cut, and nothing that steers a terminal."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from agent.cli.console import PIPE_WIDTH
from agent.cli.report import rows_shown, rows_table, show_answer
from agent.cli.steps import Steps
from agent.events import NodeEvent, QueryResultEvent, StepEvent, StepInfo
from agent.runner import Answer
from agent.state import Analysis, EvalReport, Evidence, QueryPlan, QueryResult, QueryTask, Relevance
from tests.pairs import rows


class Screen:
    """A console and what has been printed on it."""

    def __init__(self, *, terminal: bool = False, width: int = 100) -> None:
        self._buffer = io.StringIO()
        self.console = Console(
            file=self._buffer,
            force_terminal=terminal,
            width=width if terminal else PIPE_WIDTH,
            color_system="standard" if terminal else None,
            markup=False,
            highlight=False,
            emoji=False,
        )

    @property
    def text(self) -> str:
        return self._buffer.getvalue()

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.text.splitlines()]


@pytest.fixture
def pipe() -> Screen:
    return Screen()


@pytest.fixture
def terminal() -> Screen:
    return Screen(terminal=True)


def attempt(sql: str, number: int = 1, score: float = 0.91, **more: object) -> QueryResult:
    evidence = [
        Evidence(name="executes", supports=True, weight=0.5, text="It runs."),
        Evidence(name="shape", supports=False, weight=-1.5, text="Three rows where one was expected."),
        Evidence(name="size", supports=None, weight=0.0, text="The table has 12 rows."),
    ]
    report = EvalReport(
        overall=score,
        overall_before_relevance=score,
        dimensions={"correctness": 0.88, "best_practices": 0.7},
        relevance=Relevance(score=0.75, reasoning="The rows name customers."),
        analysis=Analysis(notes={"best_practices": "No alias for the count."}, evidence=evidence),
    )
    values: dict[str, object] = {"status": "success", "eval_report": report, "rows_returned": 1, **more}
    return QueryResult.model_validate({"task_id": "t1", "attempt": number, "sql": sql, "score": score, **values})


def printed(screen: Screen, columns: list[str], rows: list[list[object]]) -> list[str]:
    screen.console.print(rows_table(screen.console, columns, rows))
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in screen.lines]


@pytest.mark.parametrize(("value", "shown"), rows("kinds/cells.jsonl"))
def test_a_cell_is_shown_as_it_is(pipe: Screen, value: object, shown: str) -> None:
    assert printed(pipe, ["a"], [[value]])[3].strip("| ") == shown


def test_escape_sequences_in_cells_and_names_are_shown_not_obeyed(terminal: Screen) -> None:
    printed(terminal, ["na\x1b[31mme"], [["\x1b]0;title\x07"], ["\x9b31m"], ["a\u202eb"], ["x\ry"], ["\ud800"]])

    ours = re.sub(r"\x1b\[[0-9;]*m", "", terminal.text)
    assert "na\\x1b[31mme" in ours
    assert "\\x1b]0;title\\x07" in ours
    assert "\\x9b31m" in ours
    assert "a\\u202eb" in ours
    assert "x\\x0dy" in ours
    assert "\\ud800" in ours
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800]", ours)


def test_columns_that_do_not_fit_become_blocks_and_a_number_is_never_cut_short() -> None:
    narrow = Screen(terminal=True, width=60)

    lines = printed(narrow, [f"column_{n}" for n in range(20)], [list(range(20)), list(range(20, 40))])

    assert lines[0] == "─ row 1 ─"
    assert "column_3   3" in lines
    assert "─ row 2 ─" in lines
    assert "column_19  39" in lines

    narrow = Screen(terminal=True, width=40)

    text = "\n".join(printed(narrow, ["name", "amount"], [["a long name that must give way to it", 123456789012345]]))

    assert "123456789012345" in text
    assert max(len(line) for line in text.splitlines()) <= 40


@pytest.mark.parametrize(("shown", "returned", "truncated", "text"), rows("kinds/row_counts.jsonl"))
def test_the_line_under_the_table_says_what_is_missing(shown: int, returned: int, truncated: bool, text: str) -> None:
    assert rows_shown(shown, returned, truncated) == text


def test_tools_are_lines_and_a_hostile_text_stays_one_line(pipe: Screen) -> None:
    info = StepInfo(
        task_id="t", attempt=1, number=1, tool="generate_sql", sql="SELECT 1\nFROM a", ok=True, elapsed_ms=1
    )
    bad = info.model_copy(update={"tool": "run\x1b[2J", "sql": "", "ok": False, "observation": "not allowed now"})
    with Steps(pipe.console) as steps:
        steps.show(StepEvent(data=info))
        steps.show(StepEvent(data=bad))
        steps.show(QueryResultEvent(data=attempt("x", status="error", error="a\x1b[2J\nb" * 100)))
        steps.show(NodeEvent(node="executor_eval", status="done", elapsed_ms=1))

    assert pipe.lines[:2] == ["· generate_sql · SELECT 1 FROM a", "✗ run\\x1b[2J · not allowed now"]
    (line,) = pipe.lines[2:]
    assert "\x1b" not in pipe.text
    assert len(line) < 200


def test_a_step_that_went_on_without_its_model_is_not_ticked(pipe: Screen) -> None:
    with Steps(pipe.console) as steps:
        steps.show(NodeEvent(node="planner", status="running"))
        why = "no usable plan, so the question is one task: The model sent nothing for 120 seconds."
        steps.show(NodeEvent(node="planner", status="done", elapsed_ms=120_000, problem=why))
    assert pipe.text.splitlines() == [f"! planned · 120.0 s · {why}"]


def test_text_of_a_model_cannot_steer_the_terminal(terminal: Screen) -> None:
    answer = Answer(
        question="?",
        status="success",
        sql="SELECT '\x1b[2J'",
        answer="see \x1b]8;;http://evil.example\x07here\x1b]8;;\x07 [a link](http://evil.example) \x9b2J",
        reason="\x1b[2J",
        alternatives=["\x1b[2J"],
        attempts=[attempt("SELECT '\x1b[2J'")],
    )
    show_answer(terminal.console, answer, explain=True)

    without_colours = re.sub(r"\x1b\[[0-9;]*m", "", terminal.text)
    assert "\x1b" not in without_colours
    assert "\x9b" not in without_colours
    assert "\x07" not in without_colours


def test_explaining_shows_plan_attempts_dimensions_and_evidence(pipe: Screen) -> None:
    failed: dict[str, Any] = {
        "status": "error",
        "error": "no such table: custmers",
        "retry_category": "execution_error",
    }
    first = attempt("SELECT COUNT(*) AS n FROM custmers", score=0.2, **failed)
    second = attempt("SELECT COUNT(*) AS n FROM customers", number=2)
    task = QueryTask(id="t1", description="count the customers")
    plan = QueryPlan(plan_type="single", confidence=0.9, tasks=[task])

    answer = Answer(question="?", status="success", sql=second.sql, attempts=[first, second], plan=plan)
    show_answer(pipe.console, answer, explain=True)

    text = pipe.text
    assert "  t1: count the customers" in text
    assert "  t1.1: error, tried again: execution_error" in text
    assert "no such table: custmers" in text
    assert "[-custmers-] {+customers+}" in text
    assert "  correctness       ██████████████████░░ 0.88\n" in text
    assert "No alias for the count." in text
    assert "The rows name customers." in text
    assert text.index("- Three rows where one was expected.") < text.index("+ It runs.") < text.index("· The table has")
