"""Conversations: threads of questions that can refer to earlier ones, stored by LangGraph's checkpointer.

`checkpointer.open_checkpointer(settings)` opens the storage of threads. `Conversation(thread_id, checkpointer)` is
passed to `agent.runner` with each question. Importing this package is cheap: it loads nothing of LangGraph's.
"""

from agent.conversations.conversation import Conversation

__all__ = ["Conversation"]
