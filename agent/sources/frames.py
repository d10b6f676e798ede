"""Tables in memory as a database: pandas, Polars and Arrow tables, and what a DuckDB connection holds.

In: a frame, frames by name, a connection, or a list of data files. Out: a database over a copy in a temporary folder,
which goes when the database is closed; columns of text are read like those of a file. Raises DatabaseError, InputError.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from agent.sources import SourceError
from agent.sources.files import open_files
from agent.sources.tabular.plan import Reading
from agent.sources.tabular.sql import literal, name, plain_name, unique_name
from agent.sources.tabular.stage import Bounds
from agent.sources.tabular.tables import File, import_tables
from eval.databases import Database, DatabaseError, open_database
from eval.errors import InputError

ALONE = "records"
"""Name of a table that has none."""


def open_data(data: Any, cache: str | None = None) -> Database:
    """The database over `data`; blocks while it is copied. Raises InputError for what is no data."""
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, (str, Path)) for item in data):
        return open_files([Path(item) for item in data], cache, lambda _: None)
    if isinstance(data, duckdb.DuckDBPyConnection):
        return _copied(lambda folder: _from_connection(data, folder))

    def is_frame(value: Any) -> bool:
        """By what the object offers, so that no package is imported that the program does not use."""
        known = type(value).__module__.split(".")[0] in ("pandas", "polars", "pyarrow") and hasattr(value, "columns")
        return known or hasattr(value, "__arrow_c_stream__")

    frames = data if isinstance(data, Mapping) else {ALONE: data}
    if not frames or not all(isinstance(key, str) and is_frame(frame) for key, frame in frames.items()):
        size = "an empty" if isinstance(data, Sequence) and not data else "a"
        raise InputError(
            "`database` takes a demo's name, a path, a URL, a list of data files, a pandas, Polars or Arrow table, a "
            f"dict of tables by name, a DuckDB connection, or an open Database; not {size} {type(data).__name__}"
        )
    return _copied(lambda folder: _from_frames(frames, folder))


def _copied(write: Any) -> Database:
    folder = Path(tempfile.mkdtemp(prefix="text2sql-"))
    try:
        out = write(folder)
        database = open_database(out)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, SourceError):
            raise DatabaseError(f"the table cannot be read: {error}") from None
        raise
    database.name = ALONE
    weakref.finalize(database, shutil.rmtree, folder, ignore_errors=True)
    return database


def _from_frames(frames: Mapping[str, Any], folder: Path) -> Path:
    files: list[File] = []
    with duckdb.connect() as engine:
        for number, (table, frame) in enumerate(frames.items()):
            path = folder / f"{number}.parquet"
            try:
                engine.register("frame", frame.to_frame() if type(frame).__name__ == "Series" else frame)
                engine.execute(f"COPY (SELECT * FROM frame) TO {literal(str(path))} (FORMAT parquet)")
                engine.unregister("frame")
            except duckdb.Error as error:
                raise DatabaseError(f"the table {table} cannot be read: {str(error).splitlines()[0]}") from None
            files.append(File(path, table, "parquet"))
    out = folder / "data.duckdb"
    bounds = Bounds(rows=100_000_000, columns=20_000)
    import_tables(files, out, bounds, Reading(), lambda *_: None, memory=8 << 30)
    for file in files:
        file.path.unlink()
    return out


def _from_connection(connection: DuckDBPyConnection, folder: Path) -> Path:
    """The tables and views of the connection's database, as they are now."""
    out = folder / "data.duckdb"
    try:
        relations = connection.cursor().execute("SHOW TABLES").fetchall()
        with duckdb.connect(str(out)):
            pass
        used: set[str] = set()
        cursor = connection.cursor()
        cursor.execute(f"ATTACH {literal(str(out))} AS text2sql_copy")
        try:
            for (relation,) in relations:
                target = unique_name(plain_name(relation, "data"), used)
                cursor.execute(f"CREATE TABLE text2sql_copy.{name(target)} AS SELECT * FROM {name(relation)}")
        finally:
            cursor.execute("DETACH text2sql_copy")
    except duckdb.Error as error:
        raise DatabaseError(f"the connection's tables cannot be copied: {str(error).splitlines()[0]}") from None
    if not relations:
        raise DatabaseError("the connection has no tables")
    return out
