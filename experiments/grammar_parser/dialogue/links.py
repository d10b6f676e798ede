"""The words that tie a question to the one before it: openings, closings and pronouns.

In: the tokens of a question. Out: `Links`: the tokens between them, and what they say: join, narrow, add or refer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eval.language.lexicon import lines, word_set
from eval.language.tokens import Token

_FILE = Path(__file__).parents[1] / "lexicon" / "links.txt"


@cache
def _phrases(place: str) -> dict[str, str]:
    """The kind of each phrase that opens or closes a question."""
    rows = (line.split(maxsplit=2) for line in lines(_FILE))
    return {phrase.strip(): kind for where, kind, phrases in rows if where == place for phrase in phrases.split("|")}


_PRONOUNS = word_set("them they those these it its their theirs he she his her him hers ones")
_LONE = word_set("one that this")
"""Words that point back only where no noun follows."""
_BEFORE_NOUNS = word_set("of in for with to from about on by at as than")
_TYING = word_set(
    "by per for in from with without at on sort order sorted ordered rank grouped group split each of than same except "
    "excluding not whose who"
)
_ASKING = word_set("which what who whom whose where when how list show give find display count tell name return get")


@dataclass(frozen=True, slots=True)
class Links:
    """A question without the words that only link it."""

    body: tuple[Token, ...]
    kinds: frozenset[str]
    """join, swap, narrow, add, each: what the words taken off say."""
    refers: bool
    """A pronoun points back."""

    @property
    def words(self) -> list[str]:
        return [t.lower for t in self.body]

    @property
    def asks(self) -> bool:
        return bool(self.body) and self.body[0].lower in _ASKING

    @property
    def tied(self) -> bool:
        """Whether its first word goes on from something."""
        return bool(self.body) and self.body[0].lower in _TYING

    @property
    def points_back(self) -> bool:
        return bool(self.kinds) or self.refers or self.tied or not self.body


def links(tokens: Sequence[Token]) -> Links:
    """The question's own words, and how it is tied to the one before."""
    words, start, end, kinds = [t.lower for t in tokens], 0, len(tokens), set()
    while (found := _phrase(words[start:end], "opening")) is not None:
        kinds.add(found[0])
        start += found[1]
    if (size := _set_apart(words[start:end])) > 0:
        kinds.add("each" if words[start : start + 2] == ["for", "each"] else "refer")
        start += size
    while (found := _phrase(words[start:end], "closing")) is not None:
        kinds.add(found[0])
        end -= found[1]
    body = tuple(tokens[start:end])
    refers = bool(kinds & {"refer", "each"}) or _refers([t.lower for t in body])
    return Links(body, frozenset(kinds - {"polite", "refer"}), refers)


_APART = ("of", "for", "among", "amongst", "from", "with", "out")
_POINTING = word_set("those these them that this")


def _set_apart(words: list[str]) -> int:
    """`of those,`, `for that country,`, `out of these`: how many words only say what is meant."""
    if words[:1] == [] or words[0] not in _APART:
        return 0
    at = next((i for i, w in enumerate(words[:5]) if w in _POINTING), -1)
    if at < 1 or not all(w in (*_APART, "each", "all") for w in words[:at]):
        return 0
    comma = next((i for i, w in enumerate(words[: at + 4]) if w == ","), -1)
    if comma > 0:
        return comma + 1
    return at + 1 if words[at + 1 : at + 2] and words[at + 1] in _ASKING else 0


def _phrase(words: list[str], place: str) -> tuple[str, int] | None:
    """The longest phrase at one end of the words: its kind and length."""
    for size in range(min(4, len(words)), 0, -1):
        kind = _phrases(place).get(" ".join(words[:size] if place == "opening" else words[-size:]))
        if kind is not None:
            return kind, size
    return None


def _refers(words: list[str]) -> bool:
    for i, word in enumerate(words):
        after = words[i + 1] if i + 1 < len(words) else ""
        if word in _PRONOUNS:
            return True
        if word in _LONE and after in ("", "is", "was", "are", "has", "have", "does", "one", "?"):
            return True
        if word == "that" and i and words[i - 1] in _BEFORE_NOUNS:  # `the owner of that cat`
            return True
    return False
