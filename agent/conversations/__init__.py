"""Conversations: threads of questions that lean on each other, kept by LangGraph's checkpointer.

`open_checkpointer(settings)` opens where threads live; `Conversation(thread_id, checkpointer)` goes with each question
to `agent.runner`. Importing this package costs nothing: what a call needs is loaded by the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.conversations.conversation import Conversation

if TYPE_CHECKING:
    from agent.conversations.checkpointing import memory_checkpointer, open_checkpointer

__all__ = ["Conversation", "memory_checkpointer", "open_checkpointer"]


def __getattr__(name: str) -> Any:
    if name in ("memory_checkpointer", "open_checkpointer"):
        from agent.conversations import checkpointing

        return getattr(checkpointing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
