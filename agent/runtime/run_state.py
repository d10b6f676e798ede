"""The state of a run inside LangGraph, in a module of its own: `langgraph dev` loads `agent/graph.py` as a file, whose
annotations nobody could look up."""

from __future__ import annotations

from typing import Annotated, Any

from langgraph.channels import UntrackedValue

from agent.state import AgentState


class RunState(AgentState, total=False):
    context: Annotated[Any, UntrackedValue]
    """The `RunContext` of this run, never stored; in a function, so that no tracer takes it apart."""
