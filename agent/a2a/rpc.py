"""The agent's JSON-RPC endpoint and its card; `eval.a2a.jsonrpc` has the protocol.

In: settings, and the public URL of the endpoint. Out: Starlette routes, and a function that stops their tasks.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from a2a.types.a2a_pb2 import AgentCard, AgentSkill

from agent.a2a.executor import SqlExecutor
from agent.a2a.shared_tasks import Place, SharedEvents, SharedTasks
from agent.config import Settings
from agent.models.protocol import Model
from agent.server.middleware.tokens import tokens_needed
from eval.a2a.jsonrpc import RecentTasks, RpcRoutes, card, served
from eval.schema import ALL_DIALECTS
from eval.version import VERSION

EXAMPLE = {
    "task_id": "t1",
    "question": "How many customers are there?",
    "schema": {"tables": {"customers": {"columns": [{"name": "id", "type": "INTEGER", "primary_key": True}]}}},
    "dialect": "sqlite",
}
"""A whole task, as the card shows it."""


def agent_card(url: str, *, bearer_token: bool = False) -> AgentCard:
    """The card of this agent at that URL; `bearer_token`: whether clients need one. Raises CardUrlUnusable."""
    return card(
        url,
        name="text2sql",
        description=(
            "Writes one read-only SQL query for a question in plain words about a database whose structure comes with "
            "the question. The query is checked on an empty database of that structure before it is handed out."
        ),
        version=VERSION,
        bearer_token=bearer_token,
        skill=AgentSkill(
            id="text-to-sql",
            name="Text to SQL",
            description=(
                "A task is JSON in a data part or a text part: question, schema (tables with their columns) and "
                f"dialect ({', '.join(ALL_DIALECTS)}). The answer is JSON in one text part: sql and reasoning, or an "
                "empty sql and error; task_id is echoed."
            ),
            tags=["sql", "text-to-sql", "database", *ALL_DIALECTS],
            examples=[json.dumps(EXAMPLE)],
        ),
    )


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
    own_card = agent_card(card_url, bearer_token=tokens_needed(config.server))
    if place is None:
        store = RecentTasks()
        return served(SqlExecutor(config, store, model), own_card, store, path=path, also_at=also_at)
    shared = SharedTasks(place)
    executor = SqlExecutor(config, shared, model)
    shared.cancelled_elsewhere = executor.cancelled_elsewhere
    return served(executor, own_card, shared, stream=SharedEvents(place), path=path, also_at=also_at)
