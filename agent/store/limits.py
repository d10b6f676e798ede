"""Token buckets that all processes of a state keep together.

In: the key of a client. Out: whether there is a token. Times are the database's own, so the clocks of servers need not
agree. Only for PostgreSQL.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

from agent.store.base import Base, transaction
from agent.store.columns import storable

_NOW = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
_LEVEL = f"LEAST(:burst, r.level + GREATEST(0, {_NOW} - r.at) * :per_micro)"
_TAKE = text(
    f"""INSERT INTO text2sql_rates AS r (key, level, at) VALUES (:key, :burst - :count, {_NOW})
        ON CONFLICT (key) DO UPDATE SET level = {_LEVEL} - :count, at = {_NOW} WHERE {_LEVEL} >= :count
        RETURNING level"""
)
_LEFT = text(f"SELECT {_LEVEL} FROM text2sql_rates r WHERE r.key = :key")
_OLD = text(f"DELETE FROM text2sql_rates WHERE at < {_NOW} - 3600000000")


class LimitStore(Base):
    @transaction
    def take_tokens(self, connection: Connection, key: str, count: int, *, per_second: float, burst: float) -> float:
        """Take tokens from a bucket. 0 when it had as many, else the seconds until it will; then none is taken."""
        given = {"key": storable(key), "count": count, "burst": burst, "per_micro": per_second / 1e6}
        if connection.scalar(_TAKE, given) is not None:
            return 0.0
        level = float(connection.scalar(_LEFT, given) or 0.0)
        return max(0.001, (count - level) / per_second)

    async def prune_rates(self) -> None:
        await self._write(lambda connection: connection.execute(_OLD))
