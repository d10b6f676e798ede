"""LangSmith tracing, which is on only if TEXT2SQL_LANGSMITH enables it.

LangChain traces every graph, rows included, when LANGSMITH_TRACING is set, and that variable is often set for another
program. So tracing is off unless our own setting opts in; LangSmith's variables then say where traces go. In the
privacy modes `masked` and `schema`, a trace has the steps and their times, but no inputs and outputs.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from agent.config import PrivacySettings


def steps_are_heard(privacy: PrivacySettings) -> bool:
    """Whether LangSmith, or the handlers of a LangChain run around this one, hear of a run's inner steps."""
    around = sys.modules.get("langchain_core.runnables.config")
    config = around.var_child_runnable_config.get() if around is not None else None
    return privacy.langsmith or bool(config and config.get("callbacks"))


@contextlib.contextmanager
def langsmith_tracing(privacy: PrivacySettings) -> Iterator[None]:
    """Bracket the code that LangChain may trace. Imports langsmith, which LangGraph has already imported."""
    from langsmith.run_helpers import tracing_context

    if not privacy.langsmith:
        with tracing_context(enabled=False):
            yield
        return
    from langchain_core.tracers.context import tracing_v2_callback_var
    from langchain_core.tracers.langchain import LangChainTracer
    from langsmith import Client

    hidden = privacy.mode != "full"
    client = Client(hide_inputs=hidden, hide_outputs=hidden, hide_metadata=hidden)
    token = tracing_v2_callback_var.set(LangChainTracer(client=client))
    try:
        with tracing_context(enabled=True):
            yield
    finally:
        tracing_v2_callback_var.reset(token)
        client.flush()
