"""What the commands that start an A2A server share: their options, their exit codes, and the start itself. Needs no
SDK.
"""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer

from eval.a2a.card_url import CardUrlUnusable, checked_card_url, default_card_url
from eval.errors import InputError

USAGE = 2
CANNOT_START = 3
GRACE_SECONDS = 5
"""Grace period for open connections when the server is stopped."""
LEVELS = ("error", "warning", "info", "debug")

Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Port; 0 takes any free one.")]
LogLevel = Annotated[str, typer.Option(metavar="LEVEL", help="error, warning, info or debug.")]


def serve_at(
    host: str,
    port: int,
    card_url: str | None,
    log_level: str,
    app_with: Callable[[str], Any],
    *,
    name: str,
    detail: str = "",
) -> None:
    """Serve the app that `app_with` makes for the card's URL, until Ctrl-C. `app_with` imports the SDK; `name` and
    `detail` stand in the first line on standard output."""
    if log_level not in LEVELS:
        refuse("--log-level is one of error, warning, info, debug.")
    try:
        if card_url is not None:
            checked_card_url(card_url)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.create_server((host, port), family=family, backlog=1024) as listener:
            port = listener.getsockname()[1]
            card_url = card_url or default_card_url(host, port)
            app = app_with(card_url)
            here = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
            sys.stdout.write(f"{name} at {here}, card {card_url}{detail}. Ctrl-C stops it.\n")
            sys.stdout.flush()
            import uvicorn

            options = uvicorn.Config(
                app, log_level=log_level, access_log=False, server_header=False, timeout_graceful_shutdown=GRACE_SECONDS
            )
            # uvicorn handles it while it runs, then raises it again at the end
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            with suppress(KeyboardInterrupt):
                uvicorn.Server(options).run(sockets=[listener])
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("a2a", "google"):
            raise
        refuse("The A2A protocol needs its package: pip install 'askwell[a2a]'")
    except CardUrlUnusable as error:
        refuse(f"--card-url: {error}.")
    except InputError as error:
        refuse(str(error))
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0]
        refuse(f"Cannot listen at {host}:{port}: {reason}.", CANNOT_START)


def refuse(message: str, code: int = USAGE) -> NoReturn:
    """End the command with a sentence on standard error."""
    typer.echo(message, err=True)
    raise typer.Exit(code)
