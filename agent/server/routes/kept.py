"""`/kept`, `/boards`, `/shared`: answers that are kept, boards of them, and boards that others share by a link."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from agent.server.access import Client, CurrentClient
from agent.server.documents import of_board
from agent.server.errors import ApiError, required
from agent.server.kept import as_seen, database_of, parameters_of, refreshed
from agent.server.kept_replies import (
    BoardChange,
    BoardIn,
    BoardReply,
    BoardSummary,
    KeepIn,
    KeptChange,
    KeptReply,
    RefreshIn,
    ShareReply,
)
from agent.server.routes.answers import DOCUMENTS, DocumentFormat, document_response, refusals
from agent.server.services import CurrentServices, Services
from agent.store.records import BoardRecord, KeptRecord

router = APIRouter(tags=["boards"])

KeptId = Annotated[str, Path(max_length=200)]
BoardId = Annotated[str, Path(max_length=200)]
Share = Annotated[str, Path(max_length=200, description="The secret part of a board's link.")]


@router.get("/kept", responses=refusals())
async def kept(services: CurrentServices, client: CurrentClient) -> list[KeptReply]:
    """The answers that you keep, the latest first."""
    return [KeptReply.of(record) for record in await _visible(services, client, client.owner)]


@router.post("/kept", status_code=201, responses=refusals(404, 409))
async def keep(services: CurrentServices, client: CurrentClient, asked: KeepIn) -> KeptReply:
    """Keep the answer of a run: its question, its SQL with the constants that may be set anew, and how it is shown."""
    run = client.sees(required(await services.store.run(client.owner, asked.run_id), "run"))
    if not run.sql or run.status not in ("success", "doubtful"):
        raise ApiError(409, "This run has no result to keep.")
    database = await database_of(services, client, run.preset)
    record = KeptRecord(
        kept_id=secrets.token_urlsafe(12),
        owner=client.owner,
        rights=client.rights,
        title=_title(asked.title or run.question or "SQL"),
        question=run.question,
        preset=run.preset,
        sql=run.sql,
        dialect=database.dialect,
        chart=asked.chart.model_dump() if asked.chart else {},
        parameters=parameters_of(run.sql, database),
        created=datetime.now(UTC),
    )
    record = record.model_copy(update={"result": await refreshed(services, client, record)})
    await services.store.keep(record)
    return KeptReply.of(record)


@router.patch("/kept/{kept_id}", responses=refusals(404))
async def change_kept(
    services: CurrentServices, client: CurrentClient, kept_id: KeptId, asked: KeptChange
) -> KeptReply:
    """Rename a kept answer, or show it in another form."""
    record = await _answer(services, client, client.owner, kept_id)
    changed: dict[str, Any] = {} if asked.title is None else {"title": _title(asked.title)}
    if asked.chart or asked.as_table:
        changed["chart"] = asked.chart.model_dump() if asked.chart and not asked.as_table else {}
    return KeptReply.of(await services.store.change_kept(record, **changed) if changed else record)


@router.delete("/kept/{kept_id}", status_code=204, responses=refusals(404))
async def remove_kept(services: CurrentServices, client: CurrentClient, kept_id: KeptId) -> None:
    """Keep an answer no longer; it also leaves your boards."""
    required(await services.store.remove_kept(client.owner, kept_id), "kept answer")


@router.post("/kept/{kept_id}/refresh", responses=refusals(404))
async def refresh_kept(
    services: CurrentServices, client: CurrentClient, kept_id: KeptId, asked: RefreshIn
) -> KeptReply:
    """Run a kept answer's statement again. Values that are given for its parameters are kept, too."""
    record = await _answer(services, client, client.owner, kept_id)
    rows = await refreshed(services, client, record, asked.values)
    changed: dict[str, Any] = {"result": rows, "rights": client.rights}
    if asked.values is not None:
        pairs = zip(record.parameters, asked.values, strict=True)
        changed["parameters"] = [parameter.model_copy(update={"value": value}) for parameter, value in pairs]
    return KeptReply.of(await services.store.change_kept(record, **changed))


@router.get("/boards", responses=refusals())
async def boards(services: CurrentServices, client: CurrentClient) -> list[BoardSummary]:
    """Your boards, the one changed last first."""
    return [BoardSummary.of(record) for record in await services.store.boards(client.owner)]


@router.post("/boards", status_code=201, responses=refusals(409))
async def add_board(services: CurrentServices, client: CurrentClient, asked: BoardIn) -> BoardSummary:
    """Begin a board."""
    at = datetime.now(UTC)
    record = BoardRecord(
        board_id=secrets.token_urlsafe(12),
        owner=client.owner,
        title=_title(asked.title),
        tiles=[],
        created=at,
        updated=at,
    )
    await services.store.add_board(record)
    return BoardSummary.of(record)


@router.get("/boards/{board_id}", responses=refusals(404))
async def board(services: CurrentServices, client: CurrentClient, board_id: BoardId) -> BoardReply:
    """A board with its answers and the rows that they returned last."""
    return await _whole(services, client, await _board(services, client.owner, board_id), mine=True)


@router.patch("/boards/{board_id}", responses=refusals(404))
async def change_board(
    services: CurrentServices, client: CurrentClient, board_id: BoardId, asked: BoardChange
) -> BoardReply:
    """Rename a board, or pin, unpin and arrange its tiles."""
    record = await _board(services, client.owner, board_id)
    changed: dict[str, Any] = {} if asked.title is None else {"title": _title(asked.title)}
    if asked.tiles is not None:
        own = {answer.kept_id for answer in await services.store.kept(client.owner)}
        if any(tile.kept_id not in own for tile in asked.tiles):
            raise ApiError(404, "There is no such kept answer.")
        changed["tiles"] = list({tile.kept_id: tile for tile in asked.tiles}.values())
    return await _whole(services, client, await services.store.change_board(record, **changed), mine=True)


@router.delete("/boards/{board_id}", status_code=204, responses=refusals(404))
async def remove_board(services: CurrentServices, client: CurrentClient, board_id: BoardId) -> None:
    """Remove a board; its answers stay kept."""
    required(await services.store.remove_board(client.owner, board_id), "board")


@router.post("/boards/{board_id}/share", responses=refusals(404))
async def share_board(services: CurrentServices, client: CurrentClient, board_id: BoardId) -> ShareReply:
    """Share a board: every client of this server who has the link may look at it and refresh it; where there are
    policies, with rights of their own. A board that is shared already keeps its link."""
    record = await _board(services, client.owner, board_id)
    share = record.share or secrets.token_urlsafe(24)
    if record.share is None:
        await services.store.change_board(record, share=share)
    return ShareReply(share=share)


@router.delete("/boards/{board_id}/share", status_code=204, responses=refusals(404))
async def unshare_board(services: CurrentServices, client: CurrentClient, board_id: BoardId) -> None:
    """End sharing: the link leads nowhere any more."""
    await services.store.change_board(await _board(services, client.owner, board_id), share=None)


@router.get("/boards/{board_id}/export", response_class=Response, responses={**DOCUMENTS, **refusals(404)})
async def export_board(
    services: CurrentServices, client: CurrentClient, board_id: BoardId, wanted: DocumentFormat = "html"
) -> Response:
    """A board as a document with the rows that its answers returned last."""
    record = await _board(services, client.owner, board_id)
    return document_response(of_board(record, await _visible(services, client, client.owner)), wanted)


@router.get("/shared/{share}", responses=refusals(404))
async def shared_board(
    services: CurrentServices,
    client: CurrentClient,
    share: Share,
) -> BoardReply:
    """A board that somebody shares, as all but its owner see it."""
    return await _whole(services, client, await _shared(services, share), mine=False)


@router.post("/shared/{share}/{kept_id}/refresh", responses=refusals(404))
async def refresh_shared(
    services: CurrentServices,
    client: CurrentClient,
    share: Share,
    kept_id: KeptId,
    asked: RefreshIn,
) -> KeptReply:
    """Run the statement of an answer on a shared board again; nothing of its owner's is changed."""
    record = await _shared(services, share)
    if all(tile.kept_id != kept_id for tile in record.tiles):
        raise ApiError(404, "There is no such answer on this board.")
    answer = await _answer(services, client, record.owner, kept_id)
    rows = await refreshed(services, client, answer, asked.values)
    return KeptReply.of(answer.model_copy(update={"result": rows}))


async def _answer(services: Services, client: Client, owner: str, kept_id: str) -> KeptRecord:
    """An answer as the client may see it."""
    answer = required(await services.store.kept_answer(owner, kept_id), "kept answer")
    return required(await as_seen(services, client, answer), "kept answer")


async def _visible(
    services: Services, client: Client, owner: str, among: Collection[str] | None = None
) -> list[KeptRecord]:
    """The owner's answers as the client may see them; `among`: only those of these ids."""
    answers = [a for a in await services.store.kept(owner) if among is None or a.kept_id in among]
    return [seen for answer in answers if (seen := await as_seen(services, client, answer)) is not None]


async def _board(services: Services, owner: str, board_id: str) -> BoardRecord:
    return required(await services.store.board(owner, board_id), "board")


async def _shared(services: Services, share: str) -> BoardRecord:
    return required(await services.store.shared_board(share), "board, or it is no longer shared")


async def _whole(services: Services, client: Client, record: BoardRecord, *, mine: bool) -> BoardReply:
    """The board as the client may see it: without rows that its owner saw with other rights, and without answers whose
    SQL names what the client may not see."""
    on_board = {tile.kept_id for tile in record.tiles}
    by_id = {answer.kept_id: answer for answer in await _visible(services, client, record.owner, on_board)}
    tiles = [tile for tile in record.tiles if tile.kept_id in by_id]
    return BoardReply(
        board_id=record.board_id,
        title=record.title,
        tiles=tiles,
        answers=[KeptReply.of(by_id[tile.kept_id]) for tile in tiles],
        share=record.share if mine else None,
        updated=record.updated,
        mine=mine,
    )


def _title(text: str) -> str:
    return " ".join(text.split())[:200] or "Untitled"
