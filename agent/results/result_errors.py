"""Errors of kept results. Every message is for the user and holds no credentials.

- `ResultError`: the root: a result could not be kept, read or exported.
    - `StatementFailed`: the statement itself failed, ran past its deadline or was cancelled.
    - `ResultGone`: the result does not exist (any more): keep it again from its SQL.
    - `BadRequest`: the page, sort, filter or export does not fit this result.
    - `ExtraMissing`: a format needs an optional package; the message names the extra to install.
"""

from __future__ import annotations

from eval.databases.types import Status
from eval.errors import Text2SQLError


class ResultError(Text2SQLError):
    pass


class StatementFailed(ResultError):
    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        """`error`, `timeout` or `cancelled`."""


class ResultGone(ResultError):
    pass


class BadRequest(ResultError):
    pass


class ExtraMissing(ResultError):
    pass
