"""The agent card: the agent's capabilities and its URL.

In: the URL under which others reach it. Out: the card. A wildcard address (`0.0.0.0`), which other machines cannot
call, is refused, because clients call the URL in the card.
"""

from __future__ import annotations

import json

from a2a.types.a2a_pb2 import AgentCard, AgentSkill

from eval.a2a.card import card
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
