"""`python -m experiments.replicas --databases DIR --out DIR FILE`: make test suites for your own databases.

FILE holds JSON lines `{db, gold_sql}` (more fields do no harm). For each database a folder `OUT/DB/` of SQLite files is
written, which `python -m eval.batch compare --test-suites OUT` reads. A table of results goes to standard output,
progress to standard error. The exit code is 1 when a database could not be read or written.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from eval.databases.types import DatabaseError
from experiments.replicas import Chosen, make_suite

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def make(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines with db and gold_sql.", exists=True)],
    databases: Annotated[Path, typer.Option(metavar="DIR", help="Folder of DB.sqlite files.", exists=True)],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the suites go; each database's folder must be empty.")
    ],
    replicas: Annotated[int, typer.Option(min=1, max=100, help="Most replicas kept of a database.")] = 8,
    candidates: Annotated[int, typer.Option(min=1, max=1000, help="Replicas to choose among.")] = 40,
    seed: Annotated[int, typer.Option(help="The same seed makes the same suite.")] = 0,
    alive: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the mutants that none tells apart.")] = None,
) -> None:
    """Make replicas with other rows, and keep those that tell mutated queries from gold.

    Example: python -m experiments.replicas --databases databases/ --out suites/ questions.jsonl
    """
    try:
        golds = _golds(file)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="FILE") from None
    failed = False
    made: dict[str, Chosen] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        for name, queries in golds.items():
            task = bar.add_task(name, total=candidates)
            try:
                made[name] = make_suite(
                    databases / f"{name}.sqlite",
                    queries,
                    out / name,
                    replicas=replicas,
                    candidates=candidates,
                    seed=seed,
                    on_progress=lambda done, _, task=task: bar.update(task, completed=done),  # type: ignore[misc]
                )
            except DatabaseError as error:
                failed = True
                typer.echo(f"{name}: {error}", err=True)
    Console().print(_table(made))
    if alive:
        lines = (
            json.dumps({"db": name, "gold_sql": gold, "mutant": mutant}) + "\n"
            for name, chosen in made.items()
            for gold, mutant in chosen.alive
        )
        alive.write_text("".join(lines), encoding="utf-8")
    raise typer.Exit(1 if failed else 0)


def _golds(file: Path) -> dict[str, list[str]]:
    """Gold queries by database. Raises ValueError naming the line."""
    golds: defaultdict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
            name, sql = item["db"], item["gold_sql"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"line {number} is no object with db and gold_sql") from None
        if not isinstance(name, str) or not name or any(mark in name for mark in "/\\\0") or name in (".", ".."):
            raise ValueError(f"line {number}: {name!r} cannot be the name of a database")
        golds[name].append(str(sql))
    return dict(golds)


def _table(made: dict[str, Chosen]) -> Table:
    table = Table()
    for title in ("database", "golds", "failing", "mutants", "told by the original", "by the suite", "alive", "files"):
        table.add_column(title, justify="left" if title == "database" else "right")
    for name, chosen in made.items():
        share = max(1, chosen.mutants)
        table.add_row(
            name,
            str(chosen.golds),
            str(len(chosen.failing_golds)),
            str(chosen.mutants),
            f"{chosen.told_by_original / share:.1%}",
            f"{chosen.told / share:.1%}",
            str(chosen.never_told),
            str(len(chosen.files)),
        )
    return table


def main() -> None:
    """Entry point of `python -m experiments.replicas`."""
    app(prog_name="python -m experiments.replicas")


if __name__ == "__main__":
    main()
