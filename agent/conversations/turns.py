"""One turn of a conversation: a new question, or the answer to a clarification.

In: the user's text, the conversation, the run's context. Out: the state in which the turn ended, or the clarification
that it waits for. With a model, the thread is written after each step, so that a run whose process was killed can go
on with the step that it did not end; else once, when the turn ends.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent.conversations import Conversation, fresh_turn
from agent.events import ResumedEvent, ResumedInfo
from agent.models.calls import within_privacy
from agent.results import run_sql
from agent.runtime.context import RunContext
from agent.runtime.preparation import RunFailed
from agent.state import Clarification, Clarified, QueryResult, Turn

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.types import Durability

    Graph = CompiledStateGraph[Any, Any, Any, Any]


_NEVER_MIND = re.compile(
    r"(?:(?:no|ok|okay|oh|well|ah)[,.\s]+)?(?:never ?mind|forget (?:it|that|about it)|cancel(?: that| it)?|drop it|"
    r"skip (?:it|that)|nothing|none of (?:these|those|them))\b[\s,.;:!-]*",
    re.IGNORECASE,
)

_running: set[tuple[int, str]] = set()


@dataclass(frozen=True, slots=True)
class ThreadState:
    """Where a thread stands between two questions."""

    turn: int
    """The number of the last question."""
    waiting: Clarification | None
    """The clarification that is not answered yet."""
    question: str
    """The last question."""
    next_step: str
    """Of a run that was interrupted: the first step that it did not end."""
    clarified: Clarified | None
    """The clarification about it, with the user's reply."""
    history: tuple[Turn, ...]


@lru_cache(maxsize=8)
def _graph_for(checkpointer: BaseCheckpointSaver[Any]) -> Graph:
    """The graph with this checkpointer, compiled on first use; the import alone takes a second."""
    from agent.graph import build_graph

    return build_graph(checkpointer=checkpointer)


async def _thread_state(graph: Graph, config: Any) -> ThreadState:
    """The thread's current state; a thread without questions is at its beginning."""
    snapshot = await graph.aget_state(config)
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


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn of a conversation ended: with a state, waiting for an answer, or dropped by the user."""

    state: dict[str, Any]
    waiting: Clarification | None = None
    dropped: bool = False


async def take_turn(text: str, conversation: Conversation, context: RunContext, evidence: str = "") -> TurnEnd:
    """Run one turn. Raises RunFailed: `busy` while another turn of the thread runs in this process, `state` when the
    thread's state cannot be read or written."""
    key = (id(conversation.checkpointer), conversation.thread_id)
    if key in _running:
        raise RunFailed("busy", "Another question is still running on this thread. Wait for it, or cancel it.")
    _running.add(key)
    try:
        return await _turn_taken(text, conversation, context, evidence)
    except Exception as error:  # of the checkpointer's driver: the nodes themselves never raise such errors
        driver = type(error).__module__.partition(".")[0]
        if driver not in ("sqlite3", "psycopg", "psycopg_pool"):
            raise
        message = f"The state of this conversation could not be read or written ({type(error).__name__}). "
        raise RunFailed("state", message + "Its earlier turns are as they were; try again later.") from error
    finally:
        _running.discard(key)


async def _turn_taken(text: str, conversation: Conversation, context: RunContext, evidence: str) -> TurnEnd:
    from langgraph.types import Command

    started = time.perf_counter()
    if cold := "agent.graph" not in sys.modules:
        context.announce("schema_analyzer")  # importing the graph takes a second, so show progress first
    storage = conversation.checkpointer
    graph = await asyncio.to_thread(_graph_for, storage) if cold else _graph_for(storage)
    config: Any = {"configurable": {"thread_id": conversation.thread_id}}
    thread = await _thread_state(graph, config)
    turn = conversation.turn or thread.turn + 1
    context.may_ask = conversation.may_ask
    context.history_before = conversation.before
    given: Any
    answers = thread.waiting is not None and (conversation.before is None or conversation.before > thread.turn)
    if answers:
        if mind := _NEVER_MIND.match(text):
            await graph.aupdate_state(config, {"clarification": None}, as_node="summarizer")
            if not text[mind.end() :].strip():
                return TurnEnd({}, dropped=True)
            given = fresh_turn(text[mind.end() :].strip(), evidence, context.database, turn)
        else:
            given = Command(resume=text, update={"turn": turn})
            if cold:
                context.finished("schema_analyzer", round((time.perf_counter() - started) * 1000, 3))
    elif conversation.go_on and thread.next_step and (thread.turn, thread.question) == (conversation.before, text):
        context.emit(ResumedEvent(data=ResumedInfo(step=thread.next_step)))
        given = Command(update={"turn": turn})
    else:
        words, clarified = _asked_again(text, thread, conversation)
        given = fresh_turn(words, evidence, context.database, turn) | {"clarified": clarified}
    if not isinstance(given, Command):
        context.announce("schema_analyzer")
    with within_privacy(context.privacy):
        # a step without calls of a model is done again sooner than it is stored
        durability: Durability = "sync" if context.model.capabilities.remote else "exit"
        final = await graph.ainvoke(given, config, context=context, durability=durability)
    if thread.next_step and isinstance(given, Command):
        final["query_results"] = [await _with_rows(result, context) for result in final.get("query_results", [])]
    asked = final.pop("__interrupt__", None)
    return TurnEnd(final, Clarification.model_validate(asked[0].value) if asked else None)


async def _with_rows(result: QueryResult, context: RunContext) -> QueryResult:
    """A result whose rows were cut when it was stored, with its rows."""
    if len(result.data) >= result.rows_returned or not context.execute:
        return result
    outcome = await run_sql(
        context.database, result.sql, limits=context.statement_limits(), schema_ttl=context.schema_ttl
    )
    return result.model_copy(update={"data": outcome.rows}) if outcome.status == "success" else result


def _asked_again(text: str, thread: ThreadState, conversation: Conversation) -> tuple[str, Clarified | None]:
    """The question to run, with the reply to a clarification. The reply has no meaning by itself. When it is asked
    again, it stands for the question that it clarified, or, if that turn never ended, for question and reply
    together."""
    if conversation.before is None:
        return text, None
    ended = next((turn for turn in thread.history if turn.number == conversation.before), None)
    if ended is not None:
        return (ended.question if ended.clarified else text), None
    if thread.turn == conversation.before and thread.clarified and thread.clarified.reply == text:
        return thread.question, thread.clarified
    return text, None
