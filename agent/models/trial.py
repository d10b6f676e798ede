"""Tries an endpoint: does it answer, and which models does it have.

In: settings of a model. Out: a `Trial`. Nothing of a database is sent; the prompt is one fixed sentence. An error of
the endpoint is the trial's result and is not raised.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from agent.config import ModelSettings
from agent.models.endpoint import OPENAI_URL
from agent.models.failures import failure_of
from agent.models.protocol import ModelError

SECONDS = 30.0
MOST_MODELS = 500
MOST_TEXT = 400
_PROMPT = "Answer with the one word: ready"


@dataclass(frozen=True, slots=True)
class Trial:
    ok: bool
    message: str
    """What the model said, or why it did not answer; holds no key."""
    seconds: float
    models: tuple[str, ...]
    """The models that the endpoint lists, by name; empty where it lists none."""


async def tried(settings: ModelSettings) -> Trial:
    """Ask the endpoint for its models, and the model for one word."""
    import openai

    from agent.models.connections import http_client

    base_url = (settings.base_url or "").strip().rstrip("/") or OPENAI_URL
    key = settings.api_key.get_secret_value().strip() if settings.api_key else ""
    address = urlsplit(base_url)
    started = time.monotonic()
    async with openai.AsyncOpenAI(
        base_url=urlunsplit(address._replace(query="")),
        default_query=dict(parse_qsl(address.query)),
        api_key=key or "not-needed",
        max_retries=0,
        timeout=SECONDS,
        default_headers={name: value.get_secret_value() for name, value in (settings.extra_headers or {}).items()},
        http_client=http_client(SECONDS),
    ) as client:
        try:
            models = sorted(_shown(model.id) for model in (await client.models.list()).data)[:MOST_MODELS]
        except (openai.OpenAIError, ModelError, ValueError, TypeError, AttributeError):
            models = []  # many servers have no list
        try:
            reply = await client.chat.completions.create(
                model=settings.name, messages=[{"role": "user", "content": _PROMPT}]
            )
            text = (reply.choices[0].message.content or "").strip() if reply.choices else ""
        except ModelError as error:
            return Trial(False, str(error), round(time.monotonic() - started, 2), tuple(models))
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            reason = failure_of(error, base_url=base_url, api_key=key or None).message
            return Trial(False, _shown(reason), round(time.monotonic() - started, 2), tuple(models))
    seconds = round(time.monotonic() - started, 2)
    return Trial(bool(text), _shown(text) or "The model answered with nothing.", seconds, tuple(models))


def _shown(text: str) -> str:
    """What an endpoint says, in one short line without control characters."""
    return "".join(c if c.isprintable() else " " for c in text[:MOST_TEXT])
