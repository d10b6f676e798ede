"""Tries an endpoint: does it answer, how fast, which models does it have, does it keep to a form or copy an example.

In: settings of a model. Out: a `Trial`. Nothing of a database is sent; the prompts are fixed sentences, and a reply is
no longer listened to after PIECES pieces. An error of the endpoint is the trial's result and is not raised.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from agent.models.discovery import address_and_key, context_tokens, server_at, shown
from agent.models.endpoint import OPENAI_URL
from agent.models.failures import failure_of
from agent.models.protocol import ModelError
from agent.models.quirks import learned
from agent.models.replies import UnusableReply, extract_json
from agent.models.structured import CITY_SCHEMA, response_format

if TYPE_CHECKING:
    import openai

    from agent.config import ModelSettings

SECONDS = 30.0
"""Of one call."""
PIECES = 64
_COUNT = "Write the whole numbers from 1 to 30, separated by spaces, and nothing else."
_EXAMPLE = "the name of a city"
_FORM = f'Reply with one JSON object such as {{"city": "{_EXAMPLE}"}} and nothing else.'
_WHERE = "Ada moved from Porto to Lyon. In which city does she live now?"


@dataclass(frozen=True, slots=True)
class Trial:
    ok: bool
    message: str
    """What the model said, or why it did not answer; holds no key."""
    seconds: float
    models: tuple[str, ...]
    """The models that the endpoint lists; empty where it lists none."""
    name: str = ""
    """The model that was tried: the one asked for, else the first listed."""
    server: str = ""
    """The kind of server, as it says itself."""
    context_tokens: int | None = None
    """Tokens that the model reads at once; None where the server does not say."""
    first_token_seconds: float | None = None
    tokens_per_second: float | None = None
    """Pieces of a stream a second after the first, which are tokens with all servers but a few."""
    structured: bool | None = None
    """Whether a reply for which a JSON schema was set keeps to it."""
    copies_example: bool | None = None
    """Whether it replied with the example of the prompt in place of an answer."""


@dataclass(frozen=True, slots=True)
class _Heard:
    text: str
    first: float | None
    """Seconds to the first piece."""
    pace: float | None
    """Pieces a second behind the first."""


async def tried(settings: ModelSettings) -> Trial:
    """Ask the endpoint for its models, and the model for some numbers and for a city in JSON."""
    await asyncio.to_thread(import_module, "agent.models.connections")  # a second of imports, off the event loop
    import openai

    from agent.models.connections import http_client

    base_url, key = address_and_key(settings)
    base_url = base_url or OPENAI_URL
    address = urlsplit(base_url)
    started = time.monotonic()

    def spent() -> float:
        return round(time.monotonic() - started, 2)

    headers = {name: value.get_secret_value() for name, value in (settings.extra_headers or {}).items()}
    http = http_client(SECONDS)
    async with openai.AsyncOpenAI(
        base_url=urlunsplit(address._replace(query="")),
        default_query=dict(parse_qsl(address.query)),
        api_key=key or "not-needed",
        max_retries=0,
        timeout=SECONDS,
        default_headers=headers,
        http_client=http,
    ) as client:
        authorized = {**headers, **({"Authorization": f"Bearer {key}"} if key else {})}
        server = await server_at(http, base_url, authorized)
        models = server.models if server else ()
        name = settings.name if settings.has_model else next(iter(models), "")
        known = Trial(False, "", 0.0, models, name, server.kind if server else "")
        if not name:
            message = "It lists no models, so the name of one has to be given."
            return replace(known, message=message, seconds=spent())
        try:
            sampling = {"temperature": 0.0} if learned(base_url, name).temperature else {}
            heard = await _heard(client, name, [{"role": "user", "content": _COUNT}], **sampling)
            structured, copies = await _kept_to_form(client, name, sampling) if heard.text else (None, None)
        except (openai.OpenAIError, ModelError, TimeoutError, ValueError, TypeError, AttributeError) as error:
            reason = str(error)
            if isinstance(error, TimeoutError):
                reason = f"The model did not answer within {SECONDS:g} seconds."
            elif not isinstance(error, ModelError):
                reason = failure_of(error, base_url=base_url, api_key=key or None).message
            return replace(known, message=shown(reason), seconds=spent())
        context = await context_tokens(http, server, name, authorized)
    return replace(
        known,
        ok=bool(heard.text),
        message=shown(heard.text) or "The model answered with nothing.",
        seconds=spent(),
        context_tokens=context,
        first_token_seconds=heard.first,
        tokens_per_second=heard.pace,
        structured=structured,
        copies_example=copies,
    )


async def _kept_to_form(client: openai.AsyncOpenAI, name: str, sampling: dict[str, float]) -> tuple[bool, bool]:
    """Whether the schema was kept to, and whether the prompt's example came back."""
    import openai

    messages = [{"role": "system", "content": _FORM}, {"role": "user", "content": _WHERE}]
    form = response_format(CITY_SCHEMA)
    try:
        text = (await _heard(client, name, messages, response_format=form, **sampling)).text
    except openai.APIStatusError:  # the agent then asks in the prompt alone
        return False, _EXAMPLE in (await _heard(client, name, messages, **sampling)).text
    try:
        city = extract_json(text, keys=("city",)).get("city")
    except UnusableReply:
        city = None
    return isinstance(city, str), _EXAMPLE in text


async def _heard(client: openai.AsyncOpenAI, name: str, messages: list[Any], **fields: Any) -> _Heard:
    """The beginning of a reply. A server that does not stream is asked once more for the whole."""
    began = time.monotonic()
    times: list[float] = []
    text = ""
    async with asyncio.timeout(SECONDS):
        stream = await client.chat.completions.create(model=name, messages=messages, stream=True, **fields)
        async with stream:
            async for chunk in stream:
                delta = chunk.choices[0].delta if chunk.choices else None
                piece = (delta.content or getattr(delta, "reasoning_content", None) or "") if delta else ""
                if piece:
                    times.append(time.monotonic())
                    text += piece
                if len(times) == PIECES:
                    break
        if not times:
            whole = await client.chat.completions.create(model=name, messages=messages, **fields)
            return _Heard((whole.choices[0].message.content or "").strip() if whole.choices else "", None, None)
    spent = times[-1] - times[0]
    pace = round((len(times) - 1) / spent, 1) if len(times) > 1 and spent > 0 else None
    return _Heard(text.strip(), round(times[0] - began, 3), pace)
