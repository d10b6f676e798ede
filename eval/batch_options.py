"""Options that every batch command takes, in `eval.batch` and `agent.batch` alike."""

from __future__ import annotations

from typing import Annotated

import typer

from eval.errors import InputError
from eval.parallel import is_ray


def _elsewhere(where: str | None) -> str | None:
    """The cluster that `--on` names; None for this machine."""
    try:
        return where if is_ray(where) else None
    except InputError as error:
        raise typer.BadParameter(str(error)) from None


File = Annotated[str | None, typer.Argument(metavar="FILE", help="Lines to read; default: standard input.")]
Jobs = Annotated[int, typer.Option(min=1, max=64, help="Processes at work.")]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="WHERE",
        callback=_elsewhere,
        help="here (processes), ray (a cluster on this machine), auto, ray://HOST:PORT.",
    ),
]
Out = Annotated[
    str | None, typer.Option("--out", "-o", metavar="FILE", help="Write here; a run that was stopped goes on.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
