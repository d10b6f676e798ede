"""The agent's JSON-RPC endpoint and its card; `eval.a2a.jsonrpc` has the protocol.

In: settings, and the public URL of the endpoint. Out: Starlette routes, and a function that stops their tasks.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.a2a.card import agent_card
from agent.a2a.executor import SqlExecutor
from agent.a2a.shared_tasks import Place, SharedEvents, SharedTasks
from agent.config import Settings
from agent.models.protocol import Model
from agent.server.middleware.tokens import tokens_needed
from eval.a2a.jsonrpc import RecentTasks, RpcRoutes, served


def rpc_routes(
    config: Settings,
    card_url: str,
    *,
    path: str = "/",
    also_at: tuple[str, ...] = (),
    model: Model | None = None,
    place: Callable[[], Place] | None = None,
) -> RpcRoutes:
    """The endpoint at `path` and `also_at`, and the card that says `card_url`. Tasks belong to the authenticated client
    (`request.scope["state"]["client"].name`); without one, all tasks share one owner. `place`: where all processes of
    the server keep tasks; None: in the memory of this one. Raises CardUrlUnusable."""
    card = agent_card(card_url, bearer_token=tokens_needed(config.server))
    if place is None:
        store = RecentTasks()
        return served(SqlExecutor(config, store, model), card, store, path=path, also_at=also_at)
    shared = SharedTasks(place)
    executor = SqlExecutor(config, shared, model)
    shared.cancelled_elsewhere = executor.cancelled_elsewhere
    return served(executor, card, shared, stream=SharedEvents(place), path=path, also_at=also_at)
