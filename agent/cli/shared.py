"""What the subcommands share: the option that names the database, and failures as a sentence with an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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

RESUMES = "Stopped. The same command goes on."
"""What is said after Ctrl-C by a command that keeps what it has done."""


@contextmanager
def errors_reported(interrupted: str = "") -> Iterator[None]:
    """Turn a failure that a user can do something about into a sentence on standard error and an exit code.

    `interrupted` is the sentence after Ctrl-C. Log lines are dropped.
    """
    from pydantic import ValidationError

    from agent.cli.logs import direct_logs
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
