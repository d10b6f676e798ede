"""A streamed answer: what was shown stays shown, and a stream that breaks off is followed by the answer in one piece.

In: messages and an `EndpointClient`. Out: the reply; its visible text is in `ShownText`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from agent.models.endpoint import EndpointClient, Ledger
from agent.models.failures import StreamCutOff
from agent.models.protocol import ModelReplyError
from agent.models.quirks import Quirks
from agent.models.visible import VisibleStream, visible_text

if TYPE_CHECKING:
    from agent.models.chat import Messages
    from agent.models.wire_format import Reply

log = logging.getLogger(__name__)

_INTERRUPTED = "\n\n*(The connection broke; the answer starts again.)*\n\n"


class ShownText:
    """The pieces of an answer that were shown; `text` is their concatenation."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self._pieces: list[str] = []

    @property
    def listened(self) -> bool:
        return self._on_text is not None

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            if self._on_text is not None:
                self._on_text(piece)

    def restart(self, text: str) -> None:
        """Show `text`, whose beginning may already have been shown."""
        shown = self.text
        if text.startswith(shown):
            self.add(text[len(shown) :])
        elif text:
            self.add(_INTERRUPTED)
            self.add(text)


class StreamedAnswer:
    """Requests one answer, as a stream where somebody listens."""

    def __init__(self, endpoint: EndpointClient) -> None:
        self._endpoint = endpoint

    async def write(self, messages: Messages, ledger: Ledger, shown: ShownText) -> Reply:
        if shown.listened:
            streamed = await self._streamed(messages, ledger, shown)
            if streamed is not None and (shown.text or streamed.refusal):
                return streamed
        for _ in range(2):
            reply, quirks = await self._endpoint.call(messages, ledger, self._endpoint.quirks(), None)
            self._endpoint.learn(quirks)
            text = visible_text(reply.text)
            if text or reply.refusal:
                break
        shown.restart(text)
        return reply

    async def _streamed(self, messages: Messages, ledger: Ledger, shown: ShownText) -> Reply | None:
        """None when the stream broke off and the answer has to be requested in one piece."""
        visible = VisibleStream(thinking=self._endpoint.quirks().thinks_first)

        async def once(quirks: Quirks) -> Reply | None:
            try:
                return await self._one_stream(messages, quirks, visible, shown)
            except Exception as error:
                failure = self._endpoint.failure(error)
                unreadable = isinstance(error, StreamCutOff) or failure.error is ModelReplyError
                if unreadable or (shown.text and failure.retry):
                    log.info("stream cut off, asking again in one piece")
                    return None
                raise

        reply, quirks = await self._endpoint.retried(
            once, ledger, self._endpoint.quirks(), structured=False, streamed=True
        )
        shown.add(visible.end())
        if reply is None:
            ledger.add(_reply_type()(""))
            return None
        self._endpoint.learn(quirks)
        return self._endpoint.received(reply, messages, ledger)

    async def _one_stream(self, messages: Messages, quirks: Quirks, visible: VisibleStream, shown: ShownText) -> Reply:
        """Show the pieces of one stream; returns its remaining data once it has ended."""
        finish: str | None = None
        refusal = ""
        tokens = None
        async with aclosing((await self._endpoint.client()).stream(messages, quirks)) as pieces:
            async for piece in pieces:
                shown.add(visible.feed(piece.text))
                finish = piece.finish_reason or finish
                refusal += piece.refusal
                tokens = piece.tokens or tokens
        return _reply_type()("", refusal=refusal, finish_reason=finish, tokens=tokens)


def _reply_type() -> type[Reply]:
    from agent.models.wire_format import Reply

    return Reply
