"""The exceptions that programs can catch. A message is a sentence for the user and holds no credentials.

Text2SQLError                the root of all of them, those that are not listed here included
├── InputError               what was passed in cannot be used (also a ValueError)
├── Busy                     as many runs as may run at once are running
├── DatabaseError            a database could not be opened or read
│   ├── DatabaseNotFound     the file, server or database does not exist
│   ├── DatabaseUnreachable  the server did not answer, or refused the login
│   └── DriverMissing        the optional package for this engine is not installed
└── ModelError               a model call failed
    ├── ModelAuthError       the key is wrong or lacks a right
    ├── ModelRateLimited     the endpoint still refused when the time for retries was over
    ├── ModelUnavailable     the endpoint cannot be reached, or failed inside
    ├── ModelTimeout         there was no complete reply in time
    ├── ModelReplyError      the reply is empty, cut off or not what was asked for
    └── ModelRefused         the endpoint rejects the request: an unknown model, or a prompt that is too long

`ask`, `run` and `stream` raise none of these: they report a failure as an answer of status `error`. They are raised by
databases and models that a program opens itself.
"""

from __future__ import annotations

from agent.models.protocol import (
    ModelAuthError,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelReplyError,
    ModelTimeout,
    ModelUnavailable,
)
from eval.databases.types import DatabaseError, DatabaseNotFound, DatabaseUnreachable, DriverMissing
from eval.errors import Busy, InputError, Text2SQLError

__all__ = [
    "Busy",
    "DatabaseError",
    "DatabaseNotFound",
    "DatabaseUnreachable",
    "DriverMissing",
    "InputError",
    "ModelAuthError",
    "ModelError",
    "ModelRateLimited",
    "ModelRefused",
    "ModelReplyError",
    "ModelTimeout",
    "ModelUnavailable",
    "Text2SQLError",
]
