"""The agent's JSON-RPC endpoint and its card; `eval.a2a.serving` has the protocol.

In: settings, and the URL that others reach the endpoint by. Out: Starlette routes, and how to end what they started.
"""

from __future__ import annotations

from agent.a2a.card import agent_card
from agent.a2a.executor import SqlExecutor
from agent.config import Settings
from agent.models.protocol import Model
from eval.a2a.serving import RecentTasks, RpcRoutes, served

__all__ = ["RecentTasks", "RpcRoutes", "rpc_routes"]


def rpc_routes(config: Settings, card_url: str, *, path: str = "/", model: Model | None = None) -> RpcRoutes:
    """The endpoint at `path`, and the card that says `card_url`. Tasks belong to whom the server found to be asking
    (`request.scope["state"]["client"].name`); without that, all belong to one. Raises CardUrlUnusable."""
    return served(SqlExecutor(config, model), agent_card(card_url), path=path)
