"""Does slow one-time work in the background when the server starts, so that the first question is fast.

In: the services. Out: the graph imported, the default database opened and its structure read, the model's client
imported. A failure here is no failure of the server: `/ready` says what is missing, and a question says why.
"""

from __future__ import annotations

import asyncio
import logging

from agent.runner import answer_many
from agent.server.errors import ApiError
from agent.server.presets import Presets

log = logging.getLogger(__name__)


class Warmup:
    """`graph` is `ok` once a run would find it imported."""

    def __init__(self) -> None:
        self.graph = "still being loaded"
        self._task: asyncio.Task[None] | None = None

    def begin(self, presets: Presets, *, offline: bool) -> None:
        self._task = asyncio.create_task(self._warm(presets, offline))

    async def end(self) -> None:
        """Wait for a step that is under way; threads cannot be stopped."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _warm(self, presets: Presets, offline: bool) -> None:
        def imported() -> None:
            import agent.graph
            import agent.parser  # gives a second opinion on every other model's query

            if not offline:
                import agent.models.chat  # noqa: F401

        try:
            await presets.schema(presets.default())
        except ApiError as error:
            log.warning("The default database cannot be used: %s", error)
        try:
            await asyncio.to_thread(imported)
            answer_many()
            self.graph = "ok"
        except Exception:
            log.exception("The graph could not be loaded")
            self.graph = "could not be loaded"
