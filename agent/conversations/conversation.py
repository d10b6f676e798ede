"""A conversation: one thread of questions, each of which can refer to the ones before it.

In: a thread's id and the checkpointer that stores it. Out, for the runner: the graph compiled for that checkpointer
(once per process), the initial state of a turn, and whether the thread waits for an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent.state import Clarification, Clarified, Turn

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

    from eval.databases.base import Database

    Graph = CompiledStateGraph[Any, Any, Any, Any]


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


@dataclass(frozen=True, slots=True)
class ThreadState:
    """Where a thread stands between two questions."""

    turn: int = 0
    """The number of the last question."""
    waiting: Clarification | None = None
    """The clarification that is not answered yet."""
    question: str = ""
    """The last question."""
    next_step: str = ""
    """Of a run that was interrupted: the first step that it did not end."""
    clarified: Clarified | None = None
    """The clarification about it, with the user's reply."""
    history: tuple[Turn, ...] = ()


@lru_cache(maxsize=8)
def graph_for(checkpointer: BaseCheckpointSaver[Any]) -> Graph:
    """The graph with this checkpointer, compiled on first use; the import alone takes a second."""
    from agent.graph import build_graph

    return build_graph(checkpointer=checkpointer)


def thread_config(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id}}


async def thread_state(graph: Graph, thread_id: str) -> ThreadState:
    """The thread's current state; a thread without questions is at its beginning."""
    snapshot = await graph.aget_state(thread_config(thread_id))
    values = snapshot.values or {}
    waiting = Clarification.model_validate(snapshot.interrupts[0].value) if snapshot.interrupts else None
    return ThreadState(
        turn=values.get("turn") or 0,
        waiting=waiting,
        question=values.get("question") or "",
        next_step=snapshot.next[0] if snapshot.next and not snapshot.interrupts else "",
        clarified=values.get("clarified"),
        history=tuple(values.get("history") or ()),
    )


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
