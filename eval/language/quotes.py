"""Quoted texts: "…", '…', “…”, ‘…’, `…` and LaTeX's ``…''.

In: text. Out: the content of the quotation marks, or the text with the quotations blanked. An apostrophe inside or at
the end of a word (`don't`, `customers'`) opens no quotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_QUOTED = re.compile(
    r"\"([^\"]{1,80})\"|``\s{0,8}+(.{1,80}?)\s{0,8}''|“([^”]{1,80})”|(?<!\w)[‘']([^'’]{1,80})['’](?!\w)|`([^`']{1,80})[`']"
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quoted text and its position, including its quotation marks."""

    text: str
    start: int
    end: int


def quotations(text: str) -> Iterator[Quotation]:
    for match in _QUOTED.finditer(text):
        yield Quotation(next(g for g in match.groups() if g is not None), match.start(), match.end())


def quotes_replaced(text: str, by: str) -> str:
    return _QUOTED.sub(lambda _: by, text)
