"""The HTTP server: `agent.server:app` for uvicorn, `python -m agent.server` for people.

The app is created on first access, so that importing the package is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI

    app: FastAPI

__all__ = ["app"]


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from agent.server.app import create_app

    globals()["app"] = made = create_app()
    return made
