"""Words that people taught: what each means in one of their databases."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, select

from agent.store.base import Base
from agent.store.columns import storable
from agent.store.errors import TooMany
from agent.store.records import TermRecord
from agent.store.tables import terms

MOST = 500
"""Maximum number of terms of one owner for one database."""


class TermStore(Base):
    async def teach(self, record: TermRecord) -> None:
        """Keep a term in place of what the owner taught of it before. Raises TooMany."""
        values = record.model_dump()
        mine = tuple(terms.c[name] == values[name] for name in ("owner", "preset", "rights"))

        def kept(connection: Connection) -> None:
            connection.execute(delete(terms).where(*mine, func.lower(terms.c.term) == storable(record.term).lower()))
            if (connection.scalar(select(func.count()).select_from(terms).where(*mine)) or 0) >= MOST:
                raise TooMany(f"{MOST} terms are kept for a database. Forget one first.")
            connection.execute(terms.insert(), values)

        await self._write(kept)

    async def terms(self, owner: str, preset: str, *, rights: str = "") -> list[TermRecord]:
        """The latest first."""
        of = (terms.c.owner == owner, terms.c.preset == preset, terms.c.rights == rights)
        latest = select(terms).where(*of).order_by(terms.c.created.desc(), terms.c.term_id).limit(MOST)
        return await self._all(TermRecord, latest)

    async def forget(self, owner: str, term_id: str) -> bool:
        """False when the owner has none of that id."""
        mine = delete(terms).where(terms.c.owner == owner, terms.c.term_id == term_id)
        return await self._write(lambda connection: bool(connection.execute(mine).rowcount))
