"""Sources: clients' own databases, connected by URL or uploaded.

In: source records. Out: the same records, looked up by their owner. A location is sealed before it is written. The path
of an uploaded file is not secret, so it is stored unsealed where there is no key.
"""

from __future__ import annotations

import logging
from typing import Any

from sqlalchemy import RowMapping, delete, select

from agent.store.base import Base, moment, row_values, storable
from agent.store.errors import SecretMissing
from agent.store.records import SourceRecord
from agent.store.tables import sources

log = logging.getLogger(__name__)

_PLAIN = "plain:"
_SEALED = "sealed:"


class SourceStore(Base):
    async def add_source(self, source: SourceRecord) -> None:
        """Raises SecretMissing when a connected database's address cannot be sealed."""
        values = row_values(source.model_dump() | {"location": self._kept(source)})
        await self._write(lambda connection: connection.execute(sources.insert(), values))

    async def sources(self, owner: str) -> list[SourceRecord]:
        """The owner's databases, oldest first. A database whose address cannot be unsealed is left out and logged."""
        query = select(sources).where(sources.c.owner == owner).order_by(sources.c.created, sources.c.source_id)
        rows = await self._all(query)
        opened: list[SourceRecord] = []
        for one in rows:
            try:
                opened.append(self._opened(one))
            except SecretMissing as error:
                log.warning("The database %s is left out: %s", one["source_id"], error)
        return opened

    async def source(self, owner: str, source_id: str) -> SourceRecord | None:
        """Raises SecretMissing when its address cannot be unsealed."""
        query = select(sources).where(sources.c.owner == owner, sources.c.source_id == storable(source_id))
        row = await self._first(query)
        return self._opened(row) if row else None

    async def remove_source(self, owner: str, source_id: str) -> SourceRecord | None:
        """Delete a database's record and return it (without a location that cannot be unsealed), or None."""
        query = delete(sources).where(sources.c.owner == owner, sources.c.source_id == storable(source_id))
        removed = query.returning(*sources.c)
        row = await self._write(lambda connection: connection.execute(removed).mappings().first())
        if row is None:
            return None
        try:
            return self._opened(row)
        except SecretMissing:
            return _record(row, "")

    def _kept(self, source: SourceRecord) -> str:
        try:
            return _SEALED + self._sealer.seal(source.location)
        except SecretMissing:
            if source.kind == "connected":
                raise
            return _PLAIN + source.location

    def _opened(self, row: RowMapping) -> SourceRecord:
        kept: str = row["location"]
        if kept.startswith(_PLAIN):
            return _record(row, kept.removeprefix(_PLAIN))
        return _record(row, self._sealer.unseal(kept.removeprefix(_SEALED)))


def _record(row: RowMapping, location: str) -> SourceRecord:
    values: dict[str, Any] = dict(row)
    return SourceRecord(**values | {"created": moment(values["created"]), "location": location})
