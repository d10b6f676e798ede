"""`/terms`: what words mean in a database, taught where one stands."""

from __future__ import annotations

import asyncio
import secrets
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from agent.inspection.memory import term_problem
from agent.server.access import CurrentClient
from agent.server.errors import ApiError, required
from agent.server.kept import database_of
from agent.server.replies import Reply
from agent.server.routes.answers import refusals
from agent.server.services import CurrentServices
from agent.store.records import TermRecord

router = APIRouter(tags=["knowledge"])

TermId = Annotated[str, Path(max_length=200)]


class TermIn(BaseModel):
    preset: str = Field(max_length=200)
    term: str = Field(min_length=1, max_length=100)
    means: str = Field(min_length=1, max_length=1_000)
    """A table, `table.column`, or a condition with its columns written so."""


class TermReply(Reply):
    term_id: str
    term: str
    means: str
    created: datetime


@router.get("/terms", responses=refusals())
async def terms(
    services: CurrentServices, client: CurrentClient, preset: Annotated[str, Query(max_length=200)]
) -> list[TermReply]:
    """The words that you taught for a database, the latest first."""
    records = await services.store.terms(client.owner, preset, rights=client.rights)
    return [TermReply.of(record) for record in records]


@router.post("/terms", status_code=201, responses=refusals(404, 409))
async def teach(services: CurrentServices, client: CurrentClient, asked: TermIn) -> TermReply:
    """Say what a word means: a table, a column, or a condition. Your later questions on this database use it."""
    database = await database_of(services, client, asked.preset)
    wrong = await asyncio.to_thread(term_problem, asked.term, asked.means, database)
    if wrong:
        raise ApiError(409, wrong, "bad_request")  # asking again would not help
    record = TermRecord(
        term_id=secrets.token_urlsafe(12),
        owner=client.owner,
        rights=client.rights,
        preset=asked.preset,
        term=asked.term.strip(),
        means=asked.means.strip(),
        created=datetime.now(UTC),
    )
    await services.store.teach(record)
    return TermReply.of(record)


@router.delete("/terms/{term_id}", status_code=204, responses=refusals(404))
async def forget(services: CurrentServices, client: CurrentClient, term_id: TermId) -> None:
    """Forget a word that you taught."""
    required(await services.store.forget(client.owner, term_id), "term")
