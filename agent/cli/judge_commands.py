"""`python -m agent.main judge learn|show|forget|try`: what the judge learned from verdicts on a database's answers.

In: the words after `judge`. Out: what was learned and on which figures, on standard output; an exit code.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli import exits
from agent.cli.shared import errors_reported

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.judging.refit import Learned
    from agent.judging.trial import Trial
    from eval.databases.base import Database

judge = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

_File = Annotated[
    Path | None,
    typer.Option("--file", metavar="FILE", help="The file of learned judges. Default: TEXT2SQL_LEARNED_JUDGE."),
]
_Owner = Annotated[str, typer.Option(metavar="NAME", help="Whose verdicts.")]
_Preset = Annotated[str, typer.Argument(metavar="ID", help="The database, as the server names it.")]


@judge.callback()
def _judge() -> None:
    """What the judge learned from verdicts on answers."""


@judge.command("learn")
def learn(
    preset: _Preset,
    db: Annotated[str | None, typer.Option(metavar="URL|FILE|DEMO", help="Where it is, unless ID is a demo.")] = None,
    owner: _Owner = "local",
    file: _File = None,
) -> None:
    """Learn from the verdicts on a database's answers, and keep what holds on answers held out."""
    from agent.judging.local import keep, name_of
    from agent.runtime.catalogue import resolve_database

    with errors_reported():
        path = _path(file)
        from agent.config import settings

        outcome = asyncio.run(_learned(owner, preset, resolve_database(db or preset, settings().database)))
        typer.echo(f"{outcome.answers} judged answers")
        for name, loss in outcome.losses.items():
            typer.echo(f"  {name}: log-loss {loss:.3f} an answer held out")
        if outcome.judge is None:
            typer.echo(
                "The shipped judge stays in use: nothing learned was better on held-out answers, or they are too few."
            )
            return
        keep(path, name_of(owner, preset), outcome.judge)
        typer.echo(f"Kept in {path}. `judge forget {preset}` takes it back.")


@judge.command("try")
def try_judge(
    preset: _Preset,
    db: Annotated[str | None, typer.Option(metavar="URL|FILE|DEMO", help="Where it is, unless ID is a demo.")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Which model. Default: the configured one.")] = None,
    owner: _Owner = "local",
    file: _File = None,
) -> None:
    """Try a model's judge on right and plainly wrong queries of a database; one that tells nothing loses its vote."""
    from agent.judging.local import keep_vote, name_of
    from agent.runtime.catalogue import resolve_database

    with errors_reported():
        from agent.config import settings

        known = settings()
        database = resolve_database(db or preset, known.database)
        name, trial = asyncio.run(_tried(known, model, database))
        right, wrong = (sum(marks) / len(marks) if marks else 0.5 for marks in (trial.right, trial.wrong))
        typer.echo(f"{name}: right queries were marked {right:.2f} on average, wrong ones {wrong:.2f}")
        typer.echo("It keeps its vote." if trial.tells_apart else "It tells nothing: its opinion does not count here.")
        path = file or known.judging.learned
        if path is not None:
            keep_vote(Path(path), name_of(owner, preset), name, has_vote=trial.tells_apart)


async def _tried(known: Settings, model: str | None, database: Database) -> tuple[str, Trial]:
    from agent.judging.trial import tried
    from agent.runtime.catalogue import model_for

    asked = model_for(known, database, model)
    return asked.name, await tried(asked, database, await asyncio.to_thread(database.schema))


@judge.command("show")
def show(file: _File = None) -> None:
    """Print what was learned."""
    from agent.judging.local import kept

    with errors_reported():
        for name, judges in kept(_path(file)).items():
            priors = ", ".join(f"{writer} {share:.2f}" for writer, share in judges[0].priors.items())
            moved = "own weights" if judges[0].weights is not None else "the shipped weights"
            typer.echo(f"{name}: {judges[0].answers} answers; prior: {priors}; {moved}")


@judge.command("forget")
def forget(preset: _Preset, owner: _Owner = "local", file: _File = None) -> None:
    """Bring back what held before: what was learned earlier, or the shipped judge."""
    from agent.judging.local import forget, name_of

    with errors_reported():
        known = forget(_path(file), name_of(owner, preset))
        typer.echo("The earlier judge is in use again." if known else "Nothing was learned there.")


def _path(file: Path | None) -> Path:
    from agent.config import settings

    configured = file or settings().judging.learned
    if configured is None:
        typer.echo("Name the file of learned judges: --file, or TEXT2SQL_LEARNED_JUDGE.", err=True)
        raise typer.Exit(exits.USAGE)
    return Path(configured)


async def _learned(owner: str, preset: str, database: Database) -> Learned:
    from agent.config import settings
    from agent.judging.lessons import learned_from
    from agent.store import open_store

    store = await open_store(settings().state)
    try:
        return await learned_from(store, owner, preset, database)
    finally:
        await store.close()
