"""Writes SQL: an agent that answers questions about a database, and says how sure it is.

    from agent import ask
    answer = ask("Which cities have the most customers?")
    print(answer.sql, answer.rows, answer.score)

`ask` returns when the answer is there; `stream` is an async iterator of the events on the way; `run` is `ask` for
async code. Importing this package costs nothing: what a call needs is loaded by the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.api import ask
    from agent.runner import Answer, run, stream

__all__ = ["Answer", "ask", "run", "stream"]


def __getattr__(name: str) -> Any:
    if name == "ask":
        from agent.api import ask

        return ask
    if name in __all__:
        from agent import runner

        return getattr(runner, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
