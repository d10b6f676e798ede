"""What the commands share: options, log lines, and failures as a sentence with an exit code."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli import exits
from eval.errors import Text2SQLError

if TYPE_CHECKING:
    from eval.databases.base import Database

DatabaseOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL|FILE|DEMO",
        help="Database: a URL, a file, or a demo (shop, enterprise). Default: the configured one.",
    ),
]


def _used(folder: str | None) -> str | None:
    """Set `TEXT2SQL_KIT` for this process and those that it starts."""
    if folder is not None:
        from agent.inspection.memory import kit_problem

        if problem := kit_problem(folder):
            raise typer.BadParameter(problem)
        os.environ["TEXT2SQL_KIT"] = str(Path(folder).resolve())
    return folder


KitOption = Annotated[
    str | None,
    typer.Option("--kit", metavar="DIR", callback=_used, help="Kit to use: what the lab tuned to a database."),
]
"""The same at every door."""

RESUMES = "Stopped. The same command goes on."
"""What is said after Ctrl-C by a command that keeps what it has done."""


def direct_logs(verbose: bool) -> None:
    """Send this process's log lines to standard error, or drop them: standard output is for results."""
    level = logging.INFO if verbose else logging.CRITICAL + 1
    logging.basicConfig(level=level, stream=sys.stderr, force=True)


@contextmanager
def errors_reported(interrupted: str = "") -> Iterator[None]:
    """Turn a failure that a user can do something about into a sentence on standard error and an exit code.

    `interrupted` is the sentence after Ctrl-C. Log lines are dropped.
    """
    from pydantic import ValidationError

    from agent.config import settings_problem

    direct_logs(verbose=False)
    try:
        yield
    except KeyboardInterrupt:
        text, code = interrupted, exits.INTERRUPTED
    except ValidationError as error:
        text, code = settings_problem(error), exits.USAGE
    except Text2SQLError as error:
        text, code = str(error), _code(error)
    else:
        return
    if text:
        typer.echo(text, err=True)
    raise typer.Exit(code)


def _code(error: Text2SQLError) -> int:
    """The exit code of an error; the rooms that raise it are loaded here, where there is one."""
    from agent.models.protocol import ModelError
    from agent.store import StoreError
    from eval.databases.types import DatabaseError

    if isinstance(error, DatabaseError | StoreError):
        return exits.DATABASE
    return exits.MODEL if isinstance(error, ModelError) else exits.USAGE


def opened(name: str | None) -> Database:
    """The database that the option names. Raises what `errors_reported` reports."""
    from agent.config import settings
    from agent.runtime.catalogue import resolve_database

    return resolve_database(name, settings().database)
