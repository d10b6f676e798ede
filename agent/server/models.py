"""One model object for the whole server, so that runs share its connections.

In: the name that a client asks for. Out: the shared model of the settings; `offline` and all other names are passed on
to the runner, and such a model lives as long as its run.
"""

from __future__ import annotations

from agent.config import ModelSettings
from agent.models import OFFLINE, shared_model
from agent.models.protocol import Model


class SharedModels:
    """Belongs to one event loop."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._default: Model | str | None = None

    @property
    def default_name(self) -> str:
        return OFFLINE if self._settings.offline else self._settings.name

    def named(self, name: str | None) -> Model | str:
        """The value to pass to the runner."""
        wanted = (name or "").strip() or self.default_name
        if wanted != self.default_name:
            return wanted
        if self._default is None:
            self._default = shared_model(self._settings)
        return self._default

    async def close(self) -> None:
        model, self._default = self._default, None
        if model is not None and not isinstance(model, str):
            await model.close()
