"""The exceptions that programs can catch. A message is a sentence for the user and holds no credentials.

Text2SQLError                the root of all of them, those that are not listed here included
├── InputError               what was passed in cannot be used (also a ValueError)
├── QuestionFailed           a question has no answer because something failed; it holds the Answer
├── PackageMissing           an optional package for a view of an answer is not installed
├── NoChart                  the rows have a shape that no chart fits
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

`ask` and `run` raise QuestionFailed, whatever failed inside; `stream` reports it as an event. The others are raised by
databases and models that a program opens itself, and by the views of an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from agent.runtime.answer import Answer

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
    "NoChart",
    "PackageMissing",
    "QuestionFailed",
    "Text2SQLError",
]


class QuestionFailed(Text2SQLError):
    """A question has no answer, because the database, the model or the settings failed."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.reason)
        self.answer = answer
        self.kind = answer.error_kind or "internal"
        """As `error_kind` of the answer: `question`, `settings`, `database`, `model`, `model_auth`, `timeout`, …"""


class PackageMissing(Text2SQLError):
    """An optional package for a view of an answer is not installed."""

    def __init__(self, view: str, package: str) -> None:
        super().__init__(f"{view} needs {package}: pip install 'askwell[notebook]'")


class NoChart(Text2SQLError):
    """The rows have a shape that no chart fits."""
