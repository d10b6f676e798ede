"""`python -m eval.green_agent`: the evaluator on the command line.

In: the address to listen on and the public URL, or a scenario. Out: a running server, or a ranking.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from eval.a2a.listener import listening, run

USAGE = 2
CANNOT_START = 3
INTERRUPTED = 130

_EPILOG = "\n".join(
    [
        "\b",
        "Examples:",
        "  python -m eval.green_agent",
        "  python -m eval.green_agent --host 0.0.0.0 --port 9009 --card-url http://green-agent:9009/",
        "  python -m eval.green_agent scenario scenario.toml --out artifact.json",
        "",
        "\b",
        "Exit codes:",
        "  0    stopped as asked; the scenario ran",
        f"  {USAGE}    wrong use: an option, a scenario, a part of it that does not start",
        f"  {CANNOT_START}    it could not start: the port is taken, or the address is not this machine's",
    ]
)

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True, epilog=_EPILOG)
def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port; 0 takes any free one.")] = 9009,
    card_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="How others reach this evaluator. Default: the address, or this machine's name.",
        ),
    ] = None,
    tasks: Annotated[
        str, typer.Option(metavar="SOURCE", help="library, spider:PLACE, bird:PLACE, or a file of JSON lines.")
    ] = "library",
    databases: Annotated[Path | None, typer.Option(metavar="DIR", help="SQLite files of --tasks.")] = None,
    test_suites: Annotated[Path | None, typer.Option(metavar="DIR", help="Replicas for TS.")] = None,
    dialect: Annotated[str, typer.Option(metavar="D", help="Dialect where a request names none.")] = "sqlite",
    engine: Annotated[str | None, typer.Option(metavar="URL", help="Server for the library's databases.")] = None,
    log_level: Annotated[str, typer.Option(metavar="LEVEL", help="error, warning, info or debug.")] = "warning",
) -> None:
    """Serve assessments of text-to-SQL agents, over A2A and plain REST. Nobody is asked for a token."""
    if context.invoked_subcommand is not None:
        return
    from eval.a2a.card_url import CardUrlUnusable, default_card_url
    from eval.green_agent.assessment_run import Evaluator, Source

    if log_level not in ("error", "warning", "info", "debug"):
        _refuse("--log-level is one of error, warning, info, debug.")
    try:
        from eval.green_agent.app import build_app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("a2a", "google"):
            raise
        _refuse("The A2A protocol needs its package: pip install 'text2sql[a2a]'")
    try:
        with listening(host, port) as listener:
            port = listener.getsockname()[1]
            here = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
            card_url = card_url or default_card_url(host, port)
            made = build_app(Evaluator(Source(tasks, databases, test_suites, engine, dialect)), card_url)
            sys.stdout.write(f"Evaluator at {here}, card {card_url}. Ctrl-C stops it.\n")
            sys.stdout.flush()
            run(made, listener, log_level)
    except CardUrlUnusable as error:
        _refuse(f"--card-url: {error}.")
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0]
        _refuse(f"Cannot listen at {host}:{port}: {reason}.", CANNOT_START)


@app.command()
def scenario(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scenario.toml.")] = Path("scenario.toml"),
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the artifact there, as JSON.")] = None,
) -> None:
    """Start the evaluator and the participants of a scenario, run it, print the ranking."""
    from eval.assessment.subprocesses import SpawnError
    from eval.green_agent.scenario import ScenarioError, read_scenario, run_scenario

    try:
        outcome = run_scenario(read_scenario(file), lambda text: typer.echo(text, err=True))
        if out:
            out.write_text(json.dumps(outcome, indent=2, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    except (ScenarioError, SpawnError) as error:
        _refuse(str(error))
    except OSError as error:
        _refuse(f"{out} cannot be written: {error.strerror}")
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    _print_ranking(outcome)


def _print_ranking(artifact: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("rank", "participant", "overall", "EX", "95 % interval", "no answer")
    for entry in artifact["rankings"]:
        low, high = entry["execution_accuracy_interval"]
        errors = artifact["participants"][entry["participant"]]["error_metrics"]
        table.add_row(
            str(entry["rank"]),
            Text(str(entry["participant"])),
            f"{entry['overall']:.3f}",
            f"{100 * entry['execution_accuracy']:.1f} %",
            f"{100 * low:.1f} to {100 * high:.1f} %",
            f"{errors['no_answer']} of {errors['total']}",
        )
    Console().print(table)


def _refuse(message: str, code: int = USAGE) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(code)


def main() -> None:
    """Entry point of `python -m eval.green_agent`."""
    app(prog_name="python -m eval.green_agent")


if __name__ == "__main__":
    main()
