"""Users' own databases: connected by URL, or uploaded as files.

In: an untrusted URL or stream of bytes. Out: an open `Database`, or an error whose message is safe to show.
"""

from agent.sources.connections import ConnectionPolicy, connect
from agent.sources.errors import SourceError, SourceGone, SourceRefused, SourceTooLarge
from agent.sources.uploads import Source, UploadLimits, UploadStore

__all__ = [
    "ConnectionPolicy",
    "Source",
    "SourceError",
    "SourceGone",
    "SourceRefused",
    "SourceTooLarge",
    "UploadLimits",
    "UploadStore",
    "connect",
]
