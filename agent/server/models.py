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

from pydantic import BaseModel, SecretStr

from agent.config import ModelSettings, Settings
from agent.models import OFFLINE, shared_model
from agent.models.discovery import named
from agent.models.protocol import Model
from agent.store import SecretMissing, Store, StoreError
from agent.store.signals import MISSED

log = logging.getLogger(__name__)
_PREFERENCE = "model"
CHANGED = "model_changed"
"""Kind of the signal that another process has changed the setting."""


class KeptModel(BaseModel, frozen=True):
    """The model that a client has chosen for the server."""

    base_url: str | None
    """None: OpenAI's."""
    name: str
    api_key: str | None
    strategy: str | None = None
    """How questions are worked on with it; None: as configured."""


class SharedModels:
    """Belongs to one event loop."""

    def __init__(self, settings: ModelSettings, store: Store) -> None:
        self._configured = settings
        self._store = store
        self._sealed: str | None = None
        self._default: Model | None = None
        self._replaced: list[Model] = []
        self.settings = settings
        """Those in force."""
        self.strategy: str | None = None
        """What was chosen with the model; None: as configured."""
        self._refreshing: set[asyncio.Task[None]] = set()
        store.heed(CHANGED, lambda _: self.refresh_soon())
        store.heed(MISSED, lambda _: self.refresh_soon())

    @property
    def kept(self) -> bool:
        """Whether a client has chosen the model in force."""
        return self._sealed is not None

    @property
    def default_name(self) -> str:
        """Empty where only an endpoint is configured and it has not yet said which models it has."""
        return self.settings.answering

    async def refresh(self) -> None:
        """Read the kept setting, which another server may have changed, and name the model where that is left to the
        endpoint. Raises StoreError."""
        sealed = await self._store.sealed_preference(_PREFERENCE)
        if sealed != self._sealed:
            try:
                chosen = KeptModel.model_validate(json.loads(self._store.unsealed(sealed))) if sealed else None
            except SecretMissing as error:
                log.warning("The kept setting of the model is left out: %s", error)
                chosen = None
            self._replace()
            self._sealed = sealed
            self.strategy = chosen.strategy if chosen else None
            self.settings = self.changed(chosen) if chosen else self._configured
        if not (self.settings.offline or self.settings.has_model):
            found, note = await asyncio.to_thread(named, self.settings)
            if found.name:
                log.info("%s", note)
                self.settings = found

    def _replace(self) -> None:
        if self._default is not None:
            self._replaced.append(self._default)  # questions may still be running on it
        self._default = None

    async def keep(self, chosen: KeptModel | None) -> None:
        """Choose a model for the server, or (None) the configured one again. Raises StoreError."""
        await self._store.set_preference(_PREFERENCE, chosen.model_dump_json() if chosen else None)
        await self.refresh()
        await self._store.signal(CHANGED)

    def refresh_soon(self) -> None:
        """Read the kept setting beside what is going on."""
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

    def in_force(self, settings: Settings) -> Settings:
        """The server's settings with the model, and the strategy that was chosen with it."""
        chosen = {"strategy": self.strategy} if self.strategy else {}
        return settings.changed(judging=chosen).model_copy(update={"model": self.settings})

    def is_configured(self, base_url: str | None) -> bool:
        """Whether the endpoint is that of the server's environment."""
        return (base_url or "") == (self._configured.base_url or "")

    def named(self, name: str | None) -> Model | str:
        """The value to pass to the runner."""
        wanted = (name or "").strip() or self.default_name
        if wanted != self.default_name:
            return wanted
        if wanted == OFFLINE:
            return OFFLINE
        if not wanted:
            return shared_model(self.settings.model_copy(update={"name": ""}))
        if self._default is None or self._default.name != wanted:  # another one was fetched
            self._replace()
            made = shared_model(self.settings)
            if isinstance(made, str):
                return made
            self._default = made
        return self._default

    async def close(self) -> None:
        await asyncio.gather(*self._refreshing, return_exceptions=True)
        self._replace()
        while self._replaced:
            await self._replaced.pop().close()
