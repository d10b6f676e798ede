"""The roots of every exception of this project, and the messages of others', in a leaf that each package may import.

`text2sql.errors` shows the whole tree that programs can catch. A message is a sentence for the user; it holds no
credentials.
"""

from __future__ import annotations

__all__ = ["Busy", "InputError", "Text2SQLError", "first_line"]


class Text2SQLError(Exception):
    """The root: whatever this project raises on purpose derives from it."""


class InputError(Text2SQLError, ValueError):
    """What was passed in cannot be used: a request, a file, a setting or an option. The message says what is wrong."""


class Busy(Text2SQLError):
    """As many runs or assessments as may run at once are running; try again later."""


def first_line(error: object) -> str:
    """The first line of another library's message, at most 300 characters; its type's name where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
