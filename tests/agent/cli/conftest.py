"""Consoles that write into memory, and answers to print on them."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from agent.cli.console import PIPE_WIDTH
from agent.runner import Answer, Tokens
from agent.state import Analysis, EvalReport, Evidence, QueryPlan, QueryResult, QueryTask, Relevance

DIMENSIONS = {
    "correctness": 0.88,
    "safety": 1.0,
    "efficiency": 0.9,
    "completeness": 1.0,
    "semantic_accuracy": 0.8,
    "best_practices": 0.7,
    "plan_quality": 0.9,
}


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
    report = EvalReport(
        overall=score,
        overall_before_relevance=score,
        dimensions=DIMENSIONS,
        relevance=Relevance(score=0.75, reasoning="The rows name customers."),
        analysis=Analysis(
            notes={"best_practices": "No alias for the count."},
            evidence=[
                Evidence(name="executes", supports=True, weight=0.5, text="It runs."),
                Evidence(name="shape", supports=False, weight=-1.5, text="Three rows where one was expected."),
                Evidence(name="size", supports=None, weight=0.0, text="The table has 12 rows."),
            ],
        ),
    )
    values: dict[str, object] = {
        "task_id": "t1",
        "attempt": number,
        "sql": sql,
        "score": score,
        "status": "success",
        "eval_report": report,
        "rows_returned": 1,
    }
    return QueryResult.model_validate(values | more)


@pytest.fixture
def make_answer() -> Callable[..., Answer]:
    def make(**more: object) -> Answer:
        values: dict[str, object] = {
            "question": "How many customers are there?",
            "status": "success",
            "sql": "SELECT COUNT(*) AS n FROM customers",
            "columns": ["n"],
            "rows": [[42]],
            "score": 0.91,
            "confidence": 0.88,
            "dimensions": DIMENSIONS,
            "answer": "There are **42** customers.",
            "attempts": [attempt("SELECT COUNT(*) AS n FROM customers")],
            "plan": QueryPlan(
                plan_type="single", confidence=0.9, tasks=[QueryTask(id="t1", description="count the customers")]
            ),
            "seconds": 0.25,
            "tokens": Tokens(),
            "model": "offline",
        }
        return Answer.model_validate(values | more)

    return make
