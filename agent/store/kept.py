"""Kept answers, and the boards that they are pinned to.

A board holds the ids of its answers. An answer that is removed leaves every board of its owner; a shared board is also
found by the secret part of its link.
"""

from __future__ import annotations

from sqlalchemy import Connection, delete, select, update

from agent.store.base import transaction
from agent.store.owned import OwnedStore
from agent.store.records import BoardRecord
from agent.store.schedules import without_schedules
from agent.store.tables import boards, kept, schedules


class KeptStore(OwnedStore):
    @transaction
    def remove_kept(self, connection: Connection, owner: str, kept_id: str) -> bool:
        """Remove an answer, also from the owner's boards, and its schedules. False when the owner has no such one."""
        mine = delete(kept).where(kept.c.owner == owner, kept.c.kept_id == kept_id)
        if not connection.execute(mine).rowcount:
            return False
        without_schedules(connection, schedules.c.owner == owner, schedules.c.kept_id == kept_id)
        for row in connection.execute(select(boards).where(boards.c.owner == owner)).mappings().all():
            board = BoardRecord.model_validate(dict(row))
            left = [tile for tile in board.tiles if tile.kept_id != kept_id]
            if len(left) < len(board.tiles):
                connection.execute(update(boards).where(boards.c.board_id == board.board_id).values(tiles=left))
        return True

    async def shared_board(self, share: str) -> BoardRecord | None:
        """The board whose link holds this secret, whoever owns it."""
        return await self._first(BoardRecord, select(boards).where(boards.c.share == share))

    @transaction
    def remove_board(self, connection: Connection, owner: str, board_id: str) -> bool:
        """Remove a board with its schedules; its answers stay. False when the owner has none of that id."""
        mine = delete(boards).where(boards.c.owner == owner, boards.c.board_id == board_id)
        without_schedules(connection, schedules.c.owner == owner, schedules.c.board_id == board_id)
        return bool(connection.execute(mine).rowcount)
