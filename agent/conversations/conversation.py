"""A conversation: one thread of questions, each of which may lean on those before it.

In: a thread's id and the checkpointer that keeps it. Out, for the runner: the graph compiled for that checkpointer
(once a process), the state with which a turn begins, and whether the thread waits for an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent.state import Clarification, Clarified, Turn

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

    Graph = CompiledStateGraph[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Pass it to `agent.runner` with each question of the thread."""

    thread_id: str
    """Known to its owner alone; whoever hands it over has checked that."""
    checkpointer: BaseCheckpointSaver[Any] = field(repr=False)
    may_ask: bool = True
    """Whether somebody is there to answer a question asked back."""
    turn: int | None = None
    """The number of this question, where the caller counts them; None: one more than the last."""
    before: int | None = None
    """For a question that is asked again: only the turns before this number are its history."""


@dataclass(frozen=True, slots=True)
class ThreadState:
    """Where a thread stands between two questions."""

    turn: int = 0
    """The number of the last question."""
    waiting: Clarification | None = None
    """What was asked back and is not answered yet."""
    question: str = ""
    """The last question."""
    clarified: Clarified | None = None
    """What was asked back about it, and what was said."""
    history: tuple[Turn, ...] = ()


@lru_cache(maxsize=8)
def graph_for(checkpointer: BaseCheckpointSaver[Any]) -> Graph:
    """The graph with this checkpointer, compiled on first use; the import alone takes a second."""
    from agent.graph import build_graph

    return build_graph(checkpointer)


def thread_config(thread_id: str) -> Any:
    return {"configurable": {"thread_id": thread_id}}


async def thread_state(graph: Graph, thread_id: str) -> ThreadState:
    """Where the thread stands; a thread that nobody has asked on yet stands at its beginning."""
    snapshot = await graph.aget_state(thread_config(thread_id))
    values = snapshot.values or {}
    waiting = Clarification.model_validate(snapshot.interrupts[0].value) if snapshot.interrupts else None
    return ThreadState(
        turn=values.get("turn") or 0,
        waiting=waiting,
        question=values.get("question") or "",
        clarified=values.get("clarified"),
        history=tuple(values.get("history") or ()),
    )


def fresh_turn(question: str, dialect: str, database: str, turn: int) -> dict[str, Any]:
    """The input that begins a turn: every channel but the history is as if there had been no turn before."""
    from langgraph.types import Overwrite

    return {
        "question": question,
        "dialect": dialect,
        "database": database,
        "turn": turn,
        "read_as": "",
        "clarification": None,
        "clarified": None,
        "plan": None,
        "current_task": None,
        "draft": None,
        "failure": None,
        "query_results": Overwrite([]),
        "retry_count": 0,
        "retry_feedback": "",
        "final_answer": "",
        "answer_relevance_score": 0.0,
    }
