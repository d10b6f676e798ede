"""Kept answers, and the boards that they are pinned to.

In: records. Out: the same records, found by their owner; a shared board also by the secret part of its link. A board
holds the ids of its answers; an answer that is removed leaves every board of its owner.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Table, delete, func, select, update

from agent.store.base import Base, transaction
from agent.store.records import BoardRecord, KeptRecord
from agent.store.schedules import without_schedules
from agent.store.store_errors import TooMany
from agent.store.tables import boards, kept, schedules

MOST = 1_000
"""Maximum number of kept answers and of boards of one owner."""


class KeptStore(Base):
    async def keep(self, answer: KeptRecord) -> None:
        """Raises TooMany."""
        await self._write(lambda connection: _added(connection, kept, answer))

    async def kept(self, owner: str) -> list[KeptRecord]:
        """The latest first."""
        query = select(kept).where(kept.c.owner == owner).order_by(kept.c.created.desc(), kept.c.kept_id).limit(MOST)
        return await self._all(KeptRecord, query)

    async def kept_answer(self, owner: str, kept_id: str) -> KeptRecord | None:
        return await self._first(KeptRecord, select(kept).where(kept.c.owner == owner, kept.c.kept_id == kept_id))

    async def change_kept(self, answer: KeptRecord, **changed: Any) -> KeptRecord:
        """Store other values of an answer (fields of `KeptRecord`) and return it with them."""
        await self._write(lambda c: _changed(c, kept, "kept_id", answer.kept_id, changed))
        return answer.model_copy(update=changed)

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
                _changed(connection, boards, "board_id", board.board_id, {"tiles": left})
        return True

    async def add_board(self, board: BoardRecord) -> None:
        """Raises TooMany."""
        await self._write(lambda connection: _added(connection, boards, board))

    async def boards(self, owner: str) -> list[BoardRecord]:
        """The one changed last first."""
        query = select(boards).where(boards.c.owner == owner).order_by(boards.c.updated.desc(), boards.c.board_id)
        return await self._all(BoardRecord, query.limit(MOST))

    async def board(self, owner: str, board_id: str) -> BoardRecord | None:
        query = select(boards).where(boards.c.owner == owner, boards.c.board_id == board_id)
        return await self._first(BoardRecord, query)

    async def shared_board(self, share: str) -> BoardRecord | None:
        """The board whose link holds this secret, whoever owns it."""
        return await self._first(BoardRecord, select(boards).where(boards.c.share == share))

    async def change_board(self, board: BoardRecord, **changed: Any) -> BoardRecord:
        """Store other values of a board (fields of `BoardRecord`) and return it with them."""
        changed |= {"updated": datetime.now(UTC)}
        await self._write(lambda c: _changed(c, boards, "board_id", board.board_id, changed))
        return board.model_copy(update=changed)

    @transaction
    def remove_board(self, connection: Connection, owner: str, board_id: str) -> bool:
        """Remove a board with its schedules; its answers stay. False when the owner has none of that id."""
        mine = delete(boards).where(boards.c.owner == owner, boards.c.board_id == board_id)
        without_schedules(connection, schedules.c.owner == owner, schedules.c.board_id == board_id)
        return bool(connection.execute(mine).rowcount)


def _added(connection: Connection, table: Table, record: KeptRecord | BoardRecord) -> None:
    mine = select(func.count()).select_from(table).where(table.c.owner == record.owner)
    if (count := connection.scalar(mine) or 0) >= MOST:
        raise TooMany(f"You have {count:,} of them already, which is the most: remove some first.")
    connection.execute(table.insert(), record.model_dump())


def _changed(connection: Connection, table: Table, key: str, value: str, changed: dict[str, Any]) -> None:
    connection.execute(update(table).where(table.c[key] == value).values(**changed))
