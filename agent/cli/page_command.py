"""`askwell FILE...`: the page on one's own files.

In: paths of data or database files. Out: a server on this machine that has read them as one database, and a browser at
its address; an exit code after Ctrl-C. What cannot be read is told before the server starts where its first bytes show
it, and stops the server otherwise.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from agent.cli import exits

if TYPE_CHECKING:
    import socket

SUFFIXES = (".csv", ".tsv", ".xlsx", ".json", ".jsonl", ".ndjson", ".parquet", ".sqlite", ".sqlite3", ".db", ".duckdb")
"""Endings by which a file that is missing is told from a question of one word."""
PORT = 8000
_HEAD = 4096
_UPLOAD_SECONDS = 900.0

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def names_file(word: str) -> bool:
    """Whether the first word of a command is a file and not a question."""
    return Path(word).is_file() or (not any(map(str.isspace, word)) and word.lower().endswith(SUFFIXES))


def is_question(word: str) -> bool:
    """Whether a word that follows a file is a question about it and not one more file."""
    return not names_file(word) and not word.startswith("-") and ("?" in word or any(map(str.isspace, word)))


@app.command()
def page(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Several files make one database.")],
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, metavar="N", help=f"Port; default: {PORT}, or any free one.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address without opening it.")] = False,
) -> None:
    """Open the page on a CSV, TSV, Excel, JSON lines, Parquet, SQLite or DuckDB file."""
    from pydantic import ValidationError

    from agent.config import settings, settings_problem
    from agent.server.server_process import AddressUnusable, bound

    for file in files:
        if problem := file_problem(file):
            raise typer.Exit(_told(problem, exits.DATABASE))
    try:
        config = settings()
    except ValidationError as error:
        raise typer.Exit(_told(settings_problem(error), exits.USAGE)) from None
    if config.server.tokens:
        problem = "TEXT2SQL_TOKENS is set, so files are uploaded in the page: python -m agent.server"
        raise typer.Exit(_told(problem, exits.USAGE))
    try:
        try:
            listening = bound("127.0.0.1", PORT if port is None else port)
        except AddressUnusable:
            if port is not None:
                raise
            listening = bound("127.0.0.1", 0)  # the default port is left to whoever has it
    except AddressUnusable as error:
        raise typer.Exit(_told(str(error), exits.DATABASE)) from None
    raise typer.Exit(_served(listening, files, browser=not no_browser))


def file_problem(file: Path) -> str | None:
    """Why this file cannot be opened, as far as its first bytes tell."""
    from agent.sources import SourceRefused
    from agent.sources.file_kinds import file_kind

    try:
        with file.open("rb") as opened:
            file_kind(opened.read(_HEAD))
    except FileNotFoundError:
        if is_question(str(file)):
            return "a question goes to one file, or to a folder of files as --db"
        return f"there is no file {file}"
    except IsADirectoryError:
        return f"{file} is a folder; name its files"
    except OSError as error:
        return f"{file} cannot be read: {error.strerror or error}"
    except SourceRefused as error:
        return f"{file}: {error}"
    return None


def _served(listening: socket.socket, files: list[Path], *, browser: bool) -> int:
    """Serve until Ctrl-C, and have the files read as soon as the server answers; the exit code."""
    from agent.config import settings
    from agent.server.server_process import address_of, announce, serve
    from agent.server.telemetry import configure_logging

    config, address = settings(), address_of(listening)
    configure_logging(config, level=logging.WARNING)  # a line for each request would hide what is said here
    problems: list[str] = []

    def read_files() -> None:
        sys.stderr.write(f"reading {', '.join(file.name for file in files)} …\n")
        place, problem = _uploaded(address, files)
        if place is None:
            problems.append(problem)
            _told(problem, exits.DATABASE)
            os.kill(os.getpid(), signal.SIGINT)
            return
        sys.stdout.write(f"{place}\n")
        sys.stdout.flush()
        if browser:
            import webbrowser

            webbrowser.open(place)

    def started() -> None:
        announce(address, config)
        threading.Thread(target=read_files, daemon=True).start()  # the server answers it meanwhile

    code = serve(listening, config, url=address, started=started)
    return exits.DATABASE if problems else code


def _uploaded(address: str, files: list[Path]) -> tuple[str | None, str]:
    """The page's address on the database that the server has made of the files; None, and why, where it has not."""
    import httpx

    try:
        with ExitStack() as opened:
            sent = [("file", (file.name, opened.enter_context(file.open("rb")))) for file in files]
            reply = httpx.post(f"{address}/databases/upload", files=sent, timeout=_UPLOAD_SECONDS, trust_env=False)
        if reply.is_error:
            return None, reply.json()["error"]["message"]
        return f"{address}/d/{quote(str(reply.json()['id']), safe='')}", ""
    except (httpx.HTTPError, OSError, ValueError, KeyError) as error:
        return None, str(error)


def _told(problem: str, code: int) -> int:
    sys.stderr.write(f"{problem[:1].upper()}{problem[1:]}\n")
    return code
