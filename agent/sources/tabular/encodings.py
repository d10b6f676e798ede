"""The encoding of a text that is no Unicode, found by asking which encodings could also be meant.

In: the lines of a file that hold other bytes than ASCII. Out: the encoding whose reading has the fewest words that no
language writes, and one that reads other words as well, if there is any. Few bytes are no statistics: a word is judged
by its alphabet, its capitals and its signs (`encodings.txt`). Where these leave several, the statistics of
charset-normalizer decide, if there is text enough for them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from charset_normalizer import from_bytes

from eval.language.lexicon import lines

_PLAIN = re.compile(r"[\x00-&(-@\[-`{-\x7f]+")
"""Between words: ASCII that is neither a letter nor an apostrophe."""
_BEFORE, _BEHIND = "“„«‘‚¿¡µ°\u00a0", "”»’…°ªº®™²³\u00a0"
"""Signs that may stand in front of a word and behind it."""
_ALONE = "€£¥«»“”„‘’‚…–—§©°¿¡½¼¾·•´×‰±\u00ad"
"""Signs that may stand beside figures and alone."""
_USUAL = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "mac_roman", "cp932", "cp949", "big5", "gb18030")
"""Encodings of which it is told that they could be meant."""
_COMMON = {
    "gb18030": ("gb2312", 0xB0, 0xD7),
    "big5": ("big5", 0xA4, 0xC6),
    "cp949": ("euc_kr", 0xB0, 0xC8),
    "cp932": ("cp932", 0x81, 0x97),
    "euc_jp": ("euc_jp", 0xA4, 0xCF),
}
"""By the encoding of several bytes: a character set of its language, and the first bytes of the common characters."""
_ALPHABETS = {
    name: tuple(map(frozenset, alphabets.split()))
    for name, _, alphabets in (line.partition(": ") for line in lines(Path(__file__).with_suffix(".txt")))
}


@dataclass(frozen=True, slots=True)
class Encoding:
    name: str
    other: str | None = None
    """One that could also be meant and reads other words."""


def likely_encoding(text: bytes) -> Encoding | None:
    """`text`: at most some hundred KB. None where no encoding that is known here reads it."""
    found: list[tuple[tuple[int, int, int], int, str, str]] = []
    for place, (name, alphabets) in enumerate(_ALPHABETS.items()):
        try:
            read = text.decode(name)
        except UnicodeDecodeError:
            continue
        found.append((_faults(read, name, alphabets), place, name, read))
    if not found:
        return None
    least, _, name, read = min(found)
    as_good = [
        (other, text_)
        for faults, _, other, text_ in sorted(found)
        if faults == least and text_ != read and other in _USUAL
    ]
    if not as_good:  # a tenth of the words may be of no language: units, names from elsewhere
        return Encoding(name, "another" if least[0] > 0.1 * least[2] else None)
    counted = from_bytes(text, cp_isolation=[name, *(other for other, _ in as_good)]).best()
    if counted is not None and counted.coherence > 0.3:
        same = next((n for n in (name, *(o for o, _ in as_good)) if text.decode(n) == str(counted)), name)
        return Encoding(same)
    return Encoding(name, as_good[0][0])


def _faults(read: str, name: str, alphabets: tuple[frozenset[str], ...]) -> tuple[int, int, int]:
    """(words that no language writes, whether the words are of several languages, words beyond ASCII)."""
    found = {word.strip("'").lstrip(_BEFORE).rstrip(_BEHIND) for word in _PLAIN.split(read) if not word.isascii()}
    words = {word for word in found if not word.isascii() and word.strip(_ALONE)}
    if name in _COMMON:
        return sum(not _is_common(word, *_COMMON[name]) for word in words), 0, len(words)
    others = {word: {c for c in word.lower() if not c.isascii()} - set("’ʼ-‑\u0307") for word in words}
    wrong = sum(not _is_written(word, others[word], alphabets) for word in words)
    together = set().union(*others.values())
    return wrong, int(not any(together <= alphabet for alphabet in alphabets)), len(words)


def _is_written(word: str, others: set[str], alphabets: tuple[frozenset[str], ...]) -> bool:
    """Whether a word is of one alphabet, with capitals in front or all over, and if Latin not all beyond ASCII."""
    latin = any(c.isascii() and c.isalpha() for c in word)
    fits = [alphabet for alphabet in alphabets if others <= alphabet]
    own = fits and len(max(fits, key=len)) > 16 and not any("ß" < c < "ɐ" for c in fits[0])  # of another script
    if not fits or (own and latin):
        return False
    bare = word.replace("’", "").replace("'", "")
    capitals = any(a.islower() and b.isupper() and not b.isascii() for a, b in pairwise(bare))
    starts_low = bare[:1].islower() and bare[1:2].isupper()
    many = not own and len(bare) > 3 and sum(not c.isascii() for c in bare) > 0.8 * len(bare)
    return not (capitals or starts_low or many)


def _is_common(word: str, charset: str, first: int, last: int) -> bool:
    common = total = 0
    for c in word:
        if not c.isascii():
            encoded = c.encode(charset, "ignore")
            total += 1
            common += len(encoded) > 1 and first <= encoded[0] <= last
    return common >= 0.9 * total
