"""What a user hears when a database of their own is not taken. Messages hold no credentials and no path of the server.

- `SourceError`: the root.
    - `SourceRefused`: it is not allowed, or it is not what it claims to be.
    - `SourceTooLarge`: it is larger than a limit that the message names.
    - `SourceGone`: there is no such source for this owner.
"""

from __future__ import annotations


class SourceError(Exception):
    pass


class SourceRefused(SourceError):
    pass


class SourceTooLarge(SourceError):
    pass


class SourceGone(SourceError):
    pass
