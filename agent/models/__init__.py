"""The only place that talks to a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.config import Settings
    from agent.models.protocol import Model

OFFLINE = "offline"
"""The name that asks for the built-in engine whatever is configured."""


def make_model(settings: Settings, name: str | None = None) -> Model:
    """The model that answers: the built-in engine when `name` is `offline` or, without a name, when no endpoint is
    configured; else `name` (default: the configured model) at the OpenAI-compatible endpoint.

    Connects to nothing and imports only the one that is needed.
    """
    chosen = (name or "").strip()
    if chosen.lower() == OFFLINE or (not chosen and settings.offline):
        from agent.models.offline import OfflineModel

        return OfflineModel()
    from agent.models.openai import OpenAIModel
    from agent.models.protocol import ModelSettings

    key = settings.openai_api_key
    return OpenAIModel(
        ModelSettings(
            model=chosen or settings.model,
            api_key=key.get_secret_value() if key else None,
            base_url=settings.openai_base_url,
            seconds=settings.model_seconds,
            structured_output=settings.structured_output,
            price_input=settings.price_input,
            price_output=settings.price_output,
            prompt_log=settings.prompt_log,
        )
    )
