"""Runs that LangChain traces, as its own variables or handlers around the run say, within the privacy mode.

A trace holds prompts and rows, so in the modes `masked` and `schema` LangSmith is off whatever its variables say.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from agent.config import PrivacySettings

_VARIABLES = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2")


def steps_are_heard(privacy: PrivacySettings) -> bool:
    """Whether LangSmith, or the handlers of a LangChain run around this one, hear of a run's inner steps."""
    around = sys.modules.get("langchain_core.runnables.config")
    config = around.var_child_runnable_config.get() if around is not None else None
    traced = privacy.mode == "full" and any(os.environ.get(name) == "true" for name in _VARIABLES)
    return traced or bool(config and config.get("callbacks"))


@contextlib.contextmanager
def within_privacy(privacy: PrivacySettings) -> Iterator[None]:
    """Bracket the code that LangChain may trace. Imports langsmith, which LangGraph has already imported."""
    if privacy.mode == "full":
        yield
        return
    from langsmith.run_helpers import tracing_context

    with tracing_context(enabled=False):
        yield
