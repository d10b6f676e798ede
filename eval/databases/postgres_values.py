"""Keep PostgreSQL values that Python's own types cannot hold as the server's text, instead of failing.

In: a connection. Out: the same connection, which now reads these without an error: `infinity`, years beyond 9999 and
BC, `24:00`, months in intervals, ranges, and text in no encoding (SQL_ASCII).
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.types import datetime as dates


class _AsText(Loader):
    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", "surrogateescape")


def _or_text(strict: type[Loader]) -> type[Loader]:
    """The driver's loader, which returns the server's text for values it cannot hold."""

    class OrText(strict):  # type: ignore[valid-type, misc]
        def load(self, data: Buffer) -> Any:
            try:
                return super().load(data)
            except (psycopg.DataError, ValueError, OverflowError):
                return bytes(data).decode("utf-8", "surrogateescape")

    return OrText


class _Interval(_or_text(dates.IntervalLoader)):  # type: ignore[misc]
    """A month has no fixed length, so an interval with months or years stays text (`1 mon 2 days`)."""

    def load(self, data: Buffer) -> Any:
        text = bytes(data)
        return text.decode() if b"mon" in text or b"year" in text else super().load(data)


_DATES: dict[str, type[Loader]] = {
    "date": _or_text(dates.DateLoader),
    "time": _or_text(dates.TimeLoader),
    "timetz": _or_text(dates.TimetzLoader),
    "timestamp": _or_text(dates.TimestampLoader),
    "timestamptz": _or_text(dates.TimestamptzLoader),
    "interval": _Interval,
}
_RANGES = ("int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange")
_MULTIRANGES = tuple(name.replace("range", "multirange") for name in _RANGES)


def keep_every_value(connection: psycopg.Connection[Any]) -> None:
    for name, loader in _DATES.items():
        connection.adapters.register_loader(name, loader)
    for name in (*_RANGES, *_MULTIRANGES, "inet", "cidr", "uuid"):
        connection.adapters.register_loader(name, _AsText)
    if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
        for name in ("text", "varchar", "bpchar", "name"):
            connection.adapters.register_loader(name, _AsText)
