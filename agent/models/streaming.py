"""A streamed answer: what was shown stays shown, and a stream that breaks off is followed by the answer in one piece.

In: messages and an `EndpointClient`. Out: the reply; its visible text is in `ShownText`.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.models.endpoint import EndpointClient, Ledger
from agent.models.quirks import Messages
from agent.models.visible import VisibleStream, visible_text
from agent.models.wire_format import Reply

_INTERRUPTED = "\n\n*(The connection broke; the answer starts again.)*\n\n"


class ShownText:
    """The pieces of an answer that were shown; `text` is their concatenation."""

    def __init__(self, on_text: Callable[[str], None] | None, flaw: Callable[[str], str]) -> None:
        """`flaw` tells why a text is no answer; nothing more is shown from there on."""
        self.on_text = on_text
        self._flaw = flaw
        self._pieces: list[str] = []
        self.flawed = ""

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> str:
        """Show the piece, or say why it is not shown."""
        if piece and not self.flawed:
            self.flawed = self._flaw(self.text + piece)
        if piece and not self.flawed:
            self._pieces.append(piece)
            if self.on_text is not None:
                self.on_text(piece)
        return self.flawed

    def restart(self, text: str) -> None:
        """Show `text`, whose beginning may already have been shown."""
        shown = self.text
        if text.startswith(shown):
            self.add(text[len(shown) :])
        elif text:
            self.add(_INTERRUPTED)
            self.add(text)


async def write_answer(endpoint: EndpointClient, messages: Messages, ledger: Ledger, shown: ShownText) -> Reply:
    """One answer, shown piece by piece where somebody listens. One without anything to show is requested once more."""
    visible = VisibleStream(thinking=endpoint.quirks().thinks_first)
    raw: list[str] = []

    def on_piece(piece: Reply) -> str:
        raw.append(piece.text)
        return shown.add(visible.feed(piece.text))

    for listened in (shown.on_text is not None, False):
        heard = on_piece if listened else None
        reply, quirks = await endpoint.call(messages, ledger, endpoint.quirks(), None, heard)
        endpoint.learn(quirks)
        if reply.stopped:
            shown.flawed = reply.stopped
        elif listened and "".join(raw) == reply.text:
            shown.add(visible.end())
        else:
            shown.restart(visible_text(reply.text))
        if shown.text or shown.flawed or reply.refusal:
            break
    return reply
