"""Conversations: threads of questions that can refer to earlier ones, stored by LangGraph's checkpointer.

`checkpointer.open_checkpointer(settings)` opens the storage of threads. `Conversation(thread_id, checkpointer)` is
passed to `agent.runner` with each question. Importing this package is cheap: it loads nothing of LangGraph's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from eval.databases.base import Database


@dataclass(frozen=True, slots=True)
class Conversation:
    """Pass it to `agent.runner` with each question of the thread."""

    thread_id: str
    """Known only to its owner; the caller has checked the ownership."""
    checkpointer: BaseCheckpointSaver[Any] = field(repr=False)
    may_ask: bool = True
    """Whether a user is present to answer a clarification."""
    turn: int | None = None
    """The number of this question, if the caller counts them; None: one more than the last."""
    before: int | None = None
    """For a question that is asked again: only the turns before this number are its history."""
    go_on: bool = False
    """With `before`: the run of that turn was interrupted; the steps that it ended are not done again."""


def fresh_turn(question: str, evidence: str, database: Database, turn: int) -> dict[str, Any]:
    """The input that starts a turn; the graph's first step resets what the previous turn left in the thread."""
    return {
        "question": question,
        "evidence": evidence,
        "dialect": database.dialect,
        "database": database.url,
        "turn": turn,
        "clarified": None,
    }
