"""The values of the state database, in a form that SQLite and PostgreSQL hold and sort alike.

In: the fields of a record. Out: a column for each, whose type converts its values in statements and in rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from sqlalchemy import BigInteger, Column, Dialect, Float, Integer, Text
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(moment: datetime) -> int:
    """Microseconds since 1970 UTC."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def now() -> int:
    return micros(datetime.now(UTC))


def storable(text: str) -> str:
    """Text that every database accepts: PostgreSQL has no NUL, and neither database accepts a lone surrogate."""
    return text.replace("\x00", "�").encode("utf-8", "replace").decode()


class Words(TypeDecorator[str]):
    """Text, made `storable`."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, _: Dialect) -> str | None:
        return value if value is None else storable(value)


class Moment(TypeDecorator[datetime]):
    """An aware time as `micros`."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _: Dialect) -> int | None:
        return value if value is None else micros(value)

    def process_result_value(self, value: int | None, _: Dialect) -> datetime | None:
        return value if value is None else moment(value)


class Json(TypeDecorator[Any]):
    """JSON as text, which holds anything that JSON can escape; NaN and infinities are refused by a ValueError."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, _: Dialect) -> str | None:
        return None if value is None else json.dumps(value, allow_nan=False, default=to_jsonable_python)

    def process_result_value(self, value: str | None, _: Dialect) -> Any:
        return None if value is None else json.loads(value)


_TYPES: dict[Any, Any] = {str: Words, int: Integer, float: Float, datetime: Moment}


_ADDED = {"rights": "", "filters": "[]"}
"""Columns that older states have had added, with the value of the rows that were there."""


def columns_of(record: type[BaseModel]) -> Iterator[Column[Any]]:
    """A column for each field of a record; the first one is the key."""
    for number, (name, field) in enumerate(record.model_fields.items()):
        kind, optional = field.annotation, False
        if NoneType in get_args(kind):
            kind, optional = next(part for part in get_args(kind) if part is not NoneType), True
        type_ = Words if get_origin(kind) is Literal else _TYPES.get(kind, Json)
        yield Column(name, type_, primary_key=number == 0, nullable=optional, server_default=_ADDED.get(name))
