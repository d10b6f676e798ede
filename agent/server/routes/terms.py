"""`/terms`: what words and tables mean in a database, taught where one stands."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, cast

from fastapi import APIRouter, Query, Response
from pydantic import Field

from agent.inspection.terms import Likely, Tried, exported, likely_meanings, term_problem, told, tried
from agent.server.errors import ApiError, required
from agent.server.replies import Reply
from agent.server.routes.answers import Id, disposition, refusals
from agent.server.services import ClientServices, Here
from agent.state import LONGEST_MEANING, LONGEST_TERM, Term, TermKind
from agent.statements.corrections import learned
from agent.store import TooMany
from agent.store.records import RunRecord, TermRecord
from eval.databases.base import Database
from eval.databases.types import DatabaseError
from eval.schema import Dialect

router = APIRouter(tags=["knowledge"])

PresetName = Annotated[str, Query(max_length=200)]


class TermReply(Reply):
    term_id: str
    kind: TermKind
    term: str
    means: str
    told: str
    """What it says, in one sentence."""
    run_id: str
    """The answer that it was learned from; empty where it was said."""
    created: datetime
    forgotten: datetime | None


class TermIn(Term):
    preset: str = Field(max_length=200)
    term: str = Field(min_length=1, max_length=LONGEST_TERM)
    means: str = Field(min_length=1, max_length=LONGEST_MEANING)

    @property
    def plain(self) -> Term:
        return Term(kind=self.kind, term=self.term.strip(), means=self.means.strip())


@router.get("/terms", responses=refusals(404))
async def terms(here: Here, preset: PresetName, history: bool = False) -> list[TermReply]:
    """What you taught for a database, the latest first; with `history`, what was forgotten, too."""
    records = await here.store.terms(here.owner, preset, rights=here.client.rights, history=history)
    if not records:
        return []
    return await _replies(here, records)


@router.post("/terms", status_code=201, responses=refusals(404, 409))
async def teach(here: Here, asked: TermIn) -> TermReply:
    """Say what a word or a table's rows mean. Your later questions on this database use it."""
    database = await _fitting(here, asked)
    (record,) = await taught(here, asked.preset, [asked.plain])
    return term_replies([record], database.dialect)[0]


@router.post("/terms/try", responses=refusals(404, 409))
async def trial(here: Here, asked: TermIn) -> Tried:
    """What a term gives on the data. Nothing is kept."""
    database = await _fitting(here, asked)
    return await asyncio.to_thread(tried, asked.plain, database)


@router.get("/terms/likely", responses=refusals(404))
async def likely(
    here: Here,
    preset: PresetName,
    word: Annotated[str, Query(min_length=1, max_length=100)],
    question: Annotated[str, Query(max_length=2_000)] = "",
) -> list[Likely]:
    """What a word that was not understood may mean."""
    database = await here.database(preset)
    return await asyncio.to_thread(likely_meanings, word, question, database)


@router.get(
    "/terms/export",
    response_class=Response,
    responses={200: {"content": {"text/yaml": {"schema": {"type": "object"}}}}, **refusals(404)},
)
async def export(here: Here, preset: PresetName) -> Response:
    """What you taught for a database as a semantic model (Apache Ossie)."""
    database = await here.database(preset)
    records = await here.store.terms(here.owner, preset, rights=here.client.rights)
    text = await asyncio.to_thread(exported, [one.said for one in records], database)
    return Response(text, media_type="text/yaml; charset=utf-8", headers=disposition(f"{database.name} model", "yaml"))


@router.post("/terms/{term_id}/restore", responses=refusals(404, 409))
async def restore(here: Here, term_id: Id) -> TermReply:
    """Take back that a term was forgotten, in place of what was taught of it since."""
    record = required(await here.store.restore(here.owner, term_id, rights=here.client.rights), "term")
    return (await _replies(here, [record]))[0]


@router.delete("/terms/{term_id}", status_code=204, responses=refusals(404))
async def forget(here: Here, term_id: Id) -> None:
    """Forget what you taught; it stays in the history."""
    required(await here.store.forget(here.owner, term_id), "term")


async def _replies(here: ClientServices, records: Sequence[TermRecord]) -> list[TermReply]:
    """Raises ApiError 404 where their database is gone."""
    preset = await here.presets.find(here.client, records[0].preset)
    return term_replies(records, cast("Dialect", preset.reply.dialect))


async def _fitting(here: ClientServices, asked: TermIn) -> Database:
    """The database, for which the term fits. Raises ApiError (404, 409)."""
    database = await here.database(asked.preset)
    if wrong := await asyncio.to_thread(term_problem, asked.plain, database):
        raise ApiError(409, wrong, "bad_request")  # asking again would not help
    return database


async def taught(here: ClientServices, preset: str, said: Sequence[Term], run_id: str = "") -> list[TermRecord]:
    """The terms, kept for the client. Raises StoreError."""
    records = [
        TermRecord(
            term_id=secrets.token_urlsafe(12),
            owner=here.owner,
            rights=here.client.rights,
            preset=preset,
            run_id=run_id,
            created=datetime.now(UTC),
            **dict(one),
        )
        for one in said
    ]
    await here.store.teach(*records)
    return records


def term_replies(records: Sequence[TermRecord], dialect: Dialect) -> list[TermReply]:
    return [TermReply(**record.model_dump(), told=told(record.said, dialect)) for record in records]


async def learned_from(here: ClientServices, record: RunRecord, corrected: str) -> list[TermReply]:
    """What the correction of a run changed in its query, or in the one that it would have asked, kept as a term.
    Nothing where the database is away. Raises StoreError."""
    attempts = (record.answer or {}).get("attempts") or [{}]
    guess = "" if record.sql else str(attempts[-1].get("guess") or "")
    try:
        database = await here.database(record.preset)
        term = await asyncio.to_thread(learned, record.question, record.sql, corrected, database, guess)
        kept = await taught(here, record.preset, [term] if term else [], record.run_id)
    except (ApiError, DatabaseError, TooMany):
        return []
    return term_replies(kept, database.dialect)
