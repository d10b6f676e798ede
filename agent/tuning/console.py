"""What the commands share: progress on standard error, failures as one line and an exit code, the databases named."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from agent.cli import exits
from eval.collection import Collection
from eval.databases import Database, open_database
from eval.databases.types import DatabaseError
from eval.errors import InputError, Text2SQLError

__all__ = ["losses", "opened", "progress", "told"]


@contextmanager
def told() -> Iterator[None]:
    """Turn expected failures into one line and an exit code."""
    from pydantic import ValidationError

    from agent.cli.logs import direct_logs
    from agent.config import settings_problem
    from agent.lab.measuring import LabStopped

    direct_logs(verbose=False)
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command goes on.", err=True)
        raise typer.Exit(exits.INTERRUPTED) from None
    except ValidationError as error:
        typer.echo(settings_problem(error), err=True)
        raise typer.Exit(exits.USAGE) from None
    except Text2SQLError as error:
        typer.echo(str(error), err=True)
        code = exits.MODEL if isinstance(error, LabStopped) else exits.USAGE
        raise typer.Exit(exits.DATABASE if isinstance(error, DatabaseError) else code) from None


def opened(db: str | None, databases: str | None) -> Callable[[str], Database]:
    """The databases by name. Raises InputError unless exactly one of both is given, and DatabaseError."""
    if bool(db) == bool(databases):
        raise InputError("Name the database by --db or --databases.")
    if databases:
        return Collection(databases).database
    database = open_database(db or "")
    return lambda name: database  # noqa: ARG005


def progress(unit: str, quiet: bool) -> Callable[[int, int], None]:
    """Shows how many of how many are done."""

    def shown(done: int, of: int) -> None:
        _show(f"{done} of {of} {unit}", quiet, last=done == of)

    return shown


def losses(name: str, quiet: bool) -> Callable[[int, int, float], None]:
    """Shows steps of training with their loss."""

    def shown(step: int, of: int, loss: float) -> None:
        _show(f"{name}: step {step} of {of}, loss {loss:.4f}", quiet, last=step == of)

    return shown


def _show(text: str, quiet: bool, *, last: bool) -> None:
    """A terminal shows one line that changes; a file gets every line."""
    if quiet:
        return
    terminal = sys.stderr.isatty()
    sys.stderr.write(f"\r\x1b[K{text}" + ("\n" if last else "") if terminal else f"{text}\n")
    sys.stderr.flush()
