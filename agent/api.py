"""The synchronous call for programs and notebooks."""

from __future__ import annotations

import asyncio
import threading

from agent.config import Settings
from agent.models.protocol import Model
from agent.runner import Answer, run
from eval.databases.base import Database


def ask(
    question: str,
    *,
    database: str | Database | None = None,
    model: str | Model | None = None,
    settings: Settings | None = None,
) -> Answer:
    """Ask a question and wait for the answer. Works where an event loop is already running (a notebook), too.

    `database`: a preset (`shop`, `enterprise`), a path, a URL or an open Database; `model`: a name, `offline`, or a
    Model; None means what the settings say. Never raises: a failure is an Answer of status `error`.
    """
    arguments = {"database": database, "model": model, "settings": settings}
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(run(question, **arguments))  # type: ignore[arg-type]
    answers: list[Answer] = []
    thread = threading.Thread(target=lambda: answers.append(asyncio.run(run(question, **arguments))))  # type: ignore[arg-type]
    thread.start()
    thread.join()
    return answers[0]
