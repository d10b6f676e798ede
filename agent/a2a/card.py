"""The agent card: what this agent can do and where it is reached.

In: the URL under which others reach it. Out: the card. A URL that only this machine would understand as itself
(`0.0.0.0`) is refused, because clients call what the card says.
"""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version

from a2a.types.a2a_pb2 import AgentCard, AgentSkill

from eval.a2a.card import card
from eval.a2a.card_url import CardUrlUnusable, checked_card_url, everywhere
from eval.schema import DIALECTS

__all__ = ["EXAMPLE", "CardUrlUnusable", "agent_card", "checked_card_url", "everywhere"]

EXAMPLE = {
    "task_id": "t1",
    "question": "How many customers are there?",
    "schema": {"tables": {"customers": {"columns": [{"name": "id", "type": "INTEGER", "primary_key": True}]}}},
    "dialect": "sqlite",
}
"""A whole task, as the card shows it."""


def agent_card(url: str) -> AgentCard:
    """The card of this agent at that URL. Raises CardUrlUnusable."""
    return card(
        url,
        name="text2sql",
        description=(
            "Writes one read-only SQL query for a question in plain words about a database whose structure comes with "
            "the question. The query is checked on an empty database of that structure before it is handed out."
        ),
        version=_version(),
        skill=AgentSkill(
            id="text-to-sql",
            name="Text to SQL",
            description=(
                "A task is JSON in a data part or a text part: question, schema (tables with their columns) and "
                f"dialect ({', '.join(DIALECTS)}). The answer is JSON in one text part: sql and reasoning, or an "
                "empty sql and error; task_id is echoed."
            ),
            tags=["sql", "text-to-sql", "database", *DIALECTS],
            examples=[json.dumps(EXAMPLE)],
        ),
    )


def _version() -> str:
    try:
        return version("text2sql")
    except PackageNotFoundError:
        return "0"
