"""Reads an upload in a child of the fork server, which can open nothing but the job's files and folder, and no network.

In: a socket, over which the job comes. Out: over the same socket the number of the process in a line, then what
`agent.sources.upload_worker` prints.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import redirect_stdout
from pathlib import Path

from agent.sources.upload_worker import do
from eval.confinement import confine
from eval.databases.isolation.child import code_files, import_duckdb

import_duckdb()
_OUR_LISTS = [Path(__file__).parents[1], Path(__file__).parents[2] / "eval"]
"""`agent` and `eval`, which lie outside Python's folders where the project is a checkout."""


def serve(connection: socket.socket, folder: Path) -> None:
    os.chdir(folder)
    os.environ["TMPDIR"] = os.environ["HOME"] = str(folder)
    with connection.makefile("r") as asked, connection.makefile("w") as told, redirect_stdout(told):
        told.write(f"{os.getpid()}\n")
        told.flush()
        job = json.load(asked)
        if "excel" in job["kinds"]:
            import openpyxl  # noqa: F401 - looks for the system's lists of file types when it is imported
        files = [Path(path) for path, _ in job["files"]]
        confine([*code_files(), *_OUR_LISTS, *files], [folder, Path(job["out"]).parent])
        do(job)
