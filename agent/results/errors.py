"""What can go wrong with a kept result. Every message is for the user and holds no credentials.

- `ResultError`: the root: a result could not be kept, read or exported.
    - `StatementFailed`: the statement itself failed, ran past its deadline or was cancelled.
    - `ResultGone`: there is no such result, or no longer: keep it again by its SQL.
    - `BadRequest`: a page, sort, filter or export that makes no sense for this result.
    - `ExtraMissing`: a format needs an optional package; the message names the extra to install.
"""

from __future__ import annotations

from eval.databases.base import Status


class ResultError(Exception):
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
