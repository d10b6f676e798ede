"""A SQLite file copied into another engine, whichever the URL names: `copied`.

In: a file, where copies go (`sc://host:port` of a Spark Connect server, `chdb:///folder`), a name and a session. Out:
the URL of the copy.
"""

from __future__ import annotations

from pathlib import Path

from eval.schema import Dialect
from experiments.engines.clickhouse_copy import copy_to_chdb
from experiments.engines.spark_copy import copy_to_spark


def dialect_of(server: str) -> Dialect:
    """The dialect of copies at this place."""
    return "clickhouse" if server.startswith("chdb:") else "spark"


def copied(path: Path, server: str, name: str, session: str) -> str:
    """Copy all tables into a new database `name`. Spark's copies live in the session, which others may join."""
    if dialect_of(server) == "clickhouse":
        return copy_to_chdb(path, Path(server.removeprefix("chdb:///")), name)
    return copy_to_spark(path, server, name, session)
