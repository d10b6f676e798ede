"""The server's state: runs, threads, feedback and connected databases, in SQLite or, when configured, PostgreSQL.

`await open_store(settings)` gives a `Store`; its methods take and return the records of `agent.store.records` and raise
the errors of `agent.store.store_errors`.
"""

from __future__ import annotations

from agent.store.store import Store, open_store
from agent.store.store_errors import (
    BadCursor,
    NotFound,
    SecretMissing,
    StateUnavailable,
    StateUnusable,
    StoreError,
    ThreadBusy,
    TooMany,
    client_message,
)

__all__ = [
    "BadCursor",
    "NotFound",
    "SecretMissing",
    "StateUnavailable",
    "StateUnusable",
    "Store",
    "StoreError",
    "ThreadBusy",
    "TooMany",
    "client_message",
    "open_store",
]
