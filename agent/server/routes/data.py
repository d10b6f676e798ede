"""`/sql`, `/drill`, `/runs/{id}/rows`, `/runs/{id}/export`: SQL of one's own, what is behind a figure, and whole
results by the page or as a file.

A run does not keep its whole result. Its statement is run again, under the same guard, into a file of its owner; pages
and exports are read from that file while the data is unchanged.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Generator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.types import Receive, Scope, Send

from agent.results import MEDIA_TYPES, Filter, Format, KeptResult, Sort, check_sql, export
from agent.server.errors import ApiError
from agent.server.replies import Reply, first_rows
from agent.server.routes.answers import Id, disposition, refusals
from agent.server.services import ClientServices, Here
from agent.statements.drill_down import NotDrillable, drills
from agent.store.records import FirstRows, RunRecord, ThreadRecord, Whole
from eval.sql import parse

router = APIRouter(tags=["results"])

Task = Annotated[str | None, Query(max_length=200, description="A task of the plan; without it, the last one.")]
SortBy = Annotated[
    list[str] | None,
    Query(max_length=10, description="`N` or `N:desc`, N the column's number from 0; may be repeated."),
]
FilterBy = Annotated[
    list[str] | None,
    Query(
        alias="filter", max_length=20, description="`N:op:value`; op: contains, =, !=, <, <=, >, >=, is null, not null"
    ),
]
_OPS = ("contains", "=", "!=", "<", "<=", ">", ">=", "is null", "not null")
_SORT = re.compile(r"([0-9]{1,9})(?::(asc|desc|))?")
_FILTER = re.compile(rf"([0-9]{{1,9}}):({'|'.join(_OPS)})(?::(.*))?", re.DOTALL)


class SqlIn(BaseModel):
    preset: str = Field(max_length=200)
    sql: str = Field(max_length=100_000)
    thread_id: str | None = Field(None, max_length=200)
    """A conversation of yours that the statement belongs to."""
    question: str | None = Field(None, max_length=20_000)
    """What the statement is meant to answer."""


class DrillIn(BaseModel):
    """Rows of a result that were pointed at, and the query that returned it."""

    preset: str = Field(max_length=200)
    sql: str = Field(max_length=100_000)
    columns: list[Annotated[str, Field(max_length=1_000)]] = Field(max_length=1_000)
    """The names of the result's columns."""
    rows: list[list[Any]] = Field(max_length=1_000)
    column: Annotated[Whole, Field(ge=0, le=1_000)] | None = None
    """The figure or cell in them, counted from 0."""


class DrillWay(Reply):
    kind: Literal["rows", "by", "only", "without"]
    label: str
    sql: str


class DrillReply(Reply):
    ways: list[DrillWay]
    reason: str = ""
    """Why there are none."""


class PhantomName(Reply):
    name: str
    nearest: list[str]


class Phantoms(Reply):
    """Names that the database does not have, or (`ambiguous`) has more than once, with the nearest real ones."""

    tables: list[PhantomName] = Field(default_factory=list)
    columns: list[PhantomName] = Field(default_factory=list)
    functions: list[PhantomName] = Field(default_factory=list)
    ambiguous: list[PhantomName] = Field(default_factory=list)


class SqlReply(FirstRows):
    """The rows beyond those here are given by `/runs/{run_id}/rows`."""

    allowed: bool
    reason: str | None
    """Why it may not run."""
    sql: str
    """What was sent."""
    phantoms: Phantoms
    run_id: str


class ResultColumn(Reply):
    name: str
    kind: str
    """By its values: `number`, `text`, ..., `mixed`, or `empty`."""


class RowsReply(Reply):
    columns: list[ResultColumn]
    rows: list[list[Any]]
    total: int
    """Rows that the filters keep."""
    offset: int
    limit: int
    truncated: bool
    """There are more rows than are kept, or than were counted."""


@router.post("/sql", responses=refusals(404))
async def sql(here: Here, asked: SqlIn) -> SqlReply:
    """Run SQL of your own under the same guard and limits as everything else. It is kept as a run."""
    preset = await here.presets.find(here.client, asked.preset)
    if asked.thread_id:
        await here.mine(ThreadRecord, asked.thread_id)
    started = datetime.now(UTC)
    database = await preset.database()
    outcome = await here.ran(database, asked.sql)
    named = [(one if one == "ambiguous" else one.removesuffix("s"), one) for one in Phantoms.model_fields]
    phantoms = Phantoms.of({field: [p for p in outcome.phantoms if p.kind == kind] for kind, field in named})
    reply = SqlReply(**{**first_rows(outcome), "phantoms": phantoms, "run_id": uuid.uuid4().hex})
    await here.store.begin_run(
        RunRecord(
            run_id=reply.run_id,
            owner=here.owner,
            rights=here.client.rights,
            thread_id=asked.thread_id,
            kind="sql",
            preset=preset.id,
            question=(asked.question or "").strip(),
            status=reply.status,
            started=started,
            seconds=round((datetime.now(UTC) - started).total_seconds(), 4),
            sql=outcome.sql or asked.sql,
            answer=reply.model_dump(mode="json", exclude={"run_id"}),
        )
    )
    return reply


@router.post("/drill", responses=refusals(404))
async def drill(here: Here, asked: DrillIn) -> DrillReply:
    """The ways on from a figure or a cell of a result: its rows, the same by another column, only this, without this.
    Each is SQL of its own, to be run by `POST /sql`."""
    database = await here.database(asked.preset)
    parsed = parse(asked.sql, database.dialect)
    try:
        found = await asyncio.to_thread(
            drills, parsed, database, asked.columns, asked.rows, asked.column, here.run_limits
        )
    except NotDrillable as error:
        return DrillReply(ways=[], reason=str(error))
    return DrillReply(ways=[DrillWay.of(one) for one in found])


@router.get("/runs/{run_id}/rows", responses=refusals(404))
async def rows(
    here: Here,
    run_id: Id,
    task: Task = None,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    sort: SortBy = None,
    filters: FilterBy = None,
) -> RowsReply:
    """A page of a run's whole result, sorted and filtered."""
    result = await _kept(here, await here.run(run_id), task)
    page = await asyncio.to_thread(result.page, offset, limit, _sorts(sort), _filters(filters))
    columns = [ResultColumn.of(c) for c in result.columns]
    return RowsReply(**dict(page), columns=columns, limit=limit, truncated=not page.total_exact)


_BINARY = {"xlsx", "parquet"}
_CONTENT = {
    media.partition(";")[0]: {"schema": {"type": "string"} | ({"format": "binary"} if name in _BINARY else {})}
    for name, media in MEDIA_TYPES.items()
}
_FILES: dict[int | str, dict[str, Any]] = {200: {"description": "The file.", "content": _CONTENT}}


@router.get("/runs/{run_id}/export", response_class=StreamingResponse, responses={**_FILES, **refusals(404, 501)})
async def export_rows(
    here: Here,
    run_id: Id,
    wanted: Annotated[Format, Query(alias="format")] = "csv",
    task: Task = None,
    sort: SortBy = None,
    filters: FilterBy = None,
    bom: Annotated[bool, Query(description="CSV begins with a byte order mark, which Excel needs.")] = False,
) -> StreamingResponse:
    """A run's whole result as a file, made while it is sent. In CSV, cells that a spreadsheet would run are quoted."""
    run = await here.run(run_id)
    result = await _kept(here, run, task)
    chunks = await asyncio.to_thread(
        lambda: export(result, wanted, sort=_sorts(sort), filters=_filters(filters), bom=bom, guard_formulas=True)
    )
    return ExportStream(chunks, MEDIA_TYPES[wanted], disposition(run.question, wanted))


class ExportStream(StreamingResponse):
    """A file that is made while it is sent. When the client has gone, so has the work on it."""

    def __init__(self, chunks: Generator[bytes], media_type: str, headers: Mapping[str, str]) -> None:
        super().__init__(chunks, media_type=media_type, headers=headers)
        self._chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            with suppress(ValueError):  # a batch is being made during shutdown: closed with its last reference
                await asyncio.shield(asyncio.to_thread(self._chunks.close))


async def _kept(here: ClientServices, record: RunRecord, task: str | None) -> KeptResult:
    """The whole result behind a run. Raises ApiError (404 no such task or result; 400 its statement fails)."""
    answer = record.answer or {}
    if task is None:
        sql = record.sql if record.status in ("success", "doubtful") else ""
    else:
        attempts = [
            a for a in answer.get("attempts") or [] if a.get("task_id") == task and a.get("status") == "success"
        ]
        best = max(attempts, key=lambda a: a.get("score") or 0.0, default=None)
        sql = str(best.get("sql") or "") if best else ""
    if not sql:
        raise ApiError(404, "This run has no result.")
    database = await here.database(record.preset)
    checked = await check_sql(database, sql, schema_ttl=here.settings.database.schema_ttl)
    if checked.statement is None:
        raise ApiError(404, f"This run has no result: {checked.reason}")
    return await here.results.keep(database, checked.statement, owner=here.owner)


def _sorts(given: list[str] | None) -> list[Sort]:
    sorts = [_SORT.fullmatch(text) for text in given or []]
    if None in sorts:
        raise ApiError(400, "A sort is written N or N:desc, N the column's number from 0.")
    return [Sort(column=int(match[1]), descending=match[2] == "desc") for match in sorts if match]


def _filters(given: list[str] | None) -> list[Filter]:
    filters = []
    for text in given or []:
        if (match := _FILTER.fullmatch(text)) is None:
            raise ApiError(400, f"A filter is written N:op:value; op is one of {', '.join(_OPS)}.")
        column, op, value = match.groups("")
        unary = op in ("is null", "not null")
        filters.append(Filter.model_validate({"column": int(column), "op": op, "value": None if unary else value}))
    return filters
