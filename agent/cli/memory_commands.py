"""`python -m agent.main examples check FILE`, `glossary check FILE`, `model check [FILE]`, `init`, `get` and `remove`.

In: the words after `examples`, `glossary` or `model`. Out: what was found on standard output, an exit code: 0 when all
is well.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli import exits
from agent.cli.shared import DatabaseOption, errors_reported, opened

if TYPE_CHECKING:
    from agent.inspection.memory import Checked

_File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to check.")]

examples = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
glossary = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


model = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@model.callback()
def _model() -> None:
    """What a team says once about its business (metrics, fields, relationships), and the language model."""


@model.command("init")
def init_model(db: DatabaseOption = None) -> None:
    """Print a draft for a database, as an Apache Ossie document to be corrected and kept."""
    from agent.inspection.semantics import draft_model

    with errors_reported():
        typer.echo(draft_model(opened(db)), nl=False)


@model.command("check")
def check_model(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A semantic model; else the language model is tried."),
    ] = None,
    db: DatabaseOption = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The language model's server. Default: the configured one, else one here."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The language model. Default: the first that the server lists.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """With a FILE: check a semantic model's names, types, joins that multiply rows, and that metrics and verified
    questions run. Without: find the model servers of this machine, and try what the language model is good for."""
    if file is None:
        from agent.cli.model_command import check_language_model

        check_language_model(base_url, model, db, as_json=as_json)
        return
    from agent.inspection.semantics import check_model

    with errors_reported():
        database = opened(db)
        report = check_model(file, database)
    for line in report.not_handled:
        typer.echo(f"not used: {line}")
    for line in report.findings:
        typer.echo(f"{file.name}, {line}")
    if report.findings:
        raise typer.Exit(exits.USAGE)
    typer.echo(f"{file.name}: {report.datasets} datasets and {report.metrics} metrics fit {database.name}.")


@model.command("get")
def get_model(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Which one; a name that there is not lists them.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE|URL", help="Where from. Default: the publisher's place at the hub."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Download without asking.")] = False,
) -> None:
    """Fetch a small language model that is served on this machine, and check it. Interrupted, it goes on where it was.
    From then on it answers where no other model is configured."""
    from agent.cli.model_command import fetch_language_model

    fetch_language_model(name, source, yes=yes)


@model.command("remove")
def remove_model(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which one. Default: all.")] = None,
) -> None:
    """Delete what `model get` has fetched."""
    from agent.cli.model_command import remove_language_model

    remove_language_model(name)


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
    import json

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
