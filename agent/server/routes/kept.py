"""`/kept`, `/boards`, `/shared`: answers that are kept, boards of them, and boards that others share by a link."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BaseModel, Field

from agent.server.documents import of_board
from agent.server.errors import ApiError, required
from agent.server.kept import as_seen, as_shown, filter_columns, filter_values, parameters_of, refreshed
from agent.server.replies import Reply
from agent.server.routes.answers import DOCUMENTS, DocumentFormat, Id, document_response, refusals
from agent.server.services import ClientServices, Here
from agent.server.table_lookups import ValuesReply
from agent.statements.filtering import FilterKind
from agent.store.records import (
    BoardFilter,
    BoardRecord,
    FilterValue,
    KeptParameter,
    KeptRecord,
    KeptRows,
    RunRecord,
    ThreadRecord,
    Tile,
)

Column = Annotated[int, Field(ge=-1, le=10_000)]
Words = Annotated[str, Field(max_length=200)]


class ChartIn(BaseModel):
    """How an answer is shown; columns are counted from 0, -1 stands for none."""

    kind: Literal["number", "trend", "bar", "column", "line", "area", "scatter", "heatmap", "histogram"]
    x: Column = -1
    y: Column = -1
    more: list[Column] = Field([], max_length=8)
    """Further measures beside `y`."""
    series: Column = -1
    order: Literal["given", "largest", "smallest", "name"] = "given"
    stack: Literal["grouped", "stacked", "share"] = "grouped"
    top: int | None = Field(None, ge=1, le=100)
    """So many categories, the largest."""
    title: Words = ""
    x_title: Words = ""
    y_title: Words = ""
    palette: Literal["distinct", "blue", "amber", "grey"] = "distinct"
    colours: dict[Words, Annotated[int, Field(ge=1, le=8)]] = Field({}, max_length=20)
    """The colour of a series by its name."""
    format: Literal["auto", "plain", "compact", "percent", "currency"] = "auto"
    currency: str = Field("EUR", pattern="^[A-Z]{3}$")
    decimals: int | None = Field(None, ge=0, le=6)
    zero: bool | None = None
    """Whether the axis begins at zero; None: as is usual for the kind."""


class KeepIn(BaseModel):
    run_id: str = Field(max_length=200)
    title: str | None = Field(None, max_length=200)
    """None: the question."""
    chart: ChartIn | None = None
    """None: as a table."""


class KeptChange(BaseModel):
    """What is None stays as it is."""

    title: str | None = Field(None, min_length=1, max_length=200)
    sql: str | None = Field(None, min_length=1, max_length=100_000)
    """Kept only where it runs."""
    chart: ChartIn | None = None
    as_table: bool = False
    """Show it as a table again."""


class RefreshIn(BaseModel):
    values: list[str] | None = Field(None, max_length=20)
    """A value for each parameter, in their order; None: as they are."""
    filters: list[FilterValue] | None = Field(None, max_length=12)
    """On a board: a value for each of its filters, in their order; None: as its owner left them."""


class KeptReply(Reply):
    """A kept answer with the rows that it returned last."""

    kept_id: str
    title: str
    question: str
    preset: str
    sql: str
    dialect: str
    chart: dict[str, Any]
    """As `ChartIn`; empty: a table."""
    parameters: list[KeptParameter]
    result: KeptRows | None
    """None: it has not been run since it was kept."""
    created: datetime


class BoardIn(BaseModel):
    title: str = Field(min_length=1, max_length=200)
    thread_id: str | None = Field(None, max_length=200)
    """A conversation of yours, whose results are kept and pinned."""


class BoardChange(BaseModel):
    """What is None stays as it is."""

    title: str | None = Field(None, min_length=1, max_length=200)
    tiles: list[Tile] | None = Field(None, max_length=100)
    """All tiles in their order."""
    filters: list[BoardFilter] | None = Field(None, max_length=12)
    """All filters in their order."""


class BoardSummary(Reply):
    board_id: str
    title: str
    tiles: list[Tile]
    shared: bool
    updated: datetime

    @classmethod
    def of(cls, record: BoardRecord) -> BoardSummary:
        return super().of(record.model_copy(update={"shared": record.share is not None}))


class BoardReply(Reply):
    """A board with its answers, in the order of the tiles that hold one."""

    board_id: str
    title: str
    tiles: list[Tile]
    answers: list[KeptReply]
    filters: list[BoardFilter | None]
    """Null in place of one whose columns the reader may not see."""
    share: str | None
    """The secret part of its link; null: it is not shared, or the reader is not its owner."""
    updated: datetime
    mine: bool
    """False where it was reached by a link."""


class FilterColumnReply(Reply):
    """A column that answers of a board can be narrowed by."""

    preset: str
    table: str
    column: str
    kind: FilterKind
    answers: int
    """How many of them."""


class ShareReply(Reply):
    share: str
    """The secret part of the link: `/s/{share}` is the page, `GET /shared/{share}` the board."""


router = APIRouter(tags=["boards"])

Share = Annotated[str, Path(max_length=200, description="The secret part of a board's link.")]
Place = Annotated[int, Path(ge=0, le=11)]
Search = Annotated[str | None, Query(max_length=200, description="Only values that contain it.")]

VALUES = 50
"""Values of a filter's column that are offered at once."""
MOST_PINNED = 50
"""Results of a conversation that a board begins with."""


async def _my_answer(here: Here, kept_id: Id) -> KeptRecord:
    return await _answer(here, here.owner, kept_id)


async def _my_board(here: Here, board_id: Id) -> BoardRecord:
    return await here.mine(BoardRecord, board_id)


async def _shared_board(here: Here, share: Share) -> BoardRecord:
    return required(await here.store.shared_board(share), "board, or it is no longer shared")


MyAnswer = Annotated[KeptRecord, Depends(_my_answer)]
MyBoard = Annotated[BoardRecord, Depends(_my_board)]
SharedBoard = Annotated[BoardRecord, Depends(_shared_board)]


@router.get("/kept", responses=refusals())
async def kept(here: Here) -> list[KeptReply]:
    """The answers that you keep, the latest first."""
    return [KeptReply.of(record) for record in await _visible(here, here.owner)]


@router.post("/kept", status_code=201, responses=refusals(404, 409))
async def keep(here: Here, asked: KeepIn) -> KeptReply:
    """Keep the answer of a run: its question, its SQL with the constants that may be set anew, and how it is shown."""
    run = await here.run(asked.run_id)
    if not _has_result(run):
        raise ApiError(409, "This run has no result to keep.")
    chart = asked.chart.model_dump() if asked.chart else {}
    return KeptReply.of(await _keep(here, run, asked.title, chart))


@router.get("/kept/{kept_id}", responses=refusals(404))
async def kept_answer(answer: MyAnswer) -> KeptReply:
    """An answer that you keep, with the rows that it returned last."""
    return KeptReply.of(answer)


@router.patch("/kept/{kept_id}", responses=refusals(404))
async def change_kept(here: Here, answer: MyAnswer, asked: KeptChange) -> KeptReply:
    """Rename a kept answer, show it in another form, or let another statement answer its question."""
    changed: dict[str, Any] = {} if asked.title is None else {"title": _title(asked.title)}
    if asked.chart or asked.as_table:
        changed["chart"] = asked.chart.model_dump() if asked.chart and not asked.as_table else {}
    if asked.sql is not None:
        database = await here.database(answer.preset)
        changed |= {"sql": asked.sql, "parameters": parameters_of(asked.sql, database), "rights": here.client.rights}
        changed["result"] = await refreshed(here, answer.model_copy(update=changed))
        if changed["result"].status != "success":
            raise ApiError(400, changed["result"].error or "This statement may not be run.")
    return KeptReply.of(await here.store.change(answer, **changed) if changed else answer)


@router.delete("/kept/{kept_id}", status_code=204, responses=refusals(404))
async def remove_kept(here: Here, kept_id: Id) -> None:
    """Keep an answer no longer; it also leaves your boards."""
    required(await here.store.remove_kept(here.owner, kept_id), "kept answer")


@router.post("/kept/{kept_id}/refresh", responses=refusals(404))
async def refresh_kept(here: Here, answer: MyAnswer, asked: RefreshIn) -> KeptReply:
    """Run a kept answer's statement again. Values that are given for its parameters are kept, too."""
    return KeptReply.of(await _rerun(here, answer, asked.values))


@router.get("/boards", responses=refusals())
async def boards(here: Here) -> list[BoardSummary]:
    """Your boards, the one changed last first."""
    return [BoardSummary.of(record) for record in await here.store.of_owner(BoardRecord, here.owner)]


@router.post("/boards", status_code=201, responses=refusals(404, 409))
async def add_board(here: Here, asked: BoardIn) -> BoardSummary:
    """Begin a board, empty or with the results of a conversation."""
    at = datetime.now(UTC)
    tiles = []
    if asked.thread_id is not None:
        thread = await here.mine(ThreadRecord, asked.thread_id)
        runs, _ = await here.store.runs(here.owner, thread_id=thread.thread_id, limit=MOST_PINNED)
        with_result = [run for one in reversed(runs) if _has_result(run := here.client.sees(one))]
        if not with_result:
            raise ApiError(409, "This conversation has no result to keep.")
        tiles = [Tile(kept_id=(await _keep(here, run)).kept_id) for run in with_result]
    record = BoardRecord(
        board_id=secrets.token_urlsafe(12),
        owner=here.owner,
        title=_title(asked.title),
        tiles=tiles,
        created=at,
        updated=at,
    )
    await here.store.add(record)
    return BoardSummary.of(record)


@router.get("/boards/{board_id}", responses=refusals(404))
async def board(here: Here, board: MyBoard) -> BoardReply:
    """A board with its answers and the rows that they returned last."""
    return await _whole(here, board, mine=True)


@router.patch("/boards/{board_id}", responses=refusals(404))
async def change_board(here: Here, board: MyBoard, asked: BoardChange) -> BoardReply:
    """Rename a board, pin, unpin and arrange its tiles, or change its filters."""
    changed: dict[str, Any] = {} if asked.title is None else {"title": _title(asked.title)}
    if asked.tiles is not None:
        own = {answer.kept_id for answer in await here.store.of_owner(KeptRecord, here.owner)}
        if any(tile.kept_id and tile.kept_id not in own for tile in asked.tiles):
            raise ApiError(404, "There is no such kept answer.")
        holding = [tile for tile in asked.tiles if tile.kept_id or tile.text.strip()]
        changed["tiles"] = list({tile.kept_id or i: tile for i, tile in enumerate(holding)}.values())
    if asked.filters is not None:
        changed["filters"] = asked.filters
    return await _whole(here, await here.store.change(board, **changed), mine=True)


@router.delete("/boards/{board_id}", status_code=204, responses=refusals(404))
async def remove_board(here: Here, board_id: Id) -> None:
    """Remove a board; its answers stay kept."""
    required(await here.store.remove_board(here.owner, board_id), "board")


@router.post("/boards/{board_id}/share", responses=refusals(404))
async def share_board(here: Here, board: MyBoard) -> ShareReply:
    """Share a board: every client of this server who has the link may look at it and refresh it; where there are
    policies, with rights of their own. A board that is shared already keeps its link."""
    share = board.share or secrets.token_urlsafe(24)
    if board.share is None:
        await here.store.change(board, share=share)
    return ShareReply(share=share)


@router.delete("/boards/{board_id}/share", status_code=204, responses=refusals(404))
async def unshare_board(here: Here, board: MyBoard) -> None:
    """End sharing: the link leads nowhere any more."""
    await here.store.change(board, share=None)


@router.get("/boards/{board_id}/export", response_class=Response, responses={**DOCUMENTS, **refusals(404)})
async def export_board(here: Here, board: MyBoard, wanted: DocumentFormat = "html") -> Response:
    """A board as a document with the rows that its answers returned last; of one with filters, with those of now."""
    answers = await _visible(here, here.owner)
    if any(one.value for one in board.filters):
        pinned = {tile.kept_id for tile in board.tiles}
        answers = [await _narrowed(here, board, one, RefreshIn()) for one in answers if one.kept_id in pinned]
    return document_response(of_board(board, answers), wanted)


@router.get("/boards/{board_id}/columns", responses=refusals(404))
async def board_columns(here: Here, board: MyBoard) -> list[FilterColumnReply]:
    """The columns that a board's answers can be narrowed by, those of the most answers first."""
    answers = await _visible(here, here.owner, {tile.kept_id for tile in board.tiles})
    found = await filter_columns(here, answers)
    return [FilterColumnReply(**c.model_dump(), kind=kind, answers=n) for c, kind, n in found]


@router.get("/boards/{board_id}/filters/{place}/values", responses=refusals(404))
async def board_values(here: Here, board: MyBoard, place: Place, search: Search = None) -> ValuesReply:
    """The most frequent values that a filter of a board can take (`place`: 0 for the first)."""
    return await _values(here, board, place, search)


@router.post("/boards/{board_id}/{kept_id}/refresh", responses=refusals(404))
async def refresh_on_board(here: Here, board: MyBoard, kept_id: Id, asked: RefreshIn) -> KeptReply:
    """Run the statement of an answer on your board again, under the board's filters. Without any, its rows are kept."""
    answer = await _pinned(here, board, kept_id)
    if any(one.value for one in board.filters) if asked.filters is None else any(asked.filters):
        narrowed = await _narrowed(here, board, answer, asked)
        if asked.values is not None:
            await here.store.change(answer, parameters=narrowed.parameters)
        return KeptReply.of(narrowed)
    return KeptReply.of(await _rerun(here, answer, asked.values))


@router.get("/shared/{share}", responses=refusals(404))
async def shared_board(here: Here, board: SharedBoard) -> BoardReply:
    """A board that somebody shares, as all but its owner see it."""
    return await _whole(here, board, mine=False)


@router.post("/shared/{share}/{kept_id}/refresh", responses=refusals(404))
async def refresh_shared(here: Here, board: SharedBoard, kept_id: Id, asked: RefreshIn) -> KeptReply:
    """Run the statement of an answer on a shared board again; nothing of its owner's is changed."""
    answer = await _pinned(here, board, kept_id)
    return KeptReply.of(await _narrowed(here, board, answer, asked))


@router.get("/shared/{share}/filters/{place}/values", responses=refusals(404))
async def shared_values(here: Here, board: SharedBoard, place: Place, search: Search = None) -> ValuesReply:
    """The most frequent values that a filter of a shared board can take, as far as you may see them."""
    return await _values(here, board, place, search)


def _has_result(run: RunRecord) -> bool:
    return bool(run.sql) and run.status in ("success", "doubtful")


async def _keep(
    here: ClientServices, run: RunRecord, title: str | None = None, chart: dict[str, Any] | None = None
) -> KeptRecord:
    database = await here.database(run.preset)
    record = KeptRecord(
        kept_id=secrets.token_urlsafe(12),
        owner=here.owner,
        rights=here.client.rights,
        title=_title(title or run.question or "SQL"),
        question=run.question,
        preset=run.preset,
        sql=run.sql,
        dialect=database.dialect,
        chart=chart or {},
        parameters=parameters_of(run.sql, database),
        created=datetime.now(UTC),
    )
    record = record.model_copy(update={"result": await refreshed(here, record)})
    await here.store.add(record)
    return record


async def _rerun(here: ClientServices, record: KeptRecord, values: Sequence[str] | None) -> KeptRecord:
    """The client's own answer with the rows of now, which are kept; so are values that are given."""
    rows = await refreshed(here, record, values)
    return await here.store.change(
        record, result=rows, rights=here.client.rights, parameters=_with_values(record, values)
    )


def _with_values(answer: KeptRecord, values: Sequence[str] | None) -> list[KeptParameter]:
    if values is None:
        return answer.parameters
    pairs = zip(answer.parameters, values, strict=True)
    return [parameter.model_copy(update={"value": value}) for parameter, value in pairs]


async def _narrowed(here: ClientServices, board: BoardRecord, answer: KeptRecord, asked: RefreshIn) -> KeptRecord:
    """The answer with its rows under the filters of a board; nothing of it is kept."""
    filters = await as_shown(here, board)
    if asked.filters is not None:
        if len(asked.filters) != len(filters):
            raise ApiError(400, f"This board has {len(filters)} filters.")
        given = zip(filters, asked.filters, strict=True)
        filters = [one and one.model_copy(update={"value": value}) for one, value in given]
    rows = await refreshed(here, answer, asked.values, [one for one in filters if one is not None])
    return answer.model_copy(update={"result": rows, "parameters": _with_values(answer, asked.values)})


async def _pinned(here: ClientServices, board: BoardRecord, kept_id: str) -> KeptRecord:
    """An answer of a board, as the client may see it."""
    if all(tile.kept_id != kept_id for tile in board.tiles):
        raise ApiError(404, "There is no such answer on this board.")
    return await _answer(here, board.owner, kept_id)


async def _values(here: ClientServices, board: BoardRecord, place: int, search: str | None) -> ValuesReply:
    filters = await as_shown(here, board)
    one = required(filters[place] if place < len(filters) else None, "filter")
    return await filter_values(here, board.owner, one, search, VALUES)


async def _answer(here: ClientServices, owner: str, kept_id: str) -> KeptRecord:
    """An answer as the client may see it."""
    answer = required(await here.store.get(KeptRecord, owner, kept_id), "kept answer")
    return required(await as_seen(here, answer), "kept answer")


async def _visible(here: ClientServices, owner: str, among: Collection[str] | None = None) -> list[KeptRecord]:
    """The owner's answers as the client may see them; `among`: only those of these ids."""
    answers = [a for a in await here.store.of_owner(KeptRecord, owner) if among is None or a.kept_id in among]
    return [seen for answer in answers if (seen := await as_seen(here, answer)) is not None]


async def _whole(here: ClientServices, record: BoardRecord, *, mine: bool) -> BoardReply:
    """The board as the client may see it: without rows that its owner saw with other rights, and without answers whose
    SQL names what the client may not see."""
    on_board = {tile.kept_id for tile in record.tiles}
    by_id = {answer.kept_id: answer for answer in await _visible(here, record.owner, on_board)}
    tiles = [tile for tile in record.tiles if not tile.kept_id or tile.kept_id in by_id]
    answers = [KeptReply.of(by_id[tile.kept_id]) for tile in tiles if tile.kept_id]
    seen = {"tiles": tiles, "filters": await as_shown(here, record), "share": record.share if mine else None}
    return BoardReply.of({**dict(record), **seen, "answers": answers, "mine": mine})


def _title(text: str) -> str:
    return " ".join(text.split())[:200] or "Untitled"
