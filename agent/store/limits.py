"""Limits that all processes of a state keep together: token buckets, and shares of a number of things at once.

In: the key of a client. Out: whether there is a token, how many things a process may have in progress. Times are the
database's own, so the clocks of servers need not agree. Only for PostgreSQL.
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
_OTHERS = text(
    f"""SELECT COALESCE(SUM(held), 0) FROM text2sql_shares
        WHERE key = :key AND instance <> :instance AND leased_until > {_NOW}"""
)
_HOLD = text(
    f"""INSERT INTO text2sql_shares (key, instance, held, leased_until)
        VALUES (:key, :instance, :held, {_NOW} + :micros)
        ON CONFLICT (key, instance) DO UPDATE SET held = EXCLUDED.held, leased_until = EXCLUDED.leased_until"""
)
_RENEW = text(f"UPDATE text2sql_shares SET leased_until = {_NOW} + :micros WHERE instance = :instance")
_RELEASE = text("DELETE FROM text2sql_shares WHERE instance = :instance")
_DROP = text("DELETE FROM text2sql_shares WHERE instance = :instance AND key = :key")
_OLD = (
    text(f"DELETE FROM text2sql_shares WHERE leased_until < {_NOW}"),
    text(f"DELETE FROM text2sql_rates WHERE at < {_NOW} - 3600000000"),
)
_ALONE = text("SELECT pg_advisory_xact_lock(hashtext(:key))")

SHARE_SECONDS = 30.0
"""Duration of a share without renewal."""


class LimitStore(Base):
    @transaction
    def take_tokens(self, connection: Connection, key: str, count: int, *, per_second: float, burst: float) -> float:
        """Take tokens from a bucket. 0 when it had as many, else the seconds until it will; then none is taken."""
        given = {"key": storable(key), "count": count, "burst": burst, "per_micro": per_second / 1e6}
        if connection.scalar(_TAKE, given) is not None:
            return 0.0
        level = float(connection.scalar(_LEFT, given) or 0.0)
        return max(0.001, (count - level) / per_second)

    @transaction
    def hold_share(self, connection: Connection, key: str, instance: str, wanted: int, *, limit: int) -> int:
        """Set the instance's share of `limit` to `wanted`, or to what the others leave; returns it."""
        its = {"key": storable(key), "instance": instance}
        if not wanted:
            connection.execute(_DROP, its)
            return 0
        connection.execute(_ALONE, {"key": its["key"]})
        granted = max(0, min(wanted, limit - int(connection.scalar(_OTHERS, its) or 0)))
        connection.execute(_HOLD, {**its, "held": granted, "micros": int(SHARE_SECONDS * 1e6)})
        return granted

    async def renew_shares(self, instance: str) -> None:
        renewed = {"instance": instance, "micros": int(SHARE_SECONDS * 1e6)}
        await self._write(lambda connection: connection.execute(_RENEW, renewed))

    async def release_shares(self, instance: str) -> None:
        """The instance holds nothing any more."""
        await self._write(lambda connection: connection.execute(_RELEASE, {"instance": instance}))

    async def prune_limits(self) -> None:
        await self._write(lambda connection: [connection.execute(one) for one in _OLD])
