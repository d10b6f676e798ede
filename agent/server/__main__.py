"""`python -m agent.server`: the server at the command line.

In: the address to listen on. Out: a running server that prints its address and the engine that answers; an exit code
for scripts. Settings come from the environment or a .env file.
"""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from agent.cli import exits
from agent.cli.kit_option import KitOption

if TYPE_CHECKING:
    import socket

    from agent.config import Settings

GRACE_SECONDS = 10
"""Time that open connections have to end at shutdown."""
NOT_STARTED = 3

MEANING = {
    0: "stopped as asked",
    exits.USAGE: "wrong use: an unknown option, a setting that cannot be used, an address that needs tokens",
    NOT_STARTED: "it could not start: the port is taken, or the state cannot be opened",
}

_EPILOG = "\n".join(
    [
        "\b",
        "Examples:",
        "  python -m agent.server",
        "  TEXT2SQL_DATABASE_URL=postgresql://me@host/sales python -m agent.server --port 9000",
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


@app.command(epilog=_EPILOG)
def serve(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port; 0 takes any free one.")] = 8000,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Where others reach the server; default: where it listens.")
    ] = None,
    kit: KitOption = None,  # noqa: ARG001 (its callback sets it)
    reload: Annotated[bool, typer.Option("--reload", help="Start anew when a source file changes.")] = False,
) -> None:
    """Serve the page and the HTTP API."""
    from pydantic import ValidationError

    from agent.config import settings, settings_problem
    from agent.server.middleware import host_problem

    try:
        config = settings()
    except ValidationError as error:
        _refuse(settings_problem(error))
    if problem := host_problem(host, config.server, config.database):
        _refuse(problem)
    if reload:
        _serve_with_reload(host, port)
    else:
        raise typer.Exit(_serve(host, port, url, config))


def _serve(host: str, port: int, url: str | None, config: Settings) -> int:
    import uvicorn

    from agent.server.app import create_app

    listening = _bound_socket(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}"
    try:
        made = create_app(config, url=(url or address).rstrip("/"))
    except ValueError as error:
        _refuse(str(error))

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                engine = "the built-in offline engine" if config.model.offline else f"the model {config.model.name}"
                sys.stdout.write(f"text2sql at {address} ({engine} answers). Ctrl-C stops it.\n")
                sys.stdout.flush()

    server = Server(uvicorn.Config(made, **_options()))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # uvicorn handles it while it runs, then raises it again at the end
    try:
        server.run([listening])
    except SystemExit:  # the lifespan failed; the log says why
        return NOT_STARTED
    except KeyboardInterrupt:
        return 0
    return 0 if server.started else NOT_STARTED


def _bound_socket(host: str, port: int) -> socket.socket:
    """Bind first, so that a taken port is reported before anything else happens, and port 0 becomes a number."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        sys.stderr.write(f"text2sql: cannot listen at {host}, port {port}: {error.strerror or error}\n")
        raise typer.Exit(NOT_STARTED) from None
    return listening


def _serve_with_reload(host: str, port: int) -> None:
    import uvicorn

    uvicorn.run("agent.server:app", host=host, port=port, reload=True, **_options())


def _options() -> dict[str, Any]:
    from agent.server.middleware import uvicorn_options

    return {**uvicorn_options(), "timeout_graceful_shutdown": GRACE_SECONDS, "timeout_keep_alive": 30, "backlog": 1024}


def _refuse(problem: str) -> NoReturn:
    sys.stderr.write(f"text2sql: {problem}\n")
    raise typer.Exit(exits.USAGE)


def main() -> None:
    app(prog_name="python -m agent.server")


if __name__ == "__main__":
    main()
