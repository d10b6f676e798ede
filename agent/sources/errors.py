"""Errors for users whose own database is rejected. Messages hold no credentials and no path of the server.

- `SourceError`: the root.
    - `SourceRefused`: the database is not allowed, or it is not what it claims to be.
    - `SourceTooLarge`: it is larger than a limit that the message names.
    - `SourceGone`: there is no such source for this owner.
"""

from __future__ import annotations

from eval.errors import Text2SQLError


class SourceError(Text2SQLError):
    pass


class SourceRefused(SourceError):
    pass


class SourceTooLarge(SourceError):
    pass


class SourceGone(SourceError):
    pass
