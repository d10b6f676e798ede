"""The lines shown while a question runs."""

from __future__ import annotations

from agent.cli.steps import Steps
from agent.events import (
    NodeEvent,
    QueryResultEvent,
    StepEvent,
    StepInfo,
)
from tests.agent.cli.conftest import Screen, attempt


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
