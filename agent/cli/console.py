"""Consoles, and text made safe for them.

In: text from rows, names and models, none of it trusted. Out: the same text with everything that could steer a
terminal shown as an escape (`\\x1b`) instead of acted on. Results go to standard output, progress to standard error.
"""

from __future__ import annotations

import re
from typing import TextIO

from rich.console import Console

from eval.errors import Text2SQLError

_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, escape among them; tab and line feed stay
    "\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"  # text direction and line separators
    "\ud800-\udfff]"  # half characters, which no terminal can be sent
)

PIPE_WIDTH = 100_000_000
"""Columns assumed where the output is no terminal: nothing is folded or cut."""


class ReaderGone(Text2SQLError):
    """The reader of the output has closed it."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise ReaderGone


def printable(text: str) -> str:
    """Escape everything that a terminal would interpret; line feeds and tabs stay."""
    return _STEERING.sub(_escaped, text)


def one_line(text: str, width: int = 160) -> str:
    """`printable` text on one line, cut at `width` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= width else line[: width - 1] + "…"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def console_on(stream: TextIO, color: bool) -> Console:
    """A console on standard output or standard error."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")  # a character that the terminal cannot encode is escaped
    console = _Console(file=stream, markup=False, highlight=False, emoji=False, color_system="auto" if color else None)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console
