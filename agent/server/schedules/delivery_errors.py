"""Why a delivery does not arrive. The messages are told in its history: they hold no row, no SQL and no secret."""

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
