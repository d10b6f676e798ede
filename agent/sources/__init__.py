"""Databases that users bring: connected by URL, or uploaded as files.

In: a URL or a stream of bytes from a stranger. Out: an open `Database`, or an error whose message may be shown.
"""

from agent.sources.connections import CheckedUrl, Connected, ConnectionPolicy, check_url, connect
from agent.sources.errors import SourceError, SourceGone, SourceRefused, SourceTooLarge
from agent.sources.uploads import Source, SourceTable, UploadLimits, UploadStore

__all__ = [
    "CheckedUrl",
    "Connected",
    "ConnectionPolicy",
    "Source",
    "SourceError",
    "SourceGone",
    "SourceRefused",
    "SourceTable",
    "SourceTooLarge",
    "UploadLimits",
    "UploadStore",
    "check_url",
    "connect",
]
