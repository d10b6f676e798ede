"""The real names nearest to one that does not exist, best first.

Names are compared as people misremember them: case and separators are ignored, plural equals singular, the same words
in another order are near, and so is a name that contains the other. After that, edit distance decides, in which two
swapped neighbours are one edit (optimal string alignment).
"""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz.distance import OSA

from eval.language.words import singular_words


def similarity(wanted: str, name: str) -> float:
    """0..1, where 1 means equal except for case."""
    a, b = wanted.casefold(), name.casefold()
    if a == b:
        return 1.0
    left, right = singular_words(wanted), singular_words(name)
    if left and sorted(left) == sorted(right):
        return 0.98 if left == right else 0.95
    flat_a, flat_b = "".join(left) or a, "".join(right) or b
    if flat_a == flat_b:
        return 0.97
    letters = 1.0 - OSA.distance(flat_a, flat_b) / max(len(flat_a), len(flat_b))
    common = len(set(left) & set(right))
    shared = common / max(len(set(left) | set(right)), 1)
    score = max(letters, 0.55 * letters + 0.4 * shared)
    shorter, longer = sorted((flat_a, flat_b), key=len)
    if len(shorter) >= 2 and longer.startswith(shorter):
        score = max(score, 0.6 + 0.3 * len(shorter) / len(longer))
    elif len(shorter) >= 3 and (longer.endswith(shorter) or (common and set(left) <= set(right))):
        score = max(score, 0.55 + 0.3 * len(shorter) / len(longer))
    return min(score, 0.94)


def nearest(wanted: str, names: Iterable[str], most: int = 3, least: float = 0.5) -> tuple[str, ...]:
    """Up to `most` names with a similarity of at least `least`, best first; ties keep the given order."""
    scored = [(similarity(wanted[:100], name[:100]), name) for name in dict.fromkeys(names)]
    kept = sorted((s for s in scored if s[0] >= least), key=lambda s: -s[0])
    return tuple(name for _, name in kept[:most])
