"""`python -m agent.main profile`: prints a database's profile as text or JSON.

In: the words after `profile`. Out: the profile on standard output, problems on standard error, an exit code of
`agent.cli.exits`.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from agent.cli import exits

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def profile(
    db: Annotated[
        str | None,
        typer.Option(
            metavar="URL|FILE|DEMO",
            help="Database: a URL, a file, or a demo (shop, enterprise). Default: the configured one.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with all facts.")] = False,
    budget: Annotated[
        int | None, typer.Option(min=0, metavar="TOKENS", help="Tokens of the text at most. Default: 24000.")
    ] = None,
) -> None:
    """Print a database's profile: rows, columns, keys, values, ranges, patterns, pitfalls. No model is asked."""
    from pydantic import ValidationError

    from agent.cli.logs import direct_logs
    from agent.config import settings, settings_problem
    from agent.inspection.schema import profile_report
    from agent.runtime.catalogue import resolve_database
    from eval.databases import DatabaseError

    direct_logs(verbose=False)
    try:
        database = resolve_database(db, settings().database)
        report = profile_report(database, database.schema(), budget, settings().privacy.mode)
    except ValidationError as error:
        typer.echo(settings_problem(error), err=True)
        raise typer.Exit(exits.USAGE) from None
    except DatabaseError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(exits.DATABASE) from None
    except KeyboardInterrupt:
        raise typer.Exit(exits.INTERRUPTED) from None
    printed = json.dumps(report.as_json(), ensure_ascii=True) if as_json else report.text
    try:
        sys.stdout.write(printed.encode("utf-8", "replace").decode("utf-8") + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        from eval.jsonl import forget_output

        forget_output(sys.stdout)
