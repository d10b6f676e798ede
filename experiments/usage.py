"""Wrong use of an experiment's command as a sentence and an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from pydantic import ValidationError

from agent.cli import exits
from agent.config import settings_problem
from eval.errors import Text2SQLError


def usage(message: str) -> typer.Exit:
    """Say what is wrong, and what to raise after it."""
    typer.echo(message, err=True)
    return typer.Exit(exits.USAGE)


@contextmanager
def usage_reported(interrupted: str = "") -> Iterator[None]:
    """Report options, files and settings that cannot be used; `interrupted` is said after Ctrl-C."""
    try:
        yield
    except ValidationError as error:
        raise usage(settings_problem(error)) from None
    except OSError as error:
        raise usage(f"{error.filename}: {error.strerror}") from None
    except (ValueError, Text2SQLError) as error:
        raise usage(str(error)) from None
    except KeyboardInterrupt:
        if interrupted:
            typer.echo(interrupted, err=True)
        raise typer.Exit(exits.INTERRUPTED) from None
