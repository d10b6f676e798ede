"""The lines shown while a question runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.cli.steps import Steps
from agent.events import (
    Event,
    NodeEvent,
    PlanEvent,
    ProgressEvent,
    ProgressInfo,
    QueryResultEvent,
    RetryEvent,
    RetryInfo,
    SchemaEvent,
    SchemaInfo,
    StepEvent,
    StepInfo,
    TokenEvent,
)
from agent.state import QueryPlan, QueryTask
from tests.agent.cli.conftest import Screen, attempt


def events() -> Iterator[Event]:
    schema = SchemaInfo(dialect="sqlite", database="shop", tables=8, columns=60, fingerprint="f")
    plan = QueryPlan(plan_type="single", confidence=0.9, tasks=[QueryTask(id="t1", description="count")])
    failed = attempt("SELECT x", score=0.2, status="error", error="no such column: x", rows_returned=0)
    yield NodeEvent(node="schema_analyzer", status="running")
    yield SchemaEvent(data=schema)
    yield NodeEvent(node="schema_analyzer", status="done", elapsed_ms=12.3)
    yield NodeEvent(node="planner", status="running")
    yield PlanEvent(data=plan)
    yield NodeEvent(node="planner", status="done", elapsed_ms=3.21)
    yield NodeEvent(node="set_first_task", status="running")
    yield NodeEvent(node="set_first_task", status="done", elapsed_ms=0.1)
    for number, result in ((1, failed), (2, attempt("SELECT y", number=2, rows_returned=1200, verdict="passes"))):
        yield NodeEvent(node="query_generator", status="running", task_id="t1", attempt=number)
        yield NodeEvent(node="query_generator", status="done", elapsed_ms=2100, task_id="t1", attempt=number)
        yield NodeEvent(node="executor_eval", status="running", task_id="t1", attempt=number)
        yield QueryResultEvent(data=result)
        yield NodeEvent(node="executor_eval", status="done", elapsed_ms=40, task_id="t1", attempt=number)
        if number == 1:
            retry = RetryInfo(task_id="t1", attempt=2, category="execution_error", feedback="The database\nsays: no")
            yield RetryEvent(data=retry)
    yield NodeEvent(node="summarizer", status="running")
    yield TokenEvent(data="Here it is.")
    yield NodeEvent(node="summarizer", status="done", elapsed_ms=5)


def shown(steps: Steps) -> None:
    with steps:
        steps.start()
        for event in events():
            steps.show(event)


def test_each_step_is_a_line_with_its_time_and_a_terminal_is_left_clean(pipe: Screen, terminal: Screen) -> None:
    shown(Steps(pipe.console))

    assert re.fullmatch(r"✓ started · [\d.]+ ms", pipe.lines[1])
    assert pipe.lines[:1] + pipe.lines[2:] == [
        "· starting",
        "✓ read the schema · 8 tables, 60 columns · 12 ms",
        "✓ planned · one query · 3.2 ms",
        "✓ wrote SQL · 2.1 s",
        "✗ ran and checked it · no such column: x · 40 ms",
        "↻ trying again, the database refused it: The database says: no",
        "✓ wrote SQL (attempt 2) · 2.1 s",
        "✓ ran and checked it (attempt 2) · 1,200 rows · passes · 40 ms",
        "✓ summed up · 5.0 ms",
    ]

    shown(Steps(terminal.console))

    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.text)
    assert "✓ read the schema · 8 tables, 60 columns · 12 ms" in text
    assert "↻ trying again, the database refused it" in text
    assert terminal.text.rstrip("\r\n").endswith("\x1b[?25h") or "\x1b[?25h" in terminal.text  # the cursor is back


def test_quiet_shows_nothing(pipe: Screen) -> None:
    shown(Steps(pipe.console, quiet=True))

    assert pipe.text == ""


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


def test_a_terminal_shows_how_much_was_written_and_a_pipe_does_not(terminal: Screen, pipe: Screen) -> None:
    for screen in (terminal, pipe):
        with Steps(screen.console) as steps:
            steps.show(NodeEvent(node="query_generator", status="running", task_id="t1", attempt=2))
            steps.show(ProgressEvent(data=ProgressInfo(node="query_generator", tokens=1084)))
            steps.show(NodeEvent(node="query_generator", status="done", elapsed_ms=9, task_id="t1", attempt=2))
    assert "writing SQL (attempt 2) · 1,084 tokens" in terminal.text
    assert pipe.lines == ["✓ wrote SQL (attempt 2) · 9.0 ms"]


def test_a_step_that_went_on_without_its_model_is_not_ticked(pipe: Screen) -> None:
    with Steps(pipe.console) as steps:
        steps.show(NodeEvent(node="planner", status="running"))
        why = "no usable plan, so the question is one task: The model sent nothing for 120 seconds."
        steps.show(NodeEvent(node="planner", status="done", elapsed_ms=120_000, problem=why))
    assert pipe.text.splitlines() == [f"! planned · 120.0 s · {why}"]
