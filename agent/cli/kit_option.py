"""The option `--kit`, the same at every door: it sets `TEXT2SQL_KIT` for this process and those that it starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["KitOption"]


def _used(folder: str | None) -> str | None:
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
