"""`python -m agent.a2a`: the agent-to-agent server at the command line.

In: the address to listen on and the public URL. Out: a running server, and an exit code for scripts. Settings come from
the environment or a .env file.
"""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer

from agent.cli import exits
from agent.cli.kit_option import KitOption
from eval.a2a.card_url import CardUrlUnusable, checked_card_url, default_card_url
from eval.a2a.listener import listening, run

CANNOT_START = 3

_EPILOG = "\n".join(
    [
        "\b",
        "Examples:",
        "  python -m agent.a2a",
        "  python -m agent.a2a --host 0.0.0.0 --port 9019 --card-url http://purple-agent:9019/",
        "",
        "\b",
        "Exit codes:",
        "  0    stopped as asked",
        f"  {exits.USAGE}    wrong use: a setting or the card's URL cannot be used, the a2a extra is missing",
        f"  {CANNOT_START}    it could not start: the port is taken, or the address is not this machine's",
        "",
        "\b",
        "Settings come from the environment or a .env file; .env.example lists them all.",
    ]
)

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(epilog=_EPILOG)
def serve(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port; 0 takes any free one.")] = 9019,
    card_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="How others reach this agent; the card says it. Default: the address, or this machine's name.",
        ),
    ] = None,
    kit: KitOption = None,  # noqa: ARG001 (its callback sets it)
    log_level: Annotated[str, typer.Option(metavar="LEVEL", help="error, warning, info or debug.")] = "warning",
) -> None:
    """Serve tasks that bring their own schema, by plain REST and by A2A's JSON-RPC. TEXT2SQL_TOKENS says who may."""
    from pydantic import ValidationError

    from agent.config import settings, settings_problem

    if log_level not in ("error", "warning", "info", "debug"):
        _refuse("--log-level is one of error, warning, info, debug.")
    try:
        config = settings()
        from agent.a2a.app import build_app
        from agent.server.middleware import TokensInvalid
    except ValidationError as error:
        _refuse(settings_problem(error))
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("a2a", "google"):
            raise
        _refuse("The A2A protocol needs its package: pip install 'text2sql[a2a]'")
    try:
        if card_url is not None:
            checked_card_url(card_url)
        with listening(host, port) as listener:
            port = listener.getsockname()[1]
            here = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
            card_url = card_url or default_card_url(host, port)
            made = build_app(config, card_url)
            engine = "the built-in offline engine" if config.model.offline else f"the model {config.model.name}"
            sys.stdout.write(f"A2A at {here}, card {card_url} ({engine} answers). Ctrl-C stops it.\n")
            sys.stdout.flush()
            run(made, listener, log_level)
    except CardUrlUnusable as error:
        _refuse(f"--card-url: {error}.")
    except TokensInvalid as error:
        _refuse(str(error))
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0]
        _refuse(f"Cannot listen at {host}:{port}: {reason}.", CANNOT_START)


def _refuse(message: str, code: int = exits.USAGE) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(code)


def main() -> None:
    """Entry point of `python -m agent.a2a`."""
    app(prog_name="python -m agent.a2a")


if __name__ == "__main__":
    main()
