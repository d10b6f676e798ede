"""Preferences of the whole server that are set while it runs; each is sealed, because it may hold a key.

In: a name and a text. Out: the same text, as long as the key that sealed it is there.
"""

from __future__ import annotations

from sqlalchemy import Connection, delete, select

from agent.store.base import Base
from agent.store.tables import preferences


class PreferenceStore(Base):
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
