"""Where the server keeps runs, threads, feedback and connected databases: SQLite, or PostgreSQL when configured.

`await open_store(settings)` gives a `Store`; what it takes and gives are the values of `agent.store.records`, what it
raises stands in `agent.store.errors`.
"""

from __future__ import annotations

from agent.store.errors import (
    BadCursor,
    NotFound,
    SecretMissing,
    StateUnavailable,
    StateUnusable,
    StoreError,
    ThreadBusy,
)
from agent.store.store import Store, open_store

__all__ = [
    "BadCursor",
    "NotFound",
    "SecretMissing",
    "StateUnavailable",
    "StateUnusable",
    "Store",
    "StoreError",
    "ThreadBusy",
    "open_store",
]
