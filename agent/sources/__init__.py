"""Users' own databases: connected by URL, or uploaded as files.

In: an untrusted URL or stream of bytes. Out: an open `Database`, or an error whose message is safe to show.
"""
