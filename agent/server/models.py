"""One model object for the whole server, so that runs share its connections.

In: the name that a client asks for. Out: the shared model of the settings, or of the offline engine; another name is
handed on, and lives as long as its run.
"""

from __future__ import annotations

from agent.catalogue import resolve_model
from agent.config import Settings
from agent.models import OFFLINE
from agent.models.protocol import Model


class SharedModels:
    """Belongs to one event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._models: dict[str, Model] = {}

    @property
    def default_name(self) -> str:
        return OFFLINE if self._settings.offline else self._settings.model

    def named(self, name: str | None) -> Model | str:
        """What to give to the runner."""
        wanted = (name or "").strip() or self.default_name
        if wanted not in (OFFLINE, self.default_name):
            return wanted
        if wanted not in self._models:
            self._models[wanted] = resolve_model(OFFLINE if wanted == OFFLINE else None, self._settings)
        return self._models[wanted]

    async def close(self) -> None:
        while self._models:
            await self._models.popitem()[1].close()
