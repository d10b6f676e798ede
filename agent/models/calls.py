"""What others hear of a call to a model: a tracer, LangChain, the run that waits for it, the budget that pays for it,
the prompt log, a recording.

In: a maker of spans (`trace_calls`); a listener of what is written; the requests of an HTTP client. Out: `call_span`,
which brackets each request to an endpoint, by default with nothing, and receives the kind of call, the model's name,
the address and the tokens, never the content; a call of the listener for each piece of a reply; and a `Delivery`, which
says whether a request left this machine: one that did not costs nothing, and its budget gets it back.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx2

    from agent.config import PrivacySettings

log = logging.getLogger(__name__)

current_run: ContextVar[str] = ContextVar("current_run", default="")
"""The run that the calls of this task belong to."""
MAX_BYTES = 20_000_000
"""Of a prompt log."""
DIRECT: Mapping[str, None] = dict.fromkeys(
    f"all://{host}" for host in ("localhost", "*.localhost", "127.0.0.1", "[::1]", "host.docker.internal")
)
"""Addresses of this machine, which are asked without the proxy of the environment (`HTTP_PROXY`): it knows none."""
_TRACING = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2")
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
    def __call__(self, **attributes: str | int | None) -> None: ...


Spans = Callable[[Call], AbstractContextManager[Reported]]

_spans: list[Spans] = []


def trace_calls(spans: Spans | None) -> None:
    """From now on, `spans(call)` brackets every request; None turns this off."""
    _spans[:] = [spans] if spans is not None else []


def call_span(call: Call) -> AbstractContextManager[Reported]:
    return _spans[0](call) if _spans else nullcontext(lambda **_: None)


_listener: ContextVar[Callable[[], None] | None] = ContextVar("progress", default=None)
"""Of this task and those that it starts: a model is shared by many runs."""


@contextmanager
def told_to(listener: Callable[[], None]) -> Iterator[None]:
    """Tell the listener of what is written for this task within the block."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def written() -> None:
    """A piece of a reply has come: a token with all servers but a few."""
    if (listener := _listener.get()) is not None:
        listener()


@dataclass(slots=True)
class Delivery:
    sent: bool = False
    """Set just before the request's body is written to the connection."""


_current: ContextVar[Delivery | None] = ContextVar("delivery", default=None)


def begin_delivery() -> Delivery:
    """Watch the next request of the current task."""
    delivery = Delivery()
    _current.set(delivery)
    return delivery


async def watched(request: httpx2.Request) -> None:
    """The client's hook on each request: notice when its body begins to be written."""
    if (delivery := _current.get()) is not None:

        async def heard(event: str, _: dict[str, object]) -> None:
            delivery.sent = delivery.sent or event.endswith("send_request_body.started")

        request.extensions = {**request.extensions, "trace": heard}


def steps_are_heard(privacy: PrivacySettings) -> bool:
    """Whether LangSmith, or the handlers of a LangChain run around this one, hear of a run's inner steps."""
    around = sys.modules.get("langchain_core.runnables.config")
    config = around.var_child_runnable_config.get() if around is not None else None
    traced = privacy.mode == "full" and any(os.environ.get(name) == "true" for name in _TRACING)
    return traced or bool(config and config.get("callbacks"))


@contextmanager
def within_privacy(privacy: PrivacySettings) -> Iterator[None]:
    """Bracket the code that LangChain may trace. A trace holds prompts and rows, so in the modes `masked` and `schema`
    LangSmith is off whatever its variables say. Imports langsmith, which LangGraph has already imported."""
    if privacy.mode == "full":
        yield
        return
    from langsmith.run_helpers import tracing_context

    with tracing_context(enabled=False):
        yield


@dataclass(frozen=True, slots=True)
class PromptLog:
    """Every request to a model verbatim, one JSON line each, in a file that only its owner can read. At 20 MB the file
    is renamed to `….1`, replacing the previous one, so at most 40 MB are kept."""

    path: Path
    max_bytes: int = MAX_BYTES

    def write(
        self,
        call: str,
        model: str,
        messages: Sequence[tuple[str, str]],
        *,
        started: float,
        tokens: tuple[int, int] | None = None,
        error: str | None = None,
    ) -> None:
        """Append a line. `started` is a `time.monotonic()` value; `tokens` (in, out), None where not reported. A file
        that cannot be written is logged, and the call continues."""
        entry: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(),
            "run": current_run.get(),
            "call": call,
            "model": model,
            "messages": [{"role": role, "content": text} for role, text in messages],
            "tokens": {"input": tokens[0], "output": tokens[1]} if tokens else None,
            "seconds": round(time.monotonic() - started, 3),
            "error": error,
        }
        try:
            line = (json.dumps(entry, ensure_ascii=False) + "\n").encode("utf-8", "replace")
            with suppress(FileNotFoundError):
                if self.path.stat().st_size + len(line) > self.max_bytes:
                    self.path.replace(self.path.with_name(self.path.name + ".1"))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            file = os.open(self.path, flags, 0o600)
            try:
                os.fchmod(file, 0o600)
                os.write(file, line)
            finally:
                os.close(file)
        except OSError as failure:
            log.error("The log of prompts could not be written: %s", failure.strerror)


WRITING = ("write_sql", "review", "step", "plan")


@dataclass(slots=True)
class Replies:
    """The text of the last reply of each kind of call."""

    texts: dict[str, str] = field(default_factory=dict)
    first_word_seconds: float | None = None
    """Of the first call."""

    @property
    def raw(self) -> str:
        """The last reply that wrote SQL; empty without one."""
        return next((self.texts[call] for call in WRITING if call in self.texts), "")

    def keep(self, kind: str, text: str, first_word: float | None) -> None:
        self.texts[kind] = text
        if self.first_word_seconds is None:
            self.first_word_seconds = first_word


replies_kept: ContextVar[Replies | None] = ContextVar("replies", default=None)
"""Where a `recording` of this task keeps them."""


@contextmanager
def recording() -> Iterator[Replies]:
    """Keep the replies to this task and those that it starts."""
    replies = Replies()
    token = replies_kept.set(replies)
    try:
        yield replies
    finally:
        replies_kept.reset(token)
