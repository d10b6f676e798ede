"""Make untrusted text harmless for Markdown.

In: any text. Out: text that shows its original content and has no effect: no markup, no control character, no mark that
changes the writing direction.
"""

from __future__ import annotations

import html
import re

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]|~$])")
_BEGINNING = re.compile(r"^(\d*)([#+.)-])")
"""Markers of a heading or of a list item, also inside another item."""


def visible(text: object) -> str:
    """Show control characters as their escapes."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", str(text))


def md(text: object, longest: int = 300) -> str:
    """Escape for one cell or one line of Markdown."""
    flat = " ".join(visible(text).split())
    short = flat if len(flat) <= longest else flat[: longest - 1] + "…"
    return html.escape(_BEGINNING.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", short)), quote=False)
