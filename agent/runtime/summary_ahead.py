"""A summary that is written while its query is still being judged, which saves the wait for one call.

In: the request that the summary will answer if the query passes, and the model. Out: the summary, if the final request
equals the expected one; nothing is shown before that.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from agent.models.prompts import summary_prompt
from agent.models.protocol import Model, Summary, SummaryRequest


class SummaryAhead:
    """Starts writing when it is created; `cancel` it if the query does not pass."""

    def __init__(self, request: SummaryRequest, model: Model) -> None:
        self._prompt = summary_prompt(request)
        self._pieces: list[str] = []
        self._on_text: Callable[[str], None] = self._pieces.append
        self._writing = asyncio.create_task(model.summarize(request, self._heard))

    def answers(self, request: SummaryRequest) -> bool:
        """Whether this summary was requested with the same prompt as `request`."""
        return summary_prompt(request) == self._prompt

    async def to_end(self, on_text: Callable[[str], None]) -> Summary:
        """The whole summary; `on_text` receives the text written so far at once, then the rest as it arrives. Raises
        the errors of `Model.summarize`."""
        for piece in self._pieces:
            on_text(piece)
        self._on_text = on_text
        try:
            return await self._writing
        except asyncio.CancelledError:
            self._writing.cancel()
            raise

    async def cancel(self) -> None:
        self._writing.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await self._writing

    def _heard(self, piece: str) -> None:
        self._on_text(piece)
