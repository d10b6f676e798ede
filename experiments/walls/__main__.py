"""Attacks on a server of its own.

python -m experiments.walls costly [--engine sqlite] [--every 1] [--seconds 2] [--verbose]
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from eval.schema import DIALECTS, Dialect, dialect_named
from experiments.walls import costly as costly_statements
from experiments.walls.serving import serving

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
Engines = Annotated[list[str] | None, typer.Option("--engine", help="May be repeated; default: all four.")]


def _dialects(engines: list[str] | None) -> tuple[Dialect, ...]:
    return tuple(dialect_named(name) for name in engines) if engines else DIALECTS


@app.callback()
def main() -> None:
    """Attacks on a running server, as figures."""


@app.command()
def costly(
    engine: Engines = None,
    every: Annotated[int, typer.Option(min=1, help="Every n-th statement.")] = 1,
    seconds: Annotated[float, typer.Option(help="The deadline of a statement.")] = 2.0,
    verbose: bool = False,
) -> None:
    """Costly statements, with ordinary questions beside them."""
    tell = typer.echo if verbose else lambda _: None
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), _dialects(engine), TEXT2SQL_QUERY_SECONDS=str(seconds)) as served,
    ):
        alone = costly_statements.quiet(served)
        typer.echo(costly_statements.HEAD)
        late: dict[str, float] = {}
        for dialect in served.presets:
            statements = costly_statements.corpus(dialect, every)
            found = costly_statements.attack(served, dialect, statements, tell)
            late |= found.late(seconds)
            typer.echo(costly_statements.row(found, alone, seconds))
        again = costly_statements.slowdown(costly_statements.quiet(served), alone)
        typer.echo(
            f"the same questions alone afterwards: worst {again[-1]:.2f} x, over 3 x: {sum(r > 3 for r in again)}"
        )
        typer.echo(f"statements that a database server went on with: {served.given_up}")
        for sql, took in late.items():
            typer.echo(f"late: {took:.2f} s  {sql}")


if __name__ == "__main__":
    app()
