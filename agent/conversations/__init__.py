"""Conversations: threads of questions that can refer to earlier ones, stored by LangGraph's checkpointer.

`open_checkpointer(settings)` opens the storage of threads. `Conversation(thread_id, checkpointer)` is passed to
`agent.runner` with each question. Importing this package is cheap: each call imports what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.conversations.conversation import Conversation

if TYPE_CHECKING:
    from agent.conversations.checkpointer import memory_checkpointer, open_checkpointer

__all__ = ["Conversation", "memory_checkpointer", "open_checkpointer"]


def __getattr__(name: str) -> Any:
    if name in ("memory_checkpointer", "open_checkpointer"):
        from agent.conversations import checkpointer

        return getattr(checkpointer, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
