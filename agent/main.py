"""The command line: `python -m agent.main "question"`.

In: a question, as arguments or on standard input. Out: the answer on standard output, the steps on standard error, and
an exit code that a script can use (`agent.cli.exits`). Slow imports happen in the packages that need them, after the
first step is on the screen.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent.cli import exits
from agent.cli.shared import KitOption

_EPILOG = "\n".join(
    [
        "\b",
        "Examples:",
        '  python -m agent.main "Which cities have the most customers?"',
        '  python -m agent.main --db sales.sqlite "total revenue by month" --explain',
        '  python -m agent.main --db sales.csv "which customer bought the most?"',
        '  python -m agent.main --db postgresql://me@host/sales --json "how many orders?" | jq .rows',
        '  python -m agent.main --dry-run "cancelled orders" > query.sql',
        '  echo "how many products are there?" | python -m agent.main -',
        "  python -m agent.main --interactive",
        "  python -m agent.main profile --db sales.sqlite",
        '  python -m agent.main explain "SELECT city, COUNT(*) FROM customers GROUP BY city"',
        '  python -m agent.main fix "SELECT nme FROM customer"',
        "  python -m agent.main sales.csv customers.xlsx",
        "",
        "\b",
        "Exit codes:",
        *(f"  {code:<4} {meaning}" for code, meaning in exits.MEANING.items()),
        "",
        "\b",
        "Settings come from the environment or a .env file; .env.example lists them all.",
    ]
)

app = typer.Typer(add_completion=True, rich_markup_mode=None, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        from eval.version import VERSION

        typer.echo(f"text2sql {VERSION}")
        raise typer.Exit


def _strategies() -> list[str]:
    from agent.strategies import STRATEGIES

    return list(STRATEGIES)


@app.command(epilog=_EPILOG)
def ask(  # noqa: PLR0913 (an argument for each option)
    question: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUESTION", help="The question; '-' reads it from standard input; none opens a prompt."),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(
            metavar="URL|FILE|FOLDER|DEMO",
            help="Database: a URL, a database file, a CSV, Excel, JSON lines or Parquet file, a folder of such files, "
            "or a demo (shop, enterprise). Default: the configured one.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Model to use; 'offline' is the built-in engine. Default: the configured one."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also print the plan, the attempts, the score and the evidence.")
    ] = False,
    dialect: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="SQL dialect to write where nothing can be executed: for a .sql file of CREATE TABLE statements as "
            "--db, or snowflake, bigquery, redshift, databricks, trino, sqlserver, oracle for any database's tables.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the SQL alone, checked but not executed.")] = False,
    interactive: Annotated[bool, typer.Option("--interactive", "-i", help="Ask one question after another.")] = False,
    strategy: Annotated[
        str | None,
        typer.Option(
            autocompletion=_strategies,
            metavar="NAME",
            help="How to work on it: zero-shot, few-shot-3, stage-0 to stage-3, react, standard, verified, full.",
        ),
    ] = None,
    kit: KitOption = None,  # noqa: ARG001 (its callback sets it)
    timeout: Annotated[
        float | None,
        typer.Option(min=0.1, metavar="SECONDS", help="Seconds for one question, model and database included."),
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Rows to print. Default: 20, and all in JSON.")
    ] = None,
    no_color: Annotated[bool, typer.Option("--no-color", help="Plain text, no colours.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Read data files as proposed, without asking how.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show the steps.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show log lines on standard error.")] = False,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Ask a database a question in plain English: the SQL, the rows, the answer and how sure it is.

    With files instead of a question (FILE... [--port N] [--no-browser]), the page opens on them as one database.
    FILE QUESTION is short for --db FILE QUESTION.
    """
    from agent.cli.console import ReaderGone, console_on
    from agent.cli.report import Output
    from agent.cli.session import Asker, failed

    progress = console_on(sys.stderr, not no_color)
    output = Output(console_on(sys.stdout, not no_color), progress, as_json, explain, dry_run, max_rows)
    asker = Asker(progress, db, model, timeout, max_rows, not dry_run, quiet, verbose, strategy, yes, dialect)
    try:
        nothing_said = not question and sys.stdin.isatty() and not as_json
        if interactive or nothing_said:
            from agent.cli.interactive import Prompt

            code = Prompt(asker, output).run(" ".join(question or []))
        else:
            text, problem = _question(question)
            answer = failed(text, "question", problem) if problem else asker.ask(text)
            output.show(answer)
            code = exits.exit_code(answer)
    except KeyboardInterrupt:
        progress.print("Stopped.")
        code = exits.INTERRUPTED
    except (ReaderGone, BrokenPipeError):
        from eval.jsonl import forget_output

        forget_output(sys.stdout)
        code = exits.ANSWERED
    except Exception as error:
        if verbose:
            raise
        output.complain(f"Something went wrong inside: {type(error).__name__}: {error} (--verbose shows where)")
        code = exits.INTERNAL
    raise typer.Exit(code)


def _question(words: list[str] | None) -> tuple[str, str | None]:
    """The question, and the problem with it, if any."""
    if words and words != ["-"]:
        text = " ".join(words)
    elif words or not sys.stdin.isatty():
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    else:
        return "", "No question. Ask one in quotes; --help has examples."
    return text.strip(), None if text.strip() else "The question is empty."


def _program() -> str:
    """The name under which this program was started, for its help text."""
    module = {"agent/main.py": "agent.main", "text2sql/__main__.py": "text2sql"}
    called = next((f"python -m {name}" for file, name in module.items() if sys.argv[0].endswith(file)), None)
    return called or Path(sys.argv[0]).stem or "text2sql"


def main() -> None:
    """Entry point of `text2sql`, `python -m text2sql` and `python -m agent.main`.

    A first word that is a data or database file opens the page on it, and on further files; with a question after it,
    that is answered as with `--db`. `profile` is the command when it is alone or followed by options; `examples`,
    `glossary` and `model` are commands when one of their subcommands follows. Any other use of these words is a
    question. So are `explain` and `fix` unless SQL or an option follows.
    """
    from agent.cli.page_command import app as page
    from agent.cli.page_command import is_question, names_file

    if sys.argv[1:] and names_file(sys.argv[1]):
        if not all(map(names_file, sys.argv[2:3])) and any(map(is_question, sys.argv[2:])):
            app(["--db", *sys.argv[1:]], prog_name=_program())
        page(sys.argv[1:], prog_name=_program())
    if sys.argv[1:2] == ["profile"] and all(word.startswith("-") for word in sys.argv[2:3]):
        from agent.cli.commands import profile

        profile(sys.argv[2:], prog_name=f"{_program()} profile")
    if sys.argv[1:3] in (["examples", "check"], ["examples", "export"], ["glossary", "check"], ["model", "check"],
                        ["model", "init"], ["model", "get"], ["model", "remove"]):  # fmt: skip
        from agent.cli import commands, model_command

        module = model_command if sys.argv[1] == "model" else commands
        getattr(module, sys.argv[1])(sys.argv[2:], prog_name=f"{_program()} {sys.argv[1]}")
    if sys.argv[1:2] in (["explain"], ["fix"]):
        from agent.cli.commands import is_statement, statements

        if is_statement(sys.argv[2:]):
            statements(sys.argv[1:], prog_name=_program())
    app(prog_name=_program())


if __name__ == "__main__":
    main()
