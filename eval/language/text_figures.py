"""Figures that are kept as text: `9.50`, `1,250.00`, `$4`, with an `n/a` among them.

In: values of one column, as text. Out: how its figures are written; None where the texts are no figures, or may be
names (`0012`, `1.10` beside `1.9`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

_HEAD = 20
"""Values that tell whether the others are looked at."""
_SIGNS = "$€£¥%,' "
_WITHOUT = str.maketrans("", "", _SIGNS)
_WHOLE = r"(?:0|[1-9]\d{0,12}|[1-9]\d{0,2}(?:[,' ]\d{3}){1,4})?"
_NUMBER = re.compile(rf"[-+]?[{_SIGNS}]{{0,2}}{_WHOLE}(?:\.\d{{1,9}})?[ %$€£¥]{{0,2}}")
_DIGIT = re.compile(r"\d")
_OTHERS = 3
"""Different texts that may stand among the figures, if they hold no digit."""


@dataclass(frozen=True, slots=True)
class TextFigures:
    """How the figures of a column of text are written."""

    signs: str = ""
    """What stands in them besides digits, point and minus."""
    others: tuple[str, ...] = ()
    """The texts among them."""
    complete: bool = True
    """Whether these are all."""


def text_figures(values: Sequence[str], complete: bool = True) -> TextFigures | None:
    """The figures that values are; whole numbers of one length may be codes. Some texts without a digit may stand among
    them: at most three, and a third."""
    head = [v for v in islice(values, _HEAD) if v.strip()]
    if 2 * sum(_NUMBER.fullmatch(v.strip()) is not None for v in head) < len(head):
        return None
    figures = [v.strip() for v in values if _DIGIT.search(v)]
    others = tuple(dict.fromkeys(v for v in values if v.strip() and not _DIGIT.search(v)))
    codes = all(map(str.isdecimal, figures)) and len(set(map(len, figures))) == 1
    if len(figures) < 2 or codes or len(others) > _OTHERS or 2 * len(others) > len(figures):
        return None
    if not all(_NUMBER.fullmatch(v) for v in figures):
        return None
    if len({float(v.translate(_WITHOUT)) for v in figures}) < len(set(figures)):
        return None
    return TextFigures("".join(s for s in _SIGNS if any(s in v for v in figures)), others, complete)
