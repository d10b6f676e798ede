"""A SQLite file copied into another engine, whichever the URL names: `copied`.

In: a file, where copies go (`sc://host:port` of a Spark Connect server, `chdb:///folder`), a name and a session. Out:
the URL of the copy. `beside_copies` copies the databases of a question set as their questions come.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eval.databases import Database, open_database
from eval.schema import Dialect
from experiments.engines.clickhouse_copy import copy_to_chdb
from experiments.engines.spark_copy import copy_to_spark
from experiments.json_lines import read_lines


def dialect_of(server: str) -> Dialect:
    """The dialect of copies at this place."""
    return "clickhouse" if server.startswith("chdb:") else "spark"


def copied(path: Path, server: str, name: str, session: str) -> str:
    """Copy all tables into a new database `name`. Spark's copies live in the session, which others may join."""
    if dialect_of(server) == "clickhouse":
        return copy_to_chdb(path, Path(server.removeprefix("chdb:///")), name)
    return copy_to_spark(path, server, name, session)


def beside_copies(
    folder: Path, server: str, *, every: int = 1, leave_out: str = "", infer_keys: bool = True
) -> Iterator[tuple[dict[str, Any], Database, Database]]:
    """Every n-th question of a set, database by database, with its SQLite database and a copy of it."""
    session, opened = str(uuid.uuid4()), ""
    for question in sorted(read_lines(folder / "questions.jsonl"), key=lambda q: q["db"])[::every]:
        db = question["db"]
        if db == leave_out:
            continue
        if db != opened:
            path = folder / "databases" / f"{db}.sqlite"
            original = open_database(path, infer_keys=infer_keys)
            url = copied(path, server, f"{db}_{uuid.uuid4().hex[:6]}", session)
            copy, opened = open_database(url, infer_keys=infer_keys), db
        yield question, original, copy
