"""`python -m eval.green_agent`: the evaluator on the command line.

In: the address to listen on and the public URL, or a scenario. Out: a running server, or a ranking.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from eval.a2a.command import CANNOT_START, USAGE, Host, LogLevel, Port, refuse, serve_at
from eval.jsonl import INTERRUPTED

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
    host: Host = "127.0.0.1",
    port: Port = 9009,
    card_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="How others reach this evaluator. Default: the address, or this machine's name."
        ),
    ] = None,
    tasks: Annotated[
        str, typer.Option(metavar="SOURCE", help="library, spider:PLACE, bird:PLACE, or a file of JSON lines.")
    ] = "library",
    databases: Annotated[Path | None, typer.Option(metavar="DIR", help="SQLite files of --tasks.")] = None,
    test_suites: Annotated[Path | None, typer.Option(metavar="DIR", help="Replicas for TS.")] = None,
    dialect: Annotated[str, typer.Option(metavar="D", help="Dialect where a request names none.")] = "sqlite",
    engine: Annotated[str | None, typer.Option(metavar="URL", help="Server for the library's databases.")] = None,
    log_level: LogLevel = "warning",
) -> None:
    """Serve assessments of text-to-SQL agents, over A2A and plain REST. Nobody is asked for a token."""
    if context.invoked_subcommand is not None:
        return
    from eval.green_agent.assessment_run import Evaluator, Source

    def app_with(url: str) -> Any:
        from eval.green_agent.app import build_app

        return build_app(Evaluator(Source(tasks, databases, test_suites, engine, dialect)), url)

    serve_at(host, port, card_url, log_level, app_with, name="Evaluator")


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
        refuse(str(error))
    except OSError as error:
        refuse(f"{out} cannot be written: {error.strerror}")
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("rank", "participant", "overall", "EX", "95 % interval", "no answer")
    for entry in outcome["rankings"]:
        low, high = entry["execution_accuracy_interval"]
        errors = outcome["participants"][entry["participant"]]["error_metrics"]
        table.add_row(
            str(entry["rank"]),
            Text(str(entry["participant"])),
            f"{entry['overall']:.3f}",
            f"{100 * entry['execution_accuracy']:.1f} %",
            f"{100 * low:.1f} to {100 * high:.1f} %",
            f"{errors['no_answer']} of {errors['total']}",
        )
    Console().print(table)


def main() -> None:
    app(prog_name="python -m eval.green_agent")


if __name__ == "__main__":
    main()
