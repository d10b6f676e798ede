"""Hook for tracing model calls, used by a tracer if one is configured.

In: `trace_calls` with a maker of spans. Out: `call_span`, which brackets each request to an endpoint and by default
does nothing. It receives the kind of call, the model's name, the address and the tokens, never the content.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

_PROVIDERS = {
    "openai.azure.com": "azure.ai.openai",
    "generativelanguage.googleapis.com": "gcp.gemini",
    "groq.com": "groq",
    "deepseek.com": "deepseek",
    "mistral.ai": "mistral_ai",
    "x.ai": "x_ai",
    "perplexity.ai": "perplexity",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One request to an endpoint."""

    kind: str
    """Which call of the protocol: `plan`, `write_sql`, …"""
    model: str
    base_url: str

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    @property
    def port(self) -> int | None:
        return urlsplit(self.base_url).port

    @property
    def provider(self) -> str:
        """The provider's name in OpenTelemetry; any other compatible server counts as `openai`, whose API it uses."""
        return next((name for host, name in _PROVIDERS.items() if self.host.endswith(host)), "openai")


class Reported(Protocol):
    """Receives the known facts about the reply."""

    def __call__(self, **attributes: str | int | None) -> None: ...


Spans = Callable[[Call], AbstractContextManager[Reported]]

_spans: list[Spans] = []


def trace_calls(spans: Spans | None) -> None:
    """From now on, `spans(call)` brackets every request; None turns this off."""
    _spans[:] = [spans] if spans is not None else []


def call_span(call: Call) -> AbstractContextManager[Reported]:
    return _spans[0](call) if _spans else nullcontext(lambda **_: None)
