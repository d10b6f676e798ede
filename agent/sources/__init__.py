"""Users' own databases: connected by URL, or uploaded as files.

In: an untrusted URL or stream of bytes. Out: an open `Database`, or an error whose message is safe to show.
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
