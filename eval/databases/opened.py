"""`OpenedDatabase`: what all engines share that open a `Target`: its names, and its structure, kept for a while.

`SchemaCache`, in: a time to live, a cheap sign of the structure's state, and a function that reads the structure. Out:
the `Schema`. Caches are shared within the process by the database's identity, so that opening a database again costs
nothing.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, ClassVar

from eval.databases.base import Database
from eval.databases.inference import with_inferred_keys
from eval.databases.statement_run import StatementRun
from eval.databases.types import DatabaseError
from eval.databases.urls import Target
from eval.schema import Schema

_MAX_SHARED = 64
_INFER_SECONDS = 3.0


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


class OpenedDatabase(Database):
    """A database that this process has opened itself."""

    def __init__(self, target: Target, infer_keys: bool) -> None:
        self.name = target.name
        self.url = target.url
        self._target = target
        self._infer_keys = infer_keys
        self._lock = threading.Lock()
        self._closed = False

    @cached_property
    def _schema_cache(self) -> SchemaCache:
        """Created on first use: a database whose structure is never read takes no slot in the shared cache."""
        target = self._target
        identity = (self.dialect, self.url, target.address, target.options, self._infer_keys)
        return SchemaCache.shared(identity if target.path is not None or target.host else None)

    def _require_open(self) -> None:
        """Raises DatabaseError once the database is closed."""
        if self._closed:
            raise DatabaseError("the database has been closed")

    def _with_keys(self, schema: Schema, connection: Any) -> Schema:
        """The schema of a file with the keys that it implies, looked up on a connection that can be interrupted."""
        if not self._infer_keys:
            return schema
        with StatementRun.of_ours(self.dialect, _INFER_SECONDS).interrupting(connection.interrupt):
            return with_inferred_keys(schema, lambda sql: connection.execute(sql).fetchall())

    def _explain(self, message: str) -> str:
        return self._target.redact(message)
