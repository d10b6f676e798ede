"""`python -m agent.mcp`: the tools over standard input and output, for a client that starts this program as a child
process.

In: JSON-RPC lines on standard input; settings from the environment or a .env file. Out: JSON-RPC on standard output,
and nothing else there; log lines on standard error.
"""

from __future__ import annotations

import typer

from agent.cli import exits
from agent.cli.shared import KitOption
from eval.a2a.command import LEVELS, LogLevel, refuse

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def serve(
    kit: KitOption = None,  # noqa: ARG001 (its callback sets it)
    log_level: LogLevel = "warning",
) -> None:
    """Offer the databases to an MCP client over standard input and output."""
    import logging

    from pydantic import ValidationError

    from agent.config import settings, settings_problem

    if log_level not in LEVELS:
        refuse("--log-level is one of error, warning, info, debug.")
    try:
        config = settings()
    except ValidationError as error:
        refuse(settings_problem(error))
    try:
        import mcp  # noqa: F401
    except ModuleNotFoundError:
        refuse("This needs the extra `mcp`: pip install 'askwell[mcp]'.")
    import asyncio

    from agent.server.telemetry import configure_logging

    configure_logging(config, level=logging.getLevelNamesMapping()[log_level.upper()])
    try:
        asyncio.run(_serve())
    except KeyboardInterrupt:
        raise typer.Exit(exits.ANSWERED) from None


async def _serve() -> None:
    from agent.mcp.tools import make_server
    from agent.server.app import create_app

    server = create_app()  # for what its lifespan makes: the state, the runs, the databases
    async with server.router.lifespan_context(server):
        await make_server(lambda: server.state.services).run_stdio_async()


def main() -> None:
    """Entry point of `python -m agent.mcp`."""
    app(prog_name="python -m agent.mcp")


if __name__ == "__main__":
    main()
