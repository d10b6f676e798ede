"""Schedules: kept answers and boards that are run at their times and sent by mail or to a webhook, where something has
changed.

In: schedules of the store. Out: deliveries, each claimed by one process, run with its owner's rights as they are then,
and sent at most once unless its owner says so. The messages of the errors are told in the history of a delivery: they
hold no row, no SQL and no secret.
"""

from __future__ import annotations

from eval.errors import Text2SQLError


class NotDelivered(Text2SQLError):
    """Surely nothing has arrived."""

    def __init__(self, message: str, *, again: bool = False, pause: bool = False) -> None:
        """`again`: it may do so later; `pause`: not before the owner does something."""
        super().__init__(message)
        self.again = again
        self.pause = pause


class Unsure(Text2SQLError):
    """It may have arrived or not."""
