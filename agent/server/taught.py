"""Keeps what a client teaches of a database, said or learned from a correction, and tells it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from agent.inspection.terms import told
from agent.server.access import Client
from agent.server.errors import ApiError
from agent.server.replies import TermReply
from agent.server.services import Services
from agent.state import Term
from agent.statements.corrections import learned
from agent.store.errors import TooMany
from agent.store.records import RunRecord, TermRecord
from eval.databases.types import DatabaseError
from eval.schema import Dialect


async def taught(
    services: Services, client: Client, preset: str, said: Sequence[Term], run_id: str = ""
) -> list[TermRecord]:
    """The terms, kept for the client. Raises StoreError."""
    records = [
        TermRecord(
            term_id=secrets.token_urlsafe(12),
            owner=client.owner,
            rights=client.rights,
            preset=preset,
            run_id=run_id,
            created=datetime.now(UTC),
            **dict(one),
        )
        for one in said
    ]
    await services.store.teach(*records)
    return records


def term_replies(records: Sequence[TermRecord], dialect: Dialect) -> list[TermReply]:
    return [TermReply(**record.model_dump(), told=told(record.said, dialect)) for record in records]


async def learned_from(services: Services, client: Client, record: RunRecord, corrected: str) -> list[TermReply]:
    """What the correction of a run changed in its query, or in the one that it would have asked, kept as a term.
    Nothing where the database is away. Raises StoreError."""
    attempts = (record.answer or {}).get("attempts") or [{}]
    guess = "" if record.sql else str(attempts[-1].get("guess") or "")
    try:
        database = await (await services.presets.find(client, record.preset)).database()
        term = await asyncio.to_thread(learned, record.question, record.sql, corrected, database, guess)
        kept = await taught(services, client, record.preset, [term] if term else [], record.run_id)
    except (ApiError, DatabaseError, TooMany):
        return []
    return term_replies(kept, database.dialect)
