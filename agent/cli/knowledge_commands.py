"""`python -m agent.main profile`, `examples check FILE`, `examples export` and `glossary check FILE`.

In: the words after `profile`, `examples` or `glossary`. Out: a profile as text or JSON, or what was found, on standard
output; an exit code: 0 when all is well.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli import exits
from agent.cli.shared import DatabaseOption, errors_reported, opened

if TYPE_CHECKING:
    from agent.inspection.memory import Checked

_File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to check.")]

profile = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
examples = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
glossary = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@profile.command()
def print_profile(
    db: DatabaseOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with all facts.")] = False,
    budget: Annotated[
        int | None, typer.Option(min=0, metavar="TOKENS", help="Tokens of the text at most. Default: 24000.")
    ] = None,
) -> None:
    """Print a database's profile: rows, columns, keys, values, ranges, patterns, pitfalls. No model is asked."""
    from agent.config import settings
    from agent.inspection.schema import profile_report

    with errors_reported():
        database = opened(db)
        report = profile_report(database, database.schema(), budget, settings().privacy.mode)
    printed = json.dumps(report.as_json(), ensure_ascii=True) if as_json else report.text
    try:
        sys.stdout.write(printed.encode("utf-8", "replace").decode("utf-8") + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        from eval.jsonl import forget_output

        forget_output(sys.stdout)


@examples.callback()
def _examples() -> None:
    """Verified questions with their SQL, kept in files."""


@glossary.callback()
def _glossary() -> None:
    """What business words mean in terms of the schema."""


@examples.command("check")
def check_examples(file: _File, db: DatabaseOption = None) -> None:
    """Check each example: its form, the read-only guard, the names of the schema."""
    from agent.inspection.memory import check_examples

    with errors_reported():
        database = opened(db)
        _report(file, database.name, "examples", check_examples(file, database))


@glossary.command("check")
def check_glossary(file: _File, db: DatabaseOption = None) -> None:
    """Check each term, metric and default filter against the schema."""
    from agent.inspection.memory import check_glossary

    with errors_reported():
        database = opened(db)
        _report(file, database.name, "entries", check_glossary(file, database))


@examples.command("export")
def export(
    owner: Annotated[str, typer.Option(metavar="NAME", help="Whose feedback.")] = "local",
    preset: Annotated[str | None, typer.Option(metavar="ID", help="Only of this database.")] = None,
) -> None:
    """Print what people held right or corrected as examples, one JSON line each, to be looked through and kept."""
    import asyncio

    with errors_reported():
        pairs = asyncio.run(_confirmed(owner, preset))
    for question, sql in pairs:
        typer.echo(json.dumps({"question": question, "sql": sql}, ensure_ascii=False))


async def _confirmed(owner: str, preset: str | None) -> list[tuple[str, str]]:
    from agent.config import settings
    from agent.store import open_store

    store = await open_store(settings().state)
    try:
        return await store.confirmed(owner, preset)
    finally:
        await store.close()


def _report(file: Path, database: str, what: str, checked: Checked) -> None:
    for problem in checked.problems:
        typer.echo(f"{file.name}, {problem}")
    if checked.problems:
        raise typer.Exit(exits.USAGE)
    other = f"; {checked.other} more are for other databases" if checked.other else ""
    typer.echo(f"{file.name}: {checked.entries - checked.other} {what} fit {database}{other}.")
