"""`ask` and `run`: one question for a script, a notebook or async code.

In: what `agent.runner.run` takes. Out: an `Answer`, or `QuestionFailed` where there is none because something failed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from typing_extensions import Unpack

from agent import runner
from agent.config import settings
from eval.databases.base import Database
from text2sql.answer import Answer
from text2sql.errors import QuestionFailed

T = TypeVar("T")

for _package in ("agent", "eval"):  # a library leaves the output of its log to the program that uses it
    logging.getLogger(_package).addHandler(logging.NullHandler())


async def run(question: str, **options: Unpack[runner.RunOptions]) -> Answer:
    """Ask a question, in async code.

    `options`: `database` (a demo, a path, a URL, a list of data files, a pandas, Polars or Arrow table, a dict of
    tables by name, a DuckDB connection or an open Database), `model` (a name, `offline`, or a Model), `settings`, and
    the others of `agent.runner.RunOptions`; what is left out comes from the settings. Tables in memory are copied
    for each question; a `Thread` copies them once. A question that is declined is an Answer of status `abstained`.
    Raises QuestionFailed if the database, the model or the settings failed; InputError, DatabaseError for data that
    cannot be read.
    """
    given = options.get("database")
    options["database"] = database = await asyncio.to_thread(database_of, given)
    try:
        answer = Answer.model_construct(**dict(await runner.run(question, **options)))
    finally:
        if isinstance(database, Database) and database is not given:
            await asyncio.to_thread(database.close)
    if answer.status == "error":
        raise QuestionFailed(answer)
    return answer


def database_of(data: Any) -> str | Database | None:
    """What the runner takes for the data that a program passes. Raises InputError, DatabaseError."""
    if data is None or isinstance(data, (str, Database)):
        return data
    if isinstance(data, Path):
        return str(data)
    from agent.sources.frames import open_data

    return open_data(data, settings().database.cache_dir)


def ask(question: str, **options: Unpack[runner.RunOptions]) -> Answer:
    """`run`, for code that waits. Works where an event loop is already running (a notebook), too."""
    return wait_for(run(question, **options))


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, whether or not this thread has a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as another_thread:
        return another_thread.submit(asyncio.run, work).result()
