"""Attacks on a server of its own.

python -m experiments.walls costly [--engine sqlite] [--every 1] [--seconds 2] [--verbose]
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from eval.databases import open_database
from eval.engines import dialect_named
from eval.schema import Dialect
from experiments.walls import costly as costly_statements
from experiments.walls.calls import call_at_random
from experiments.walls.serving import QUESTIONS, SERVED, scratch, serving
from experiments.walls.soak import soak as soak_server

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
Engines = Annotated[list[str] | None, typer.Option("--engine", help="May be repeated; default: all four.")]


def _dialects(engines: list[str] | None) -> tuple[Dialect, ...]:
    return tuple(dialect_named(name) for name in engines) if engines else SERVED


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
        served.ask(QUESTIONS[0])
        typer.echo(costly_statements.HEAD)
        late: dict[str, float] = {}
        for dialect in served.presets:
            found = costly_statements.attack(served, dialect, costly_statements.corpus(dialect, every), tell)
            late |= found.late(seconds)
            typer.echo(costly_statements.row(found, seconds))
        typer.echo(f"statements that a database server went on with: {served.given_up}")
        for sql, took in late.items():
            typer.echo(f"late: {took:.2f} s  {sql}")


@app.command()
def calls(
    engine: Engines = None,
    calls: Annotated[int, typer.Option(min=1, help="Calls of each engine.")] = 100_000,
    minutes: Annotated[float, typer.Option(help="The time for each engine.")] = 30.0,
    seed: int = 7,
) -> None:
    """Random calls of all functions that the guard knows."""
    typer.echo("| engine | calls | functions | outcomes | slowest | late | harm |\n|---|---|---|---|---|---|---|")
    for dialect in _dialects(engine):
        with tempfile.TemporaryDirectory() as folder, scratch(dialect, Path(folder)) as url:
            with open_database(url, isolation="process") as database:
                found = call_at_random(database, calls, seed, minutes * 60)
            counts = ", ".join(f"{n:,} {status}" for status, n in sorted(found.statuses.items()))
            typer.echo(
                f"| {dialect} | {found.calls:,} | {len(found.functions)} | {counts} | {found.slowest:.2f} s | "
                f"{len(found.late)} | {len(found.harm)} |"
            )
            for word, lines in (("late", found.late), ("harm", found.harm)):
                for line in lines:
                    typer.echo(f"{word}: {line[:400]}")


@app.command()
def soak(
    questions: Annotated[int, typer.Option(min=1)] = 10_000,
    minutes: Annotated[float, typer.Option(help="The time for all questions.")] = 60.0,
) -> None:
    """Many ordinary questions to one server: its memory after each five hundred."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), ()) as served:
        memory = soak_server(served, questions, minutes, typer.echo)
        typer.echo(f"growth after the first step: {max(memory[1:], default=memory[0]) - memory[0]:+.1f} MB at most")


if __name__ == "__main__":
    app()
