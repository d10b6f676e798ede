"""The code of a child process: it opens one file database, confines itself, and runs the statements it receives.

In: a target, then requests, over a socket. Out: for each request one or more replies `(columns, rows, end)`. `end` is
None while more replies follow; in the last one it is `(status, message, truncated, usable)`. A message names the file
without its path.
"""

from __future__ import annotations

import os
import re
import signal
import site
import socket
import sys
import sysconfig
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from eval.confinement import confine, limit_processor, limit_resources
from eval.databases.base import Database
from eval.databases.isolation.messages import Request, receive_trusted, send
from eval.databases.sqlite import SQLiteDatabase
from eval.databases.statement_run import RowStream
from eval.databases.types import DatabaseError, Workspace
from eval.databases.urls import Target

_MESSAGE_BYTES = 512 * 1024
_LINKED = "chdb"
_OPEN_FILES = 128
_CHDB_OPEN_FILES = 1024
"""chDB opens a file for each column of each part that it reads."""
_BROKEN = re.compile(r"INTERNAL Error|FATAL Error|has been invalidated|Stack Trace", re.I)


def import_duckdb() -> None:
    """Import DuckDB in the fork server, so that its children share the engine's code."""
    with suppress(ImportError):
        import duckdb  # noqa: F401

        import eval.databases.duckdb  # noqa: F401


def import_clickhouse() -> None:
    """Load our own code and lists for ClickHouse, which a confined child may not read. chDB itself starts threads when
    it is imported, so each child imports it, after it is confined."""
    import eval.databases.clickhouse  # noqa: F401
    from eval.sql.functions import functions

    functions("clickhouse")


def serve(connection: socket.socket, folder: Path) -> None:
    """Answer requests until the other end is gone."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a full temporary file is reported as the engine's error
    send(connection, os.getpid())
    target, memory_bytes, temp_bytes = receive_trusted(connection)
    workspace = Workspace(folder, memory_bytes, temp_bytes)
    os.chdir(folder)
    os.environ["TMPDIR"] = os.environ["HOME"] = str(folder)
    open_files = _CHDB_OPEN_FILES if target.dialect == "clickhouse" else _OPEN_FILES
    limit_resources(memory_bytes=workspace.process_bytes(target.dialect), file_bytes=temp_bytes, open_files=open_files)
    if target.dialect == "clickhouse" and target.path is not None:
        # Links to the tables, because another process holds the real folder locked. The child can only read them
        (folder / _LINKED).mkdir()
        for name in ("metadata", "data", "store"):
            (folder / _LINKED / name).symlink_to(target.path / name)
    log, shared, journal = (Path(f"{target.path}-{suffix}") for suffix in ("wal", "shm", "journal"))
    own_files = [target.path, log, shared, journal, Path(f"{target.path}.wal")] if target.path else []
    # Who reads a database in WAL mode must write the file of shared memory. It exists, because the server has the
    # database open
    written = [shared, log] if target.dialect == "sqlite" else []
    missing = confine([*code_files(), *own_files], [folder, Path(os.environ["SQLITE_TMPDIR"]), *written])
    try:
        database = _opened(target, workspace)
    except DatabaseError as e:
        send(connection, (str(e), missing))
        return
    send(connection, (None, missing))
    while True:
        try:
            request: Request = receive_trusted(connection)
        except (EOFError, OSError):
            return
        limit_processor((request.limits.seconds + 1.0) * (os.cpu_count() or 1))
        if not _answer(connection, database, target, request):
            return


def _opened(target: Target, workspace: Workspace) -> Database:
    if target.dialect == "sqlite":
        return SQLiteDatabase(target, infer_keys=False, workspace=workspace)
    if target.dialect == "clickhouse":
        from eval.databases.clickhouse import ClickHouseDatabase

        return ClickHouseDatabase(replace(target, path=workspace.folder / _LINKED), infer_keys=False)
    from eval.databases.duckdb import DuckDBDatabase

    return DuckDBDatabase(target, infer_keys=False, workspace=workspace)


def _answer(connection: socket.socket, database: Database, target: Target, request: Request) -> bool:
    """Answer one request. Returns whether the child can continue: an engine that reported an internal error is not used
    again."""
    if request.kind == "refusal":
        refusal = database.refusal(request.statement)
        message = _shown(refusal, target) if refusal else None
        usable = not (refusal and _BROKEN.search(refusal))
        send(connection, ((), [(message,)], ("success", None, False, usable)))
        return usable
    opener = database._open_plan if request.kind == "plan" else database._open
    with RowStream(request.statement, database.dialect, request.limits, None, opener, database._explain) as stream:
        columns: tuple[str, ...] | None = stream.columns
        waiting: list[tuple[object, ...]] = []
        sent_bytes = 0
        for batch in stream:
            waiting += batch
            if stream.bytes_read - sent_bytes >= _MESSAGE_BYTES:
                send(connection, (columns, waiting, None))
                columns, waiting, sent_bytes = None, [], stream.bytes_read
    error = _shown(stream.error, target) if stream.error else None
    usable = not (stream.error and _BROKEN.search(stream.error))
    send(connection, (columns, waiting if stream.ok else [], (stream.status, error, stream.truncated, usable)))
    return usable


def _shown(message: str, target: Target) -> str:
    """The engine's message without paths of this machine and without a stack trace."""
    if _BROKEN.search(message):
        return "the engine failed on this statement with an internal error"
    if message == "MemoryError" or "Out of Memory" in message or message == "out of memory":
        return "the query needs more memory than it may use"
    if target.path is not None:
        for path in (Path.cwd() / _LINKED, target.path):
            message = message.replace(str(path), target.path.name)
    return message


def code_files() -> list[Path]:
    """What Python and the engines may still have to read when a child is confined."""
    code = [Path(p) for p in (*site.getsitepackages(), sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))]
    code += [Path(p) for p in sys.path if Path(p).name in ("site-packages", "dist-packages")]
    system = ["/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/share/zoneinfo", "/etc/localtime", "/dev/urandom"]
    system += ["/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/sys/fs/cgroup"]  # DuckDB fails without these
    return [*code, Path(sys.base_prefix, "lib"), *map(Path, system)]
