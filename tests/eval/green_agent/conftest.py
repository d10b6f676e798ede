"""A running evaluator on loopback, over a small task set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("a2a")

from eval.green_agent.app import build_app
from eval.green_agent.assessment_run import Evaluator, Source
from tests import asgi_server
from tests.eval.assessment.conftest import golds, place

__all__ = ["KEYS", "evaluator", "golds", "place"]

KEYS = frozenset(
    {"assessment_id", "completed_at", "config", "rankings", "participants", "task_comparison", "error_metrics_summary"}
)
"""Of an assessment of several agents."""


@pytest.fixture(scope="module")
def evaluator(place: Path) -> Iterator[str]:
    """The base URL of an evaluator over the tasks of `place`."""
    source = Source(str(place / "tasks.jsonl"))
    with asgi_server.serving(lambda url: build_app(Evaluator(source), url)) as url:
        yield url
