"""One model object for the whole server, so that runs share its connections; and the setting that chooses it.

In: the settings, a setting that a client who may has kept, the name that a question asks for. Out: the shared model;
`offline` and all other names are passed on to the runner, and such a model lives as long as its run. The kept setting
is sealed in the state, so it holds for every server that shares the state, and outlives them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging

from pydantic import BaseModel, ConfigDict, SecretStr

from agent.config import ModelSettings
from agent.models import OFFLINE, shared_model
from agent.models.protocol import Model
from agent.store import SecretMissing, Store, StoreError
from agent.store.signals import MISSED

log = logging.getLogger(__name__)
_PREFERENCE = "model"
CHANGED = "model_changed"
"""Kind of the signal that another process has changed the setting."""


class KeptModel(BaseModel):
    """The model that a client has chosen for the server."""

    model_config = ConfigDict(frozen=True)

    base_url: str | None
    """None: OpenAI's."""
    name: str
    api_key: str | None


class SharedModels:
    """Belongs to one event loop."""

    def __init__(self, settings: ModelSettings, store: Store) -> None:
        self._configured = settings
        self._store = store
        self._sealed: str | None = None
        self._default: Model | str | None = None
        self._replaced: list[Model] = []
        self.settings = settings
        """Those in force."""
        self._refreshing: set[asyncio.Task[None]] = set()
        store.heed(CHANGED, lambda _: self._changed_elsewhere())
        store.heed(MISSED, lambda _: self._changed_elsewhere())

    @property
    def kept(self) -> bool:
        """Whether a client has chosen the model in force."""
        return self._sealed is not None

    @property
    def default_name(self) -> str:
        return OFFLINE if self.settings.offline else self.settings.name

    async def refresh(self) -> None:
        """Read the kept setting, which another server may have changed. Raises StoreError."""
        sealed = await self._store.sealed_preference(_PREFERENCE)
        if sealed == self._sealed:
            return
        try:
            chosen = KeptModel.model_validate(json.loads(self._store.unsealed(sealed))) if sealed else None
        except SecretMissing as error:
            log.warning("The kept setting of the model is left out: %s", error)
            chosen = None
        if self._default is not None and not isinstance(self._default, str):
            self._replaced.append(self._default)  # questions may still be running on it
        self._default = None
        self._sealed = sealed
        self.settings = self.changed(chosen) if chosen else self._configured

    async def keep(self, chosen: KeptModel | None) -> None:
        """Choose a model for the server, or (None) the configured one again. Raises StoreError."""
        await self._store.set_preference(_PREFERENCE, chosen.model_dump_json() if chosen else None)
        await self.refresh()
        await self._store.signal(CHANGED)

    def _changed_elsewhere(self) -> None:
        task = asyncio.create_task(self._refresh_quietly())
        self._refreshing.add(task)
        task.add_done_callback(self._refreshing.discard)

    async def _refresh_quietly(self) -> None:
        with contextlib.suppress(StoreError):  # the next question reads it anyway
            await self.refresh()

    def changed(self, chosen: KeptModel) -> ModelSettings:
        """The settings with another endpoint, model and key. Headers and fields of the configured endpoint, which may
        hold keys, stay with it."""
        key = SecretStr(chosen.api_key) if chosen.api_key else None
        update = {"base_url": chosen.base_url, "name": chosen.name, "api_key": key}
        if not self.is_configured(chosen.base_url):
            update |= {"extra_headers": None, "extra_body": None}
        return self._configured.model_copy(update=update)

    def is_configured(self, base_url: str | None) -> bool:
        """Whether the endpoint is that of the server's environment."""
        return (base_url or "") == (self._configured.base_url or "")

    def named(self, name: str | None) -> Model | str:
        """The value to pass to the runner."""
        wanted = (name or "").strip() or self.default_name
        if wanted != self.default_name:
            return wanted
        if self._default is None:
            self._default = shared_model(self.settings)
        return self._default

    async def close(self) -> None:
        await asyncio.gather(*self._refreshing, return_exceptions=True)
        if self._default is not None and not isinstance(self._default, str):
            self._replaced.append(self._default)
        self._default = None
        while self._replaced:
            await self._replaced.pop().close()
