"""`/presets` and `/schema`: the databases and their contents."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response

from agent.inspection.examples import answered, examples_of
from agent.inspection.schema import ColumnFacts, KeyFacts, Pattern, Pitfall, ProfileReport, TableFacts, profile_report
from agent.runner import run
from agent.server.presets import PresetReply
from agent.server.replies import Reply
from agent.server.routes.answers import UNCHANGED, KnownTag, refusals, tagged_json
from agent.server.services import Here
from agent.server.table_lookups import SampleReply, ValuesReply, column_named, sample, table_named, values
from eval.schema import Table

router = APIRouter(tags=["databases"])

PresetId = Annotated[str, Path(max_length=200, description="A preset's id.")]
Name = Annotated[str, Path(max_length=500)]
Limit = Annotated[int, Query(ge=1, le=200)]


class ColumnReply(Reply):
    name: str
    type: str
    primary_key: bool
    foreign_key: str | None
    """`table.column`."""
    inferred: bool
    """The foreign key is not declared; it was concluded from names and data."""
    nullable: bool
    comment: str | None


class TableReply(Reply):
    name: str
    kind: Literal["table", "view"]
    namespace: str | None
    comment: str | None
    row_count: int | None
    columns: list[ColumnReply]


class SchemaReply(Reply):
    dialect: str
    fingerprint: str
    total: int
    """Tables in all; `offset` and `limit` choose some of them."""
    tables: list[TableReply]


class ProfileSection(Reply):
    name: str
    """`ddl`, `tables`, `columns`, `keys`, `values`, `ranges`, `formats`, `patterns`, `validation` or `guidance`."""
    title: str
    lines: list[str]
    left_out: int
    """Lines that the budget had no room for."""
    tokens: int


class ProfileReply(Reply):
    """What a database's rows look like, as text in sections and as facts. Values are there only in the privacy mode
    `full`; for `schema` no row was read."""

    database: str
    dialect: str
    fingerprint: str
    privacy: Literal["full", "masked", "schema"]
    tokens: int
    seconds: float
    """What computing it took when it was last computed."""
    complete: bool
    """False: time ran out before all tables had been read; the next request goes on."""
    sections: list[ProfileSection]
    tables: list[TableFacts]
    columns: list[ColumnFacts]
    keys: list[KeyFacts]
    patterns: list[Pattern]
    guidance: list[Pitfall]

    @classmethod
    def of(cls, report: ProfileReport) -> ProfileReply:
        own = {name: report if hasattr(report, name) else report.profile for name in cls.model_fields}
        return super().of({name: getattr(place, name) for name, place in own.items()})


@router.get("/presets", responses=refusals())
async def presets(here: Here) -> list[PresetReply]:
    """The databases that may be asked, the default one first."""
    return await here.presets.listed(here.client)


@router.get("/schema/{preset_id}", response_model=SchemaReply, responses={**UNCHANGED, **refusals(404)})
async def schema(
    here: Here,
    preset_id: PresetId,
    offset: Annotated[int, Query(ge=0, le=2**31, description="Tables to skip.")] = 0,
    limit: Annotated[int | None, Query(ge=1, le=10_000, description="Tables at most; without it, all.")] = None,
    if_none_match: KnownTag = None,
) -> Response:
    """The tables and columns of a database, whole or by the page."""
    _, structure = await here.presets.schema(await here.presets.find(here.client, preset_id))
    page = structure.tables[offset : None if limit is None else offset + limit]

    def made() -> SchemaReply:
        tables = [_table(table) for table in page]
        total = len(structure.tables)
        return SchemaReply(dialect=structure.dialect, fingerprint=structure.fingerprint, total=total, tables=tables)

    return await tagged_json(made, if_none_match)


@router.get("/schema/{preset_id}/profile", response_model=ProfileReply, responses={**UNCHANGED, **refusals(404)})
async def profile(
    here: Here,
    preset_id: PresetId,
    budget: Annotated[int | None, Query(ge=0, le=1_000_000, description="Tokens of all sections together.")] = None,
    if_none_match: KnownTag = None,
) -> Response:
    """What a database's rows look like: the profile that a model gets hints from, within the privacy mode. The first
    one of a database is computed, within a minute; later ones are kept while its data is unchanged."""
    database, structure = await here.presets.schema(await here.presets.find(here.client, preset_id))
    privacy = here.settings.privacy.mode
    return await tagged_json(
        lambda: ProfileReply.of(profile_report(database, structure, budget, privacy)), if_none_match
    )


@router.get("/schema/{preset_id}/examples", responses=refusals(404))
async def examples(here: Here, preset_id: PresetId) -> list[str]:
    """Questions that this database can answer, made from the semantic model, its names and its profile. Those of an
    uploaded file, at most three, were asked offline first and are answered with rows and without a doubt."""
    preset = await here.presets.find(here.client, preset_id)
    if preset.reply.examples:
        return preset.reply.examples
    database, structure = await here.presets.schema(preset)
    settings = here.settings
    judging = here.presets.judging(database)
    made = await asyncio.to_thread(examples_of, database, structure, settings.privacy.mode, judging)
    if preset.reply.kind != "uploaded":
        return made
    return await answered(made, partial(run, database=database, model="offline", settings=settings))


@router.get("/schema/{preset_id}/{table}/sample", responses=refusals(404))
async def table_sample(here: Here, preset_id: PresetId, table: Name, limit: Limit = 20) -> SampleReply:
    """The first rows of a table."""
    database, structure = await here.presets.schema(await here.presets.find(here.client, preset_id))
    return await sample(database, structure, table_named(structure, table), limit)


@router.get("/schema/{preset_id}/{table}/{column}/values", responses=refusals(404))
async def column_values(here: Here, preset_id: PresetId, table: Name, column: Name, limit: Limit = 20) -> ValuesReply:
    """The most frequent values of a column, within a few seconds."""
    database, structure = await here.presets.schema(await here.presets.find(here.client, preset_id))
    place = table_named(structure, table)
    return await values(database, structure, place, column_named(place, column), limit)


def _table(table: Table) -> TableReply:
    keys = {
        column: (f"{key.ref_table}.{ref}", key.inferred)
        for key in reversed(table.foreign_keys)
        for column, ref in zip(key.columns, key.ref_columns, strict=False)
    }
    columns = [
        ColumnReply(**asdict(c), foreign_key=foreign_key, inferred=inferred)
        for c in table.columns
        for foreign_key, inferred in [keys.get(c.name, (None, False))]
    ]
    own = {name: getattr(table, name) for name in TableReply.model_fields}
    return TableReply(**{**own, "columns": columns})
