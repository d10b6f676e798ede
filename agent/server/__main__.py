"""`python -m agent.server`: the server at the command line.

In: the address to listen on. Out: a running server that prints its address and the engine that answers; an exit code
for scripts. Settings come from the environment or a .env file.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.shared import KitOption
from eval.a2a.command import CANNOT_START, USAGE, refuse

MEANING = {
    0: "stopped as asked",
    USAGE: "wrong use: an unknown option, a setting that cannot be used, an address that needs tokens",
    CANNOT_START: "it could not start: the port is taken, or the state cannot be opened",
}

_EPILOG = "\n".join(
    [
        "\b",
        "Examples:",
        "  python -m agent.server",
        "  TEXT2SQL_DATABASE_URL=postgresql://me@host/sales python -m agent.server --port 9000",
        "  TEXT2SQL_STATE_URL=postgresql://me@host/state python -m agent.server --workers 4",
        "  TEXT2SQL_TOKENS=ana=a-long-random-text python -m agent.server --host 0.0.0.0",
        "",
        "\b",
        "Exit codes:",
        *(f"  {code:<4} {meaning}" for code, meaning in MEANING.items()),
        "",
        "\b",
        "Settings come from the environment or a .env file; .env.example lists them all.",
    ]
)

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command("serve", epilog=_EPILOG)
def serve_command(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port; 0 takes any free one.")] = 8000,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Where others reach the server; default: where it listens.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=256, metavar="N", help="Processes that answer; more than one need PostgreSQL."),
    ] = None,
    kit: KitOption = None,  # noqa: ARG001 (its callback sets it)
    reload: Annotated[bool, typer.Option("--reload", help="Restart when a source file changes.")] = False,
) -> None:
    """Serve the page and the HTTP API."""
    from pydantic import ValidationError

    from agent.config import settings, settings_problem
    from agent.server.middleware import host_problem
    from agent.server.server_process import (
        AddressUnusable,
        address_of,
        announce,
        bound,
        options,
        run_workers,
        serve,
        workers_problem,
    )
    from agent.store import StoreError

    try:
        config = settings()
        count = 1 if reload else workers or config.server.workers
        problem = host_problem(host, config.server, config.database) or workers_problem(count, config.state)
    except ValidationError as error:
        refuse(f"text2sql: {settings_problem(error)}")
    except StoreError as error:
        refuse(f"text2sql: {error}")
    if problem:
        refuse(f"text2sql: {problem}")
    if reload:
        import uvicorn

        uvicorn.run("agent.server:app", host=host, port=port, reload=True, **options(config.server))
        return
    try:
        if count > 1:
            raise typer.Exit(run_workers(host, port, url, config, count))
        listening = bound(host, port)
        address = address_of(listening)
        there, started = (url or address).rstrip("/"), lambda: announce(address, config)
        raise typer.Exit(serve(listening, config, url=there, started=started))
    except AddressUnusable as error:
        refuse(f"text2sql: {error}", CANNOT_START)
    except ValueError as error:
        refuse(f"text2sql: {error}")


def main() -> None:
    app(prog_name="python -m agent.server")


if __name__ == "__main__":
    main()
