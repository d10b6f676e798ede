"""Attacks on a server of its own.

python -m experiments.attacks costly [--engine sqlite] [--part 1/4] [--seconds 2] [--verbose]
python -m experiments.attacks calls [--engine sqlite] [--calls 100000] [--minutes 30] [--kept FILE]
python -m experiments.attacks soak [--questions 10000] [--minutes 60]
python -m experiments.attacks uploads
python -m experiments.attacks chaos [--minutes 10] [--clients 20]
python -m experiments.attacks questions [--count 100000] [--minutes 60] [--at-once 4]

Each prints a table, then what it was not to show; the exit code is 1 if there is any such line.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from eval.databases import open_database
from eval.engines import dialect_named
from eval.schema import Dialect
from experiments.attacks import chaos as around
from experiments.attacks import costly as costly_statements
from experiments.attacks import soak as long_soak
from experiments.attacks import uploads as hostile_uploads
from experiments.attacks.calls import STEP, Called, call_at_random
from experiments.attacks.questions import WITHIN, flood
from experiments.attacks.serving import QUESTIONS, SERVED, scratch, serving
from experiments.json_lines import read_lines

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
    part: Annotated[str, typer.Option(help="2/4: the second of four parts of each engine's statements.")] = "1/1",
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
        failures: list[str] = []
        for dialect in served.presets:
            attack = costly_statements.attack(served, dialect, costly_statements.corpus(dialect, part), tell)
            late |= attack.late(seconds)
            failures += attack.failures(seconds)
            typer.echo(costly_statements.row(attack, seconds))
        typer.echo(f"statements that a database server went on with: {served.given_up}")
        for sql, took in late.items():
            typer.echo(f"late: {took:.2f} s  {sql}")
    _end(failures)


def _end(failures: list[str]) -> None:
    for line in failures:
        typer.echo(f"FAILED {line}")
    raise typer.Exit(1 if failures else 0)


@app.command()
def calls(
    engine: Engines = None,
    calls: Annotated[int, typer.Option(min=1, help="Calls of each engine.")] = 100_000,
    minutes: Annotated[float, typer.Option(help="The time for each engine.")] = 30.0,
    seed: int = 7,
    kept: Annotated[
        Path | None, typer.Option(help="Keeps what was done, so that a later run goes on from there.")
    ] = None,
) -> None:
    """Random calls of all functions that the guard knows."""
    typer.echo("| engine | calls | functions | outcomes | slowest | late | harm |\n|---|---|---|---|---|---|---|")
    failures = []
    for dialect in _dialects(engine):
        called = _called(dialect, calls, minutes * 60, seed, kept)
        counts = ", ".join(f"{n:,} {status}" for status, n in sorted(called.statuses.items()))
        typer.echo(
            f"| {dialect} | {called.calls:,} | {len(called.functions)} | {counts} | {called.slowest:.2f} s | "
            f"{len(called.late)} | {len(called.harm)} |"
        )
        for word, lines in (("late", called.late), ("harm", called.harm)):
            for line in lines:
                typer.echo(f"{word}: {line[:400]}")
        failures += [f"{dialect}: {line[:200]}" for line in called.harm]
        failures += [f"{dialect}: {called.calls:,} of {calls:,} calls"] if called.calls < calls else []
    _end(failures)


def _called(dialect: Dialect, calls: int, seconds: float, seed: int, kept: Path | None) -> Called:
    """So many calls, those of earlier runs in `kept` included."""
    called, until = Called(), time.monotonic() + seconds
    for earlier in read_lines(kept) if kept and kept.exists() else ():
        if earlier.pop("dialect") == dialect:
            called.add(Called.of_json(earlier))
            seed += 1
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(scratch(dialect, folder))
        database = stack.enter_context(open_database(url))
        while called.calls < calls and time.monotonic() < until:
            made = call_at_random(database, min(STEP, calls - called.calls), seed, until - time.monotonic())
            called.add(made)
            seed += 1
            if kept:
                with kept.open("a") as file:
                    file.write(json.dumps({"dialect": dialect, **made.as_json()}) + "\n")
    return called


@app.command()
def soak(
    questions: Annotated[int, typer.Option(min=1)] = 10_000,
    minutes: Annotated[float, typer.Option(help="The time for all questions.")] = 60.0,
) -> None:
    """Many ordinary questions to one server: its memory after each five hundred."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), ()) as served:
        memory, failed = long_soak.soak(served, questions, minutes, typer.echo)
    growth, asked = max(memory[1:], default=memory[0]) - memory[0], len(memory) * long_soak.STEP
    typer.echo(f"growth after the first step: {growth:+.1f} MB at most")
    failures = {
        f"{asked:,} of {questions:,} questions were asked": asked < questions,
        f"{failed} questions were not answered": failed > 0,
        f"memory grew by {growth:.1f} MB after the first step": growth > long_soak.MOST_GROWTH_MB,
    }
    _end([words for words, is_so in failures.items() if is_so])


@app.command()
def questions(
    count: Annotated[int, typer.Option(min=1)] = 100_000,
    minutes: Annotated[float, typer.Option(help="The time for all questions.")] = 60.0,
    at_once: Annotated[int, typer.Option(min=1, max=64)] = 4,
    seed: int = 7,
) -> None:
    """Garbled, long and hostile questions, with `/health` asked beside them."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), ()) as served:
        flooded = flood(served, count, seed=seed, at_once=at_once, minutes=minutes)
    typer.echo(flooded)
    for question in flooded.internal:
        typer.echo(f"internal: {question!r}")
    late = sum(seconds > WITHIN for seconds in flooded.health)
    _end(flooded.failures + [f"/health took more than {WITHIN * 1000:.0f} ms {late} times"] * (late > 0))


@app.command()
def uploads() -> None:
    """Files that are small to send and large to read."""
    failures = []
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), ()) as served:
        typer.echo(hostile_uploads.HEAD)
        for kind, name, made in hostile_uploads.hostile_files(Path(folder)):
            sent = hostile_uploads.send(served, kind, name, made())
            typer.echo(sent)
            failures += sent.failures
    _end(failures)


@app.command()
def chaos(
    minutes: Annotated[float, typer.Option(help="The time for the clients.")] = 10.0,
    clients: Annotated[int, typer.Option(min=1, max=200)] = 20,
) -> None:
    """A clock that jumps, a full disk, and many clients at once."""
    failures = []
    attacks: dict[str, Callable[[Path], around.Chaos]] = {
        "clock": around.clock,
        "full disk": around.full_disk,
        "clients": lambda folder: around.clients(folder, minutes, clients, typer.echo),
    }
    for kind, attack in attacks.items():
        if kind != "clients" and (missing := around.unavailable(kind)):
            typer.echo(f"{kind}: skipped, {missing}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            seen = attack(Path(folder))
        typer.echo(f"{kind}: {seen}")
        failures += [f"{kind}: {line}" for line in seen.failures]
    _end(failures)


if __name__ == "__main__":
    app()
