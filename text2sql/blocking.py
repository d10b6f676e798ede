"""`ask`: the call that waits, for scripts and notebooks.

In: what `agent.runner.run` takes. Out: its `Answer`.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

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

    def wait() -> Answer:
        return asyncio.run(run(question, database=database, model=model, settings=settings))

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return wait()
    with ThreadPoolExecutor(max_workers=1) as another_thread:
        return another_thread.submit(wait).result()
