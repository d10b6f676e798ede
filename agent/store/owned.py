"""Records of any kind that has one owner and a key: added, looked up, listed and changed in the same way.

In: a kind of record, its owner, its key. Out: the records, only for their owner. What more a kind needs is in the file
of its name.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, func, select, update

from agent.store.base import Base, transaction
from agent.store.records import (
    BoardRecord,
    KeptRecord,
    Record,
    RunRecord,
    ScheduleRecord,
    SourceRecord,
    ThreadRecord,
)
from agent.store.store_errors import TooMany
from agent.store.tables import TABLES, key_of, selected

MOST: dict[type[Record], int] = {KeptRecord: 1_000, BoardRecord: 1_000, ScheduleRecord: 100}
"""Maximum number of records of one owner."""

Owned = RunRecord | ThreadRecord | SourceRecord | KeptRecord | BoardRecord | ScheduleRecord
R = TypeVar("R", RunRecord, ThreadRecord, SourceRecord, KeptRecord, BoardRecord, ScheduleRecord)


class OwnedStore(Base):
    @transaction
    def add(self, connection: Connection, record: Owned) -> None:
        """Raises TooMany."""
        table, most = TABLES[type(record)], MOST.get(type(record))
        mine = select(func.count()).select_from(table).where(table.c.owner == record.owner)
        if most is not None and (connection.scalar(mine) or 0) >= most:
            raise TooMany(f"You have {most:,} of them already, which is the most: remove some first.")
        connection.execute(table.insert(), record.model_dump())

    async def get(self, kind: type[R], owner: str, key: str) -> R | None:
        table = TABLES[kind]
        return await self._first(kind, selected(kind).where(table.c.owner == owner, key_of(table) == key))

    async def of_owner(self, kind: type[R], owner: str) -> list[R]:
        """The one changed last first; of a kind that has no time of that, the latest."""
        table = TABLES[kind]
        latest = table.c["updated" if "updated" in table.c else "created"].desc()
        return await self._all(kind, selected(kind).where(table.c.owner == owner).order_by(latest, key_of(table)))

    async def change(self, record: R, **changed: Any) -> R:
        """Store other values of a record (columns of its table) and return it with them."""
        table, fields = TABLES[type(record)], type(record).model_fields
        if "updated" in fields:
            changed["updated"] = datetime.now(UTC)
        key = key_of(table)
        query = update(table).where(key == getattr(record, key.name)).values(**changed)
        await self._write(lambda connection: connection.execute(query))
        return record.model_copy(update={name: value for name, value in changed.items() if name in fields})
