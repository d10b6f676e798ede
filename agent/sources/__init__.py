"""Users' own databases: connected by URL, or uploaded as files.

In: an untrusted URL or stream of bytes. Out: an open `Database`, or one of these errors for users whose own database is
rejected; its message holds no credentials and no path of the server.
"""

from __future__ import annotations

from eval.errors import Text2SQLError


class SourceError(Text2SQLError):
    """The root."""


class SourceRefused(SourceError):
    """The database is not allowed, or it is not what it claims to be."""


class SourceTooLarge(SourceError):
    """It is larger than a limit that the message names."""


class SourceGone(SourceError):
    """There is no such source for this owner."""
