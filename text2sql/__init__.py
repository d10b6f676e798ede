"""Ask a database a question in plain English: the SQL, the rows, the answer and how sure it is.

    from text2sql import ask
    answer = ask("Which cities have the most customers?")
    print(answer.sql, answer.rows, answer.score)

`ask` returns when the answer is there, `run` is `ask` for async code, and `stream` is an async iterator of the events
on the way. `Thread` is a conversation, `build_graph` the agent as a LangGraph. An `Answer` shows itself in a notebook.
`text2sql.errors` shows what can be raised, and `text2sql.testing` has a model for tests. Importing this package loads
nothing else: each name loads what it needs when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eval.version import VERSION

if TYPE_CHECKING:
    from agent.graph import build_graph
    from agent.runner import stream
    from agent.state import Turn
    from text2sql import errors, testing
    from text2sql.answer import Answer
    from text2sql.questions import ask, run
    from text2sql.thread import Thread

__version__ = VERSION

__all__ = ["Answer", "Thread", "Turn", "__version__", "ask", "build_graph", "errors", "run", "stream", "testing"]

_MODULES = {
    "Answer": "text2sql.answer",
    "Thread": "text2sql.thread",
    "Turn": "agent.state",
    "ask": "text2sql.questions",
    "build_graph": "agent.graph",
    "run": "text2sql.questions",
    "stream": "agent.runner",
}


def __getattr__(name: str) -> Any:
    if name in ("errors", "testing"):
        return import_module(f"text2sql.{name}")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
