"""The part of a model's text that is meant for people: `visible_text` for a whole reply, `VisibleStream` for a stream.

In: a raw reply. Out: the reply without think blocks and without the channels and tokens of the harmony format. The time
is linear in the length of the text.
"""

from __future__ import annotations

import re

MAX_CHARS = 400_000
"""Maximum characters read; of a longer reply only the beginning is read."""

_THINK = r"think|thinking|thought|thoughts|reasoning|analysis|scratchpad"
THINK_TAG = re.compile(rf"<(/?)(?:{_THINK})>|\[(/?)THINK\]", re.IGNORECASE)
_FINAL = re.compile(r"<\|channel\|>\s{0,4}final(?:\s{0,4}<\|constrain\|>\s{0,4}\w{0,16})?\s{0,4}<\|message\|>")
_MESSAGE = "<|message|>"
_BEGUN_TAG = re.compile(r"<[^<>\]\n]{0,34}\Z")
_BEGUN_MARK = re.compile(r"\[[^\[>\]\n]{0,34}\Z")
TOKEN = re.compile(r"<\|[a-zA-Z0-9_]{1,32}\|>")
_BARE_HARMONY = re.compile(r"\s{0,20}analysis")
EDGES = "\ufeff\u200b\u2060 \t\r\n\f\v\xa0"


def visible_text(text: str) -> str:
    """The reply without its thinking: think blocks (paired, unclosed, or closed only) and the channels of the harmony
    format. Empty when the reply is only thinking."""
    text = _final_channel(text[:MAX_CHARS])
    kept: list[str] = []
    depth = 0
    at = 0
    for tag in THINK_TAG.finditer(text):
        if tag.group(1) or tag.group(2):
            if depth == 0:
                kept.clear()
            depth = max(0, depth - 1)
        else:
            if depth == 0:
                kept.append(text[at : tag.start()])
            depth += 1
        at = tag.end()
    if depth == 0:
        kept.append(text[at:])
    return "".join(kept).strip(EDGES)


def begins_thinking(text: str) -> bool:
    """Whether the first think tag closes a block that the text never opened."""
    first = THINK_TAG.search(text[:MAX_CHARS])
    return first is not None and bool(first.group(1) or first.group(2))


def thinks(text: str) -> bool:
    """Whether the text holds thinking, in think tags or in a channel of the harmony format."""
    return THINK_TAG.search(text[:MAX_CHARS]) is not None or "<|channel|>analysis" in text[:MAX_CHARS]


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    last = None
    for last in pattern.finditer(text):  # noqa: B007
        pass
    return last


def _final_channel(text: str) -> str:
    if (last := last_match(_FINAL, text)) is not None:
        text = text[last.end() :]
        end = text.find("<|")
        return text if end < 0 else text[:end]
    if "<|channel|>" in text and _MESSAGE in text:
        text = text.rpartition(_MESSAGE)[2]
    elif _BARE_HARMONY.match(text) and "assistantfinal" in text:
        text = text.rpartition("assistantfinal")[2]
    return TOKEN.sub("", text)


class VisibleStream:
    """`visible_text` for a text that comes in pieces: `feed` returns what may be shown now, with
    `final` the rest.

    A possibly incomplete marker is held back. When a block is closed that was never opened, the text already shown
    cannot be withdrawn; only the marker is dropped.
    """

    _HOLD = 80
    """Longer than any marker."""
    _OPEN = re.compile(rf"<(?:{_THINK})>|\[THINK\]|<\|channel\|>", re.IGNORECASE)
    _CLOSE = re.compile(rf"</(?:{_THINK})>|\[/THINK\]|{_FINAL.pattern}", re.IGNORECASE)
    _NOISE = re.compile(rf"</(?:{_THINK})>|\[/THINK\]|<\|[a-zA-Z0-9_]{{1,32}}\|>", re.IGNORECASE)

    def __init__(self, *, thinking: bool = False) -> None:
        """`thinking`: the text begins inside a block that the server's template opened."""
        self._buffer = ""
        self._hidden = thinking
        self._started = False

    def feed(self, piece: str, *, final: bool = False) -> str:
        self._buffer += piece
        shown: list[str] = []
        while True:
            if self._hidden:
                close = self._CLOSE.search(self._buffer)
                if close is None:
                    self._buffer = "" if final else self._buffer[-self._HOLD * 2 :]
                    break
                self._buffer = self._buffer[close.end() :]
                self._hidden = False
                continue
            final_channel = _FINAL.search(self._buffer)
            opening = self._OPEN.search(self._buffer)
            if final_channel and opening and opening.start() >= final_channel.start():
                shown.append(self._NOISE.sub("", self._buffer[: final_channel.start()]))
                self._buffer = self._buffer[final_channel.end() :]
            elif opening:
                shown.append(self._NOISE.sub("", self._buffer[: opening.start()]))
                self._buffer = self._buffer[opening.start() :]
                if self._buffer.startswith("<|channel|>") and not final and len(self._buffer) < self._HOLD:
                    break
                self._buffer = self._buffer[opening.end() - opening.start() :]
                self._hidden = True
            else:
                self._buffer = self._NOISE.sub("", self._buffer)
                end = "" if final else self._buffer[-self._HOLD :]
                begun = _BEGUN_TAG.search(end) or _BEGUN_MARK.search(end)  # may be the beginning of a marker
                cut = len(self._buffer) - (len(begun.group()) if begun else 0)
                shown.append(self._buffer[:cut])
                self._buffer = self._buffer[cut:]
                break
        text = "".join(shown)
        if not self._started:
            text = text.lstrip(EDGES)
            self._started = bool(text)
        return text
