"""Runs the statement of a kept answer anew, under the same guard and limits as every other.

In: a kept answer, the client whose rights it is read with, and values for its parameters. Out: its first rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from agent.results import SqlOutcome
from agent.server.access import Client
from agent.server.errors import ApiError
from agent.server.services import Services
from agent.server.statements import first_rows, ran
from agent.store.records import KeptParameter, KeptRecord, KeptRows
from eval.databases.base import Database
from eval.sql import BadParameter, parameters, parse, with_values


async def database_of(services: Services, client: Client, preset_id: str, owner: str | None = None) -> Database:
    """The database with the client's rights, or one that the owner brought. Raises ApiError (404 there is none, 503 it
    does not open)."""
    preset = await services.presets.find(client, preset_id, owner)
    return await preset.database()


def parameters_of(sql: str, database: Database) -> list[KeptParameter]:
    """The constants of a statement that may be set anew."""
    declared = parameters(parse(sql, database.dialect))
    return [KeptParameter(name=p.name, value=p.value, kind=p.kind) for p in declared]


async def as_seen(services: Services, client: Client, answer: KeptRecord) -> KeptRecord | None:
    """The answer as the client may see it: what somebody else shares, or what was kept with other rights, without its
    rows; None where its SQL, or what that names, is not the client's to see."""
    if client.saw(answer):
        return answer
    try:
        database = await database_of(services, client, answer.preset, answer.owner)
    except ApiError:
        return None
    parsed = parse(answer.sql, database.dialect)
    shown = await asyncio.to_thread(database.may_show, parsed, f"{answer.title}\n{answer.question}")
    return answer.model_copy(update={"result": None}) if shown else None


async def refreshed(
    services: Services, client: Client, answer: KeptRecord, values: Sequence[str] | None = None
) -> KeptRows:
    """The first rows of a kept answer, now. Raises ApiError as `rerun`."""
    return shortened(await rerun(services, client, answer, values))


def shortened(outcome: SqlOutcome) -> KeptRows:
    """The first rows of an outcome."""
    return KeptRows(**first_rows(outcome), sql=outcome.sql, refreshed=datetime.now(UTC))


async def rerun(
    services: Services, client: Client, answer: KeptRecord, values: Sequence[str] | None = None
) -> SqlOutcome:
    """All rows of a kept answer, now. Raises ApiError (400 a value that a parameter cannot take, 404, 503)."""
    database = await database_of(services, client, answer.preset, answer.owner)
    given = [parameter.value for parameter in answer.parameters] if values is None else values
    try:
        sql = await asyncio.to_thread(_statement, answer.sql, database, given)
    except BadParameter as error:
        raise ApiError(400, str(error)) from error
    outcome = await ran(services, database, sql)
    return outcome if outcome.sql else outcome.model_copy(update={"sql": sql})


def _statement(sql: str, database: Database, values: Sequence[str]) -> str:
    parsed = parse(sql, database.dialect)
    written = [parameter.value for parameter in parameters(parsed)]
    if len(values) != len(written):
        raise BadParameter(f"The query takes {len(written)} values.")
    changed = {i: value for i, (value, before) in enumerate(zip(values, written, strict=True)) if value != before}
    return with_values(parsed, changed).text
