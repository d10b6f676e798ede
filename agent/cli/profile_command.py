"""`python -m agent.main profile`: prints a database's profile as text or JSON.

In: the words after `profile`. Out: the profile on standard output, problems on standard error, an exit code of
`agent.cli.exits`.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from agent.cli.shared import DatabaseOption, errors_reported, opened

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def profile(
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
