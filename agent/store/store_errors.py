"""The errors that the store raises. Their messages are for people and hold no credentials.

StoreError              the state cannot be used as asked
├── StateUnavailable    the state database is away, locked for too long, or its disk is full: a later try may succeed
├── StateUnusable       the file is damaged, read-only, or written by a newer version: an operator has to repair it
├── SecretMissing       there is no key to seal or unseal a connected database's address
├── TooMany             the owner has as many boards or kept answers as there may be
├── ThreadBusy          another question is running on this thread
└── NotFound            no such record, or it belongs to another owner
BadCursor (ValueError)  a paging cursor that this store did not issue
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from sqlalchemy.exc import DBAPIError, SQLAlchemyError, StatementError

from eval.errors import InputError, Text2SQLError


class StoreError(Text2SQLError):
    """The state cannot be used as asked. Nothing has been changed."""


class StateUnavailable(StoreError):
    """The state database does not answer now."""


class StateUnusable(StoreError):
    """The state database answers, but cannot be used until an operator has repaired it."""


class SecretMissing(StoreError):
    """There is no key, or it is not the key that sealed the text."""


class ThreadBusy(StoreError):
    """Another question is running on this thread; a thread takes one at a time."""

    def __init__(self) -> None:
        super().__init__("Another question is still running on this thread. Wait for it, or cancel it.")


class NotFound(StoreError):
    """No such record of this owner."""


class TooMany(StoreError):
    """The owner has as many of them as there may be."""


class BadCursor(InputError):
    """Not a cursor of this store."""


def client_message(error: StoreError) -> str:
    """What a client of the server is told: never the place of the state, which is for the log and the operator."""
    if isinstance(error, ThreadBusy | NotFound | TooMany):
        return str(error)
    return "The server's state cannot be used now; the server's log says why."


_UNUSABLE = {
    "malformed": "is damaged",
    "not a database": "is not a state database, or is damaged",
    "encrypted": "is not a state database, or is damaged",
    "readonly": "cannot be written",
    "read-only": "cannot be written",
    "permission denied": "may not be used by this user",
    "no such table": "lacks a table that it should have",
    "no such column": "lacks a column that it should have",
}
_AWAY = {
    "unable to open": "cannot be opened",
    "locked": "was locked by another process for too long",
    "busy": "was locked by another process for too long",
    "full": "has no room left on its disk",
    "i/o error": "could not be read or written (the disk reports an error)",
}


@contextlib.contextmanager
def told_plainly(place: str) -> Iterator[None]:
    """Turn a driver's error into a StoreError about `place` (which must hold no credentials)."""
    try:
        yield
    except DBAPIError as error:
        message = str(error.orig).lower()
        for sign, meaning in _UNUSABLE.items():
            if sign in message:
                raise StateUnusable(
                    f"The state database {place} {meaning}. Nothing was changed; set it right, move it away, or name "
                    "another place by TEXT2SQL_STATE_DIR or TEXT2SQL_STATE_URL."
                ) from error
        for sign, meaning in _AWAY.items():
            if sign in message:
                raise StateUnavailable(f"The state database {place} {meaning}.") from error
        if error.connection_invalidated or type(error.orig).__name__ in ("OperationalError", "PoolTimeout"):
            raise StateUnavailable(f"The state database {place} does not answer.") from error
        raise StoreError(f"The state database {place} refused a statement ({type(error.orig).__name__}).") from error
    except StatementError as error:
        raise error.orig or error from None  # a value that cannot be stored, as NaN in JSON
    except (OSError, SQLAlchemyError) as error:
        raise StateUnavailable(f"The state database {place} does not answer ({type(error).__name__}).") from error
