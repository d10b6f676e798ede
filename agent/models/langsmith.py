"""LangSmith tracing, which is on only if TEXT2SQL_LANGSMITH enables it.

LangChain traces every graph, rows included, when LANGSMITH_TRACING is set, and that variable is often set for another
program. So tracing is off unless our own setting opts in; LangSmith's variables then say where traces go. In the
privacy modes `masked` and `schema`, a trace has the steps and their times, but no inputs and outputs. Traces leave in
threads of their own, which hold up neither the event loop nor, for more than a moment, the end of the process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from agent.config import PrivacySettings

if TYPE_CHECKING:
    from langsmith import Client

LAST_SECONDS = 3.0
"""How long the end of the process waits for traces that have not left yet."""

_leaving: set[threading.Thread] = set()


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

    own = tuple(sorted(item for item in os.environ.items() if item[0].startswith(("LANGSMITH_", "LANGCHAIN_"))))
    client = _client(privacy.mode != "full", own)
    token = tracing_v2_callback_var.set(LangChainTracer(client=client))
    try:
        with tracing_context(enabled=True):
            yield
    finally:
        tracing_v2_callback_var.reset(token)
        _send(client)


@lru_cache(maxsize=8)
def _client(hidden: bool, _variables: tuple[tuple[str, str], ...]) -> Client:
    """One client for all runs under the same variables: each client has threads of its own."""
    from langsmith import Client, utils

    # Without daemon threads, a server that does not answer keeps the process from ending.
    os.environ.setdefault("LANGSMITH_USE_DAEMON", "true")
    utils.get_env_var.cache_clear()  # type: ignore[attr-defined]  # it is cached, but its overloads hide that
    atexit.unregister(traces_left)
    atexit.register(traces_left, LAST_SECONDS)
    return Client(hide_inputs=hidden, hide_outputs=hidden, hide_metadata=hidden)


def _send(client: Client) -> None:
    """Let what was traced leave. A daemon thread, because a server that does not answer would keep the process."""

    def flush() -> None:
        try:
            client.flush()
        finally:
            _leaving.discard(threading.current_thread())

    thread = threading.Thread(target=flush, name="langsmith", daemon=True)
    _leaving.add(thread)
    thread.start()


def traces_left(seconds: float) -> bool:
    """Wait until all traces have left, at most so long; False if some have not."""
    end = time.monotonic() + seconds
    for thread in tuple(_leaving):
        thread.join(max(0.0, end - time.monotonic()))
    return not _leaving
