"""Tries an endpoint: does it answer, how fast, which models does it have, does it keep to a form or copy an example.

In: settings of a model. Out: a `Trial`. Nothing of a database is sent; the prompts are fixed sentences, and a reply is
no longer listened to after PIECES pieces. An error of the endpoint is the trial's result and is not raised.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agent.models import endpoint_of
from agent.models.discovery import address_and_key, context_tokens, server_at, shown
from agent.models.endpoint import OPENAI_URL, EndpointClient, Ledger
from agent.models.failures import RetryPolicy
from agent.models.protocol import ModelError
from agent.models.quirks import Messages, Quirks
from agent.models.replies import Reply, UnusableReply, extract_json
from agent.models.structured import CITY_SCHEMA

if TYPE_CHECKING:
    from agent.config import ModelSettings

SECONDS = 30.0
"""Of one call."""
PIECES = 64
_COUNT = "Write the whole numbers from 1 to 30, separated by spaces, and nothing else."
_EXAMPLE = "the name of a city"
_FORM = f'Reply with one JSON object such as {{"city": "{_EXAMPLE}"}} and nothing else.'
_RETRY = RetryPolicy(first_wait=0.1, attempts=2, limited_attempts=1, connect_attempts=1)
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


@dataclass(slots=True)
class _Pace:
    """When the pieces of a reply came."""

    began: float = field(default_factory=time.monotonic)
    times: list[float] = field(default_factory=list)

    def hear(self, piece: Reply) -> str:
        """Says when enough has come."""
        if piece.text or piece.thoughts:
            self.times.append(time.monotonic())
        return "enough" if len(self.times) >= PIECES else ""

    @property
    def first(self) -> float | None:
        """Seconds to the first piece; None where the reply came whole."""
        return round(self.times[0] - self.began, 3) if len(self.times) > 1 else None

    @property
    def per_second(self) -> float | None:
        spent = self.times[-1] - self.times[0] if self.times else 0.0
        return round((len(self.times) - 1) / spent, 1) if spent > 0 else None


async def tried(settings: ModelSettings) -> Trial:
    """Ask the endpoint for its models, and the model for some numbers and for a city in JSON."""
    await asyncio.to_thread(import_module, "agent.models.connections")  # a second of imports, off the event loop
    from agent.models.connections import http_client

    started = time.monotonic()
    base_url, key = address_and_key(settings)
    headers = {name: value.get_secret_value() for name, value in (settings.extra_headers or {}).items()}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    async with http_client(SECONDS) as http:
        server = await server_at(http, base_url or OPENAI_URL, headers)
        models = server.models if server else ()
        name = settings.name if settings.has_model else next(iter(models), "")
        trial = Trial(False, "", 0.0, models, name, server.kind if server else "")
        if not name:
            trial = replace(trial, message="It lists no models, so the name of one has to be given.")
        else:
            endpoint = replace(endpoint_of(settings, name), seconds=SECONDS, structured_output="auto")
            client = EndpointClient(endpoint, _RETRY, None)
            try:
                trial = await _asked(client, trial)
                trial = replace(trial, context_tokens=await context_tokens(http, server, name, headers))
            except ModelError as error:
                trial = replace(trial, message=shown(str(error)))
            finally:
                await client.close()
    return replace(trial, seconds=round(time.monotonic() - started, 2))


async def _asked(client: EndpointClient, trial: Trial) -> Trial:
    """With what the model makes of two prompts. Raises ModelError."""
    pace = _Pace()
    counted, quirks = await _heard(client, client.quirks(), [("user", _COUNT)], None, pace)
    if not counted:
        return replace(trial, message="The model answered with nothing.")
    asked, pace_of_form = [("system", _FORM), ("user", _WHERE)], _Pace()
    text, quirks = await _heard(client, quirks, asked, CITY_SCHEMA, pace_of_form)
    try:
        city = extract_json(text, keys=("city",)).get("city")
    except UnusableReply:
        city = None
    return replace(
        trial,
        ok=True,
        message=shown(counted),
        first_token_seconds=pace.first,
        tokens_per_second=pace.per_second,
        structured=isinstance(city, str) and quirks.structure == "json_schema",
        copies_example=_EXAMPLE in text,
    )


async def _heard(
    client: EndpointClient, quirks: Quirks, messages: Messages, schema: dict[str, Any] | None, pace: _Pace
) -> tuple[str, Quirks]:
    """The beginning of a reply, its thinking where it has nothing else, and what the endpoint took it with."""
    ledger = Ledger(SECONDS)
    async with client.within(ledger):
        reply, quirks = await client.call(messages, ledger, quirks, schema, pace.hear)
    return (reply.text or reply.thoughts).strip(), quirks
