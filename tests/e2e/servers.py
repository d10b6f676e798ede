"""The servers that the page is led through: with the offline engine, with a scripted model, and a bare one that wants a
token and has an empty database.

In: a folder for their state, and the endpoint that speaks for the model. Out: each, running until the block ends.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

from tests.agent.server.running import Running, running, settings_for
from tests.openai_server import OpenAIServer
from tests.writing import sqlite_file

DIST = Path(__file__).resolve().parents[2] / "frontend" / "dist"
TOKEN = "a-long-random-token-0123456789-abcdef"

Kind = Literal["offline", "model", "bare"]


def offline_server(folder: Path) -> AbstractContextManager[Running]:
    """The demo databases and the offline engine; mail is offered, though nobody would take it."""
    mail = {"TEXT2SQL_SMTP_URL": "smtp://127.0.0.1:9", "TEXT2SQL_MAIL_FROM": "reports@example.org"}
    return running(settings_for(folder, TEXT2SQL_PAGE_DIR=DIST, **mail))


def model_server(folder: Path, endpoint: OpenAIServer) -> AbstractContextManager[Running]:
    """The demo databases and a model that says what `endpoint` says."""
    config = settings_for(
        folder,
        TEXT2SQL_PAGE_DIR=DIST,
        OPENAI_BASE_URL=endpoint.url,
        OPENAI_API_KEY="k",
        TEXT2SQL_MODEL="scripted-model",
    )
    return running(config)


def bare_server(folder: Path) -> AbstractContextManager[Running]:
    """An empty database, and nobody is let in without `TOKEN`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "empty.sqlite"
    sqlite_file(path, "CREATE TABLE t (a); DROP TABLE t;")
    config = settings_for(
        folder, TEXT2SQL_PAGE_DIR=DIST, TEXT2SQL_DB_PATH=path, TEXT2SQL_TOKENS=f"ana={TOKEN}", TEXT2SQL_AUTH="required"
    )
    return running(config)
