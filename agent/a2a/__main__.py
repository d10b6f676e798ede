"""`python -m agent.a2a`: the agent-to-agent server at the command line.

In: the address to listen on and the public URL. Out: a running server, and an exit code for scripts. Settings come from
the environment or a .env file.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from agent.cli import exits
from agent.cli.shared import KitOption
from eval.a2a.command import CANNOT_START, Host, LogLevel, Port, refuse, serve_at

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
    host: Host = "127.0.0.1",
    port: Port = 9019,
    card_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="How others reach this agent; the card says it. Default: the address, or this machine's name.",
        ),
    ] = None,
    kit: KitOption = None,  # noqa: ARG001 (its callback sets it)
    log_level: LogLevel = "warning",
) -> None:
    """Serve tasks that bring their own schema, by plain REST and by A2A's JSON-RPC. TEXT2SQL_TOKENS says who may."""
    from pydantic import ValidationError

    from agent.config import settings, settings_problem

    try:
        config = settings()
    except ValidationError as error:
        refuse(settings_problem(error))

    def app_with(url: str) -> Any:
        from agent.a2a.rpc import build_app

        return build_app(config, url)

    serve_at(host, port, card_url, log_level, app_with, name="A2A", detail=f" ({config.model.engine} answers)")


def main() -> None:
    """Entry point of `python -m agent.a2a`."""
    app(prog_name="python -m agent.a2a")


if __name__ == "__main__":
    main()
