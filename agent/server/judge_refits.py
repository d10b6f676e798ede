"""Learns from verdicts in the background: after every so many on a database, its judge is fitted anew.

In: the news that an owner has judged an answer. Out: the file of learned judges, where what was learned holds on
answers held out (`agent.judging`). A failure is logged and harms no request.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from pathlib import Path

from agent.config import JudgingSettings
from agent.judging.lessons import learned_from
from agent.judging.local import BadJudge, keep, name_of
from agent.server.access import Client
from agent.server.errors import ApiError
from agent.server.presets import Presets
from agent.store import Store, StoreError
from eval.databases.types import DatabaseError

log = logging.getLogger(__name__)


class JudgeRefits:
    def __init__(self, settings: JudgingSettings, store: Store, presets: Presets) -> None:
        self._every = settings.learn_every if settings.learned else 0
        self._path = Path(settings.learned or "")
        self._store = store
        self._presets = presets
        self._new: Counter[tuple[str, str]] = Counter()
        self.busy: set[asyncio.Task[None]] = set()
        """What is under way."""

    def noticed(self, client: Client, preset: str) -> None:
        """A verdict was given; returns at once."""
        if not self._every:
            return
        self._new[client.owner, preset] += 1
        if self._new[client.owner, preset] >= self._every:
            del self._new[client.owner, preset]
            task = asyncio.create_task(self._learn(client, preset))
            self.busy.add(task)
            task.add_done_callback(self.busy.discard)

    async def end(self) -> None:
        """Stop what is under way; the next verdicts begin it again."""
        for task in self.busy:
            task.cancel()
        await asyncio.gather(*self.busy, return_exceptions=True)

    async def _learn(self, client: Client, preset: str) -> None:
        try:
            database = await (await self._presets.find(client, preset)).opened()
            outcome = await learned_from(self._store, client.owner, preset, database, rights=client.rights)
            if outcome.judge is not None:
                await asyncio.to_thread(keep, self._path, name_of(client.owner, preset), outcome.judge)
        except (ApiError, StoreError, DatabaseError, BadJudge) as error:
            log.warning("Nothing was learned from the verdicts on %s: %s", preset, error)
            return
        log.info("Learned from %d verdicts on %s: %s", outcome.answers, preset, "kept" if outcome.judge else "not kept")
