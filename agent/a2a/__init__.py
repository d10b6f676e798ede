"""The agent-to-agent interface: tasks that bring their own schema, over plain REST and over A2A's JSON-RPC.

`rest_router` and `rpc_routes` are mounted by a server with its own access control; `build_app` is the standalone app
behind `python -m agent.a2a`. None of them authenticates callers. Importing this package loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.a2a.app import build_app
    from agent.a2a.rest import rest_router
    from agent.a2a.rpc import RpcRoutes, rpc_routes

__all__ = ["RpcRoutes", "build_app", "rest_router", "rpc_routes"]

_ROOMS = {"RpcRoutes": "rpc", "build_app": "app", "rest_router": "rest", "rpc_routes": "rpc"}


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"agent.a2a.{_ROOMS[name]}"), name)
