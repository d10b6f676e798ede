"""`ask` and `run`: one question for a script, a notebook or async code.

In: what `agent.runner.run` takes. Out: an `Answer`, or `QuestionFailed` where there is none because something failed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from typing_extensions import Unpack

from agent import runner
from text2sql.answer import Answer
from text2sql.errors import QuestionFailed

T = TypeVar("T")

for _package in ("agent", "eval"):  # a library leaves the output of its log to the program that uses it
    logging.getLogger(_package).addHandler(logging.NullHandler())


async def run(question: str, **options: Unpack[runner.RunOptions]) -> Answer:
    """Ask a question, in async code.

    `options`: `database` (a demo, a path, a URL or an open Database), `model` (a name, `offline`, or a Model),
    `settings`, and the other fields of `agent.runner.RunRequest`; what is left out comes from the settings. A question
    that is declined is an Answer of status `abstained`. Raises QuestionFailed if the database, the model or the
    settings failed.
    """
    answer = Answer.model_construct(**dict(await runner.run(question, **options)))
    if answer.status == "error":
        raise QuestionFailed(answer)
    return answer


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
