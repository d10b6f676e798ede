"""Cache introspected schemas for a while, so that reading one again costs no catalogue queries.

In: a time to live, a cheap sign of the structure's state, and a function that reads the structure. Out: the `Schema`.
Caches are shared within the process by the database's identity, so that opening a database again costs nothing.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import ClassVar

from eval.schema import Schema

_MAX_SHARED = 64


class SchemaCache:
    """One database's schema. Threads that ask at the same time wait for the same reading."""

    _shared: ClassVar[OrderedDict[Hashable, SchemaCache]] = OrderedDict()
    _shared_lock = threading.Lock()

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: tuple[Schema, str | None, float] | None = None

    @classmethod
    def shared(cls, identity: Hashable | None) -> SchemaCache:
        """The process's cache for this identity; a cache with identity None is never shared."""
        if identity is None:
            return cls()
        with cls._shared_lock:
            cache = cls._shared.pop(identity, None) or cls()
            cls._shared[identity] = cache
            if len(cls._shared) > _MAX_SHARED:
                cls._shared.popitem(last=False)
            return cache

    def get(self, ttl: float, *, sign: Callable[[], str | None], read: Callable[[], Schema]) -> Schema:
        """The cached schema if it is younger than `ttl` seconds and the sign is unchanged, otherwise a fresh reading.

        The sign is taken before the reading, so that a change in between is noticed next time.
        """
        with self._lock:
            now = time.monotonic()
            current = sign()
            if self._kept is not None:
                schema, then, read_at = self._kept
                if now - read_at < ttl and then == current:
                    return schema
            schema = read()
            self._kept = (schema, current, now)
            return schema
