"""`/terms`: what words and tables mean in a database, taught where one stands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, cast

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from agent.inspection.terms import Likely, Tried, exported, likely_meanings, term_problem, tried
from agent.server.access import Client, CurrentClient
from agent.server.errors import ApiError, required
from agent.server.kept import database_of
from agent.server.replies import TermReply
from agent.server.routes.answers import disposition, refusals
from agent.server.services import CurrentServices, Services
from agent.server.taught import taught, term_replies
from agent.state import LONGEST_MEANING, LONGEST_TERM, Term
from agent.store.records import TermRecord
from eval.databases.base import Database
from eval.schema import Dialect

router = APIRouter(tags=["knowledge"])

TermId = Annotated[str, Path(max_length=200)]
PresetName = Annotated[str, Query(max_length=200)]


class TermIn(Term):
    preset: str = Field(max_length=200)
    term: str = Field(min_length=1, max_length=LONGEST_TERM)
    means: str = Field(min_length=1, max_length=LONGEST_MEANING)

    @property
    def plain(self) -> Term:
        return Term(kind=self.kind, term=self.term.strip(), means=self.means.strip())


@router.get("/terms", responses=refusals(404))
async def terms(
    services: CurrentServices, client: CurrentClient, preset: PresetName, history: bool = False
) -> list[TermReply]:
    """What you taught for a database, the latest first; with `history`, what was forgotten, too."""
    records = await services.store.terms(client.owner, preset, rights=client.rights, history=history)
    if not records:
        return []
    return await _replies(services, client, records)


@router.post("/terms", status_code=201, responses=refusals(404, 409))
async def teach(services: CurrentServices, client: CurrentClient, asked: TermIn) -> TermReply:
    """Say what a word or a table's rows mean. Your later questions on this database use it."""
    database = await _fitting(services, client, asked)
    (record,) = await taught(services, client, asked.preset, [asked.plain])
    return term_replies([record], database.dialect)[0]


@router.post("/terms/try", responses=refusals(404, 409))
async def trial(services: CurrentServices, client: CurrentClient, asked: TermIn) -> Tried:
    """What a term gives on the data. Nothing is kept."""
    database = await _fitting(services, client, asked)
    return await asyncio.to_thread(tried, asked.plain, database)


@router.get("/terms/likely", responses=refusals(404))
async def likely(
    services: CurrentServices,
    client: CurrentClient,
    preset: PresetName,
    word: Annotated[str, Query(min_length=1, max_length=100)],
    question: Annotated[str, Query(max_length=2_000)] = "",
) -> list[Likely]:
    """What a word that was not understood may mean."""
    database = await database_of(services, client, preset)
    return await asyncio.to_thread(likely_meanings, word, question, database)


@router.get(
    "/terms/export",
    response_class=Response,
    responses={200: {"content": {"text/yaml": {"schema": {"type": "object"}}}}, **refusals(404)},
)
async def export(services: CurrentServices, client: CurrentClient, preset: PresetName) -> Response:
    """What you taught for a database as a semantic model (Apache Ossie)."""
    database = await database_of(services, client, preset)
    records = await services.store.terms(client.owner, preset, rights=client.rights)
    text = await asyncio.to_thread(exported, [one.said for one in records], database)
    return Response(text, media_type="text/yaml; charset=utf-8", headers=disposition(f"{database.name} model", "yaml"))


@router.post("/terms/{term_id}/restore", responses=refusals(404, 409))
async def restore(services: CurrentServices, client: CurrentClient, term_id: TermId) -> TermReply:
    """Take back that a term was forgotten, in place of what was taught of it since."""
    record = required(await services.store.restore(client.owner, term_id, rights=client.rights), "term")
    return (await _replies(services, client, [record]))[0]


@router.delete("/terms/{term_id}", status_code=204, responses=refusals(404))
async def forget(services: CurrentServices, client: CurrentClient, term_id: TermId) -> None:
    """Forget what you taught; it stays in the history."""
    required(await services.store.forget(client.owner, term_id), "term")


async def _replies(services: Services, client: Client, records: Sequence[TermRecord]) -> list[TermReply]:
    """Raises ApiError 404 where their database is gone."""
    preset = await services.presets.find(client, records[0].preset)
    return term_replies(records, cast("Dialect", preset.reply.dialect))


async def _fitting(services: Services, client: Client, asked: TermIn) -> Database:
    """The database, for which the term fits. Raises ApiError (404, 409)."""
    database = await database_of(services, client, asked.preset)
    if wrong := await asyncio.to_thread(term_problem, asked.plain, database):
        raise ApiError(409, wrong, "bad_request")  # asking again would not help
    return database
