"""What is sealed before it is written: clients' own databases, and preferences of the whole server.

In: source records; a preference's name and text. Out: the same records, looked up by their owner; the text, as long as
the key that sealed it is there. The path of an uploaded file is not secret, so it is stored unsealed where there is no
key.
"""

from __future__ import annotations

import logging

from sqlalchemy import Connection, delete, select

from agent.store.base import Base
from agent.store.records import SourceRecord
from agent.store.store_errors import SecretMissing
from agent.store.tables import preferences, sources

log = logging.getLogger(__name__)

_PLAIN = "plain:"
_SEALED = "sealed:"


class SourceStore(Base):
    async def add_source(self, source: SourceRecord) -> None:
        """Raises SecretMissing when a connected database's address cannot be sealed."""
        await self.add(source.model_copy(update={"location": self._kept(source)}))

    async def sources(self, owner: str) -> list[SourceRecord]:
        """The owner's databases, oldest first. A database whose address cannot be unsealed is left out and logged."""
        query = select(sources).where(sources.c.owner == owner).order_by(sources.c.created, sources.c.source_id)
        opened: list[SourceRecord] = []
        for one in await self._all(SourceRecord, query):
            try:
                opened.append(self._opened(one))
            except SecretMissing as error:
                log.warning("The database %s is left out: %s", one.source_id, error)
        return opened

    async def remove_source(self, owner: str, source_id: str) -> SourceRecord | None:
        """Delete a database's record and return it (without a location that cannot be unsealed), or None."""
        query = delete(sources).where(sources.c.owner == owner, sources.c.source_id == source_id)
        removed = query.returning(*sources.c)
        row = await self._write(lambda connection: connection.execute(removed).mappings().first())
        if row is None:
            return None
        removed_one = SourceRecord.model_validate(dict(row))
        try:
            return self._opened(removed_one)
        except SecretMissing:
            return removed_one.model_copy(update={"location": ""})

    async def sealed_preference(self, name: str) -> str | None:
        """The sealed text: it changes whenever the preference does. None where it is not set."""
        query = select(preferences.c.sealed).where(preferences.c.name == name)
        return await self._read(lambda connection: connection.scalar(query))

    def unsealed(self, sealed: str) -> str:
        """Raises SecretMissing when it was sealed with another key."""
        return self._sealer.unseal(sealed)

    async def set_preference(self, name: str, text: str | None) -> None:
        """Keep a preference; None removes it. Raises SecretMissing when it cannot be sealed."""
        sealed = None if text is None else self._sealer.seal(text)

        def kept(connection: Connection) -> None:
            connection.execute(delete(preferences).where(preferences.c.name == name))
            if sealed is not None:
                connection.execute(preferences.insert(), {"name": name, "sealed": sealed})

        await self._write(kept)

    def _kept(self, source: SourceRecord) -> str:
        try:
            return _SEALED + self._sealer.seal(source.location)
        except SecretMissing:
            if source.kind == "connected":
                raise
            return _PLAIN + source.location

    def _opened(self, kept: SourceRecord) -> SourceRecord:
        """Raises SecretMissing when its address cannot be unsealed."""
        if kept.location.startswith(_PLAIN):
            return kept.model_copy(update={"location": kept.location.removeprefix(_PLAIN)})
        address = self._sealer.unseal(kept.location.removeprefix(_SEALED))
        return kept.model_copy(update={"location": address})
