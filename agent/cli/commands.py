"""`python -m agent.main profile`, `examples check FILE`, `examples export`, `glossary check FILE`, `explain` and `fix`.

In: the words after the command; SQL, `-` for standard input. Out: a profile, what was found, what a query says, or one
that runs, as text or JSON on standard output; an exit code of `agent.cli.exits`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli import exits
from agent.cli.shared import DatabaseOption, errors_reported, opened

if TYPE_CHECKING:
    from agent.inspection.memory import Checked

_File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to check.")]
_Sql = Annotated[str, typer.Argument(metavar="SQL", help="The query; '-' reads it from standard input.")]
_AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
_ROWS = 10
_IN_JSON = 200

profile = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
examples = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
glossary = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
statements = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


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


def is_statement(words: list[str]) -> bool:
    """Whether what follows `explain` or `fix` is SQL or an option: else the words are a question."""
    first = words[0].lower() if words else ""
    return first == "-" or first.startswith("--") or any(word in first for word in ("select ", "select\n", "with "))


@statements.command()
def explain(sql: _Sql, db: DatabaseOption = None, as_json: _AsJson = False) -> None:
    """Say in plain words what a query returns. It is not run, and no model is asked."""
    from eval.sql import check, parse, resolve
    from eval.sql.in_words import explained

    with errors_reported():
        database = opened(db)
        parsed = parse(_given(sql), database.dialect)
        schema = database.schema()
        verdict, said = check(parsed, schema), explained(parsed)
        unknown = [phantom.text for phantom in resolve(parsed, schema).phantoms]
    problem = verdict.reason or ""
    if as_json:
        _print_json({"sentences": said, "unknown": unknown, "problem": problem})
    else:
        for line in (*said, *(f"Not in the database: {one}." for one in unknown), *([problem] if problem else ())):
            _print(line)
    raise typer.Exit(exits.ANSWERED if said and not unknown and not problem else exits.NO_ANSWER)


@statements.command()
def fix(
    sql: _Sql,
    db: DatabaseOption = None,
    question: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What it should answer; the query is then judged.")
    ] = None,
    as_json: _AsJson = False,
) -> None:
    """Turn a query that does not run into one that does: the query, what was changed, and its first rows.

    Names are taken from the database, joins from its keys; whatever is changed is told. No model is asked.
    """
    from agent.statements.mending import mended

    with errors_reported():
        database = opened(db)
        made = mended(_given(sql), database)
        chance = None
        if question and not made.problem:
            from eval.examination import Query, examine
            from eval.scoring import score

            chance = score(examine(Query(question, made.sql), database, schema=database.schema())).probability
    rows = [list(row) for row in made.result.rows[:_IN_JSON]] if made.result else []
    columns = list(made.result.columns) if made.result else []
    if as_json:
        told = {"sql": made.sql, "changes": list(made.changes), "problem": made.problem}
        _print_json(told | {"columns": columns, "rows": rows, "probability": chance})
    else:
        _print(made.sql)
        _print("\n".join(f"- {line}" for line in made.changes or (() if made.problem else ("It ran as it was.",))))
        if made.problem:
            _print(f"It still does not run: {made.problem}")
        else:
            from agent.cli.console import console_on
            from agent.cli.report import rows_table

            console = console_on(sys.stdout, color=True)
            console.print(rows_table(console, columns, rows[:_ROWS]))
            if len(rows) > _ROWS:
                _print(f"… the first {_ROWS} of {'more than ' * (len(rows) == _IN_JSON)}{len(rows)} rows")
        if chance is not None:
            _print(f"It answers the question in about {round(chance * 10)} of 10 cases like this.")
    if made.problem:
        raise typer.Exit(exits.NO_ANSWER)
    from eval.scoring import EVEN_ODDS

    raise typer.Exit(exits.DOUBTFUL if chance is not None and chance < EVEN_ODDS else exits.ANSWERED)


def _given(sql: str) -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace") if sql == "-" else sql


def _print(text: str) -> None:
    from agent.cli.console import printable

    if text:
        typer.echo(printable(text))


def _print_json(value: dict[str, Any]) -> None:
    typer.echo(json.dumps(value, ensure_ascii=True, default=str))
