"""`python -m eval.tasks`: build the demo databases, in the cache folder or in your own database; check the tasks.

Paths and tables go to standard output, progress and notes to standard error. The exit code is 1 when a demo could not
be built, or when a task breaks a rule.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from eval.databases.types import DatabaseError
from eval.tasks.demos import DEMOS, demo_named, demo_path
from eval.tasks.load import Progress as Step

app = typer.Typer(
    help="Demo databases to ask questions of, and the tasks on them.", no_args_is_help=True, add_completion=False
)
_notes = Console(stderr=True)


@app.command(name="list")
def show() -> None:
    """Show the demo databases and questions to ask them."""
    for demo in DEMOS:
        print(f"{demo.id}: {demo.description}")  # noqa: T201
        for question in demo.example_questions:
            print(f"  {question}")  # noqa: T201


@app.command()
def build(
    which: Annotated[Literal["shop", "enterprise", "all"], typer.Argument(help="Which demo.")] = "all",
    url: Annotated[
        str | None,
        typer.Option(
            help="Load into this database instead: postgresql://user@host/db, mysql://…, clickhouse://…, "
            "sc://host:15002/db, chdb:///folder, my.duckdb or my.sqlite. Servers need an existing, empty database."
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="Folder for the SQLite files; the user's cache folder otherwise.")
    ] = None,
) -> None:
    """Build demo databases. A SQLite file that is there already is kept.

    Examples:

      python -m eval.tasks build

      python -m eval.tasks build shop --url shop.duckdb

      python -m eval.tasks build enterprise --url postgresql://me@localhost/warehouse
    """
    for demo in DEMOS if which == "all" else (demo_named(which),):
        try:
            with _progress() as bar:
                task = bar.add_task(demo.id, total=len(demo.tables))
                follow = partial(_follow, bar, task)
                if url is None:
                    built = str(demo_path(demo.id, folder, follow))
                else:
                    demo.build(url, follow)
                    built = f"{demo.name}: {len(demo.tables)} tables loaded"
                print(built)  # noqa: T201
                bar.update(task, completed=len(demo.tables))
        except DatabaseError as error:
            _notes.print(f"{demo.id}: {error}", style="red", markup=False)
            raise typer.Exit(1) from error


@app.command()
def check(
    engines: Annotated[
        list[str] | None,
        typer.Option(
            "--engine",
            help="sqlite, duckdb, or the URL of a database with the demos in it (they are loaded where they are "
            "missing); may be given several times. SQLite and DuckDB otherwise.",
        ),
    ] = None,
    database: Annotated[str | None, typer.Option(help="Only the tasks on this demo.")] = None,
    difficulty: Annotated[str | None, typer.Option(help="Only the tasks of this difficulty.")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="Only tasks with this tag; may be repeated.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Tasks at once.")] = 2,
) -> None:
    """Run every task's gold and wrong queries; gold must hold and every wrong query fail.

    Examples:

      python -m eval.tasks check

      python -m eval.tasks check --engine postgresql://me@localhost/demo --tag scd
    """
    from eval.databases import Database
    from eval.schema import Dialect
    from eval.tasks.library import DIFFICULTIES, TaskFileError, tasks
    from eval.tasks.library.checks import check_tasks, demos_on

    try:
        with _progress() as bar, contextlib.ExitStack() as stack:
            chosen = tasks(database, difficulty, tags)
            ids = list(dict.fromkeys(task.database for task in chosen))
            opened: dict[Dialect, dict[str, Database]] = {}
            for engine in engines or ["sqlite", "duckdb"]:
                demos = stack.enter_context(demos_on(engine, ids))
                opened |= {demo.dialect: demos for demo in demos.values()}
            shown = bar.add_task("tasks", total=len(chosen))
            report = check_tasks(chosen, opened, jobs=jobs, on_done=lambda: bar.advance(shown))
    except (DatabaseError, TaskFileError) as error:
        _notes.print(str(error), style="red", markup=False)
        raise typer.Exit(1) from error
    except KeyError as error:
        raise typer.BadParameter(str(error.args[0])) from error
    out = Console()
    table = Table("engine", "golds that hold", "wrong queries that fail", "seconds in the engine")
    for verdict in report.engines:
        golds, wrong = f"{verdict.golds_right} of {verdict.golds}", f"{verdict.wrong_failed} of {verdict.wrong}"
        table.add_row(verdict.engine, golds, wrong, f"{verdict.seconds:.1f}")
    counts = Counter(task.difficulty for task in chosen)
    out.print(table)
    out.print(f"{len(chosen)} tasks: " + ", ".join(f"{counts[level]} {level}" for level in DIFFICULTIES))
    for violation in report.violations:
        out.print(f"{violation.task} on {violation.engine}: {violation.what}", markup=False, soft_wrap=True)
    if not chosen or report.violations:
        raise typer.Exit(1)


def _progress() -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=_notes, transient=True)


def _follow(bar: Progress, task: TaskID, step: Step) -> None:
    if step.is_note:
        _notes.print(step.message, markup=False)
    bar.update(task, completed=step.done)


if __name__ == "__main__":
    app()
