"""The doors over HTTP: `agent.server:app` for uvicorn, `python -m agent.server` for people.

The app is made when it is first asked for, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI

    app: FastAPI


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from agent.server.app import create_app

    globals()["app"] = made = create_app()
    return made
