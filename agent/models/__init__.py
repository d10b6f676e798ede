"""Access to language models; no other package calls one.

`make_model` gives the model for one database; `shared_model` gives the model that all runs of a process can share.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.config import ModelSettings
    from agent.knowledge.semantics.model import SemanticModel
    from agent.models.protocol import Endpoint, Meter, Model
    from eval.databases.base import Database

__all__ = ["OFFLINE", "make_model"]

log = logging.getLogger(__name__)

OFFLINE = "offline"
"""The name that selects the built-in parser, whatever is configured."""


def make_model(
    settings: ModelSettings, database: Database, name: str | None = None, semantics: SemanticModel | None = None
) -> Model:
    """The model that answers questions to `database`: the built-in parser when `name` is `offline` or, without a name,
    when no endpoint is configured and no model fetched; else `name` (default: the configured model) at the
    OpenAI-compatible endpoint, or the fetched one at a server of its own, which starts with the first call.

    `semantics` steers the parser. Opens no connection and imports only the model that is needed.
    """
    model = shared_model(settings, name)
    if isinstance(model, str):
        from agent.parser import OfflineModel

        return OfflineModel(database, semantics)
    return model


def shared_model(settings: ModelSettings, name: str | None = None, meter: Meter | None = None) -> Model | str:
    """The model that `make_model` would choose, for runs on any database. For the built-in parser it returns `offline`,
    because a parser belongs to one database and is made for each run. `meter` counts its requests. An endpoint without
    a configured model is asked for its first one, once, which blocks for a moment."""
    chosen = (name or "").strip()
    local = (settings.model_copy(update={"name": chosen}) if chosen else settings).local
    if chosen.lower() == OFFLINE or (not chosen and settings.offline):
        return OFFLINE
    from agent.models.discovery import named
    from agent.models.openai import OpenAIModel

    if not chosen:
        settings, note = named(settings)
        if note:
            log.info("%s", note)
    endpoint = endpoint_of(settings, chosen or settings.name)
    if local is not None and chosen in ("", local.stem):
        from agent.models.local.serving import served

        start = partial(served, local, settings.server_program)
        endpoint = replace(endpoint, model=local.stem, served=start, price_input=0.0, price_output=0.0)
    return OpenAIModel(endpoint, meter=meter)


def endpoint_of(settings: ModelSettings, name: str) -> Endpoint:
    from agent.models.protocol import Endpoint

    key = settings.api_key
    return Endpoint(
        model=name,
        api_key=key.get_secret_value() if key else None,
        base_url=settings.base_url,
        seconds=settings.seconds,
        structured_output=settings.structured_output,
        price_input=settings.price_input,
        price_output=settings.price_output,
        prompt_log=settings.prompt_log,
        reasoning_effort=settings.reasoning_effort,
        temperature=settings.temperature,
        extra_body=settings.extra_body or {},
        extra_headers={header: value.get_secret_value() for header, value in (settings.extra_headers or {}).items()},
        requests_per_minute=settings.requests_per_minute,
    )


@asynccontextmanager
async def closing(*models: Model | str) -> AsyncIterator[None]:
    try:
        yield
    finally:
        for model in {id(one): one for one in models if not isinstance(one, str)}.values():
            await model.close()
