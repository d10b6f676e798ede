"""The words and phrases by which the engine reads English: `words.txt` and `phrases.txt` in this folder.

A line of `words.txt` is the name of a list, a colon and its words. Lines of one name are a group each; a line with
further words behind its name says what these words mean. `phrases.txt` is the whole grammar of signal words: counts,
aggregates, superlatives, comparisons, ordering, grouping, negation. `keywords` finds them in tokens; the interpretation
decides what they apply to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eval.language.lexicon import Adjective, adjectives, lines, word_set
from eval.language.tokens import Token

_Row = tuple[tuple[str, ...], tuple[str, ...]]


@cache
def _rows() -> dict[str, list[_Row]]:
    rows: dict[str, list[_Row]] = {}
    for line in lines(Path(__file__).with_name("words.txt")):
        head, _, listed = line.partition(":")
        name, *keys = head.split()
        rows.setdefault(name, []).append((tuple(keys), tuple(listed.split())))
    return rows


def word_list(name: str) -> frozenset[str]:
    """The words of one list. Raises KeyError for a name that the file does not have."""
    return frozenset(word for _, words in _rows()[name] for word in words)


def word_groups(name: str) -> tuple[frozenset[str], ...]:
    """The groups of one list, a line each."""
    return tuple(frozenset(words) for _, words in _rows()[name])


def word_table(name: str) -> dict[str, tuple[str, ...]]:
    """What each of the words behind the list's name means, in the order of the file."""
    return {key: words for keys, words in _rows()[name] for key in keys}


@dataclass(frozen=True, slots=True)
class Keyword:
    """A signal phrase over tokens `start` to `end` (exclusive)."""

    kind: str
    """count, agg, sup, sup_adj, cmp, cmp_adj, common, like, order, dir, group, distinct, neg, except, both, or, and,
    average_of, percent, each, relative, also."""
    argument: str
    start: int
    end: int
    adjective: Adjective | None = None


@cache
def _table() -> dict[str, list[tuple[tuple[str, ...], str, str]]]:
    """First word -> (words, kind, argument); a later line wins over an earlier one for the same words."""
    by_words: dict[tuple[str, ...], tuple[str, str]] = {}
    for line in lines(Path(__file__).with_name("phrases.txt")):
        kind, argument, rest = line.split(None, 2)
        for phrase in rest.split(" | "):
            words = tuple(phrase.split())
            if words in by_words and kind == "sup":
                continue
            by_words[words] = (kind, argument)
    phrases: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
    for words, (kind, argument) in by_words.items():
        phrases.setdefault(words[0], []).append((words, kind, argument))
    for entries in phrases.values():
        entries.sort(key=lambda e: -len(e[0]))
    return phrases


@cache
def _adjective_forms() -> dict[str, list[tuple[tuple[str, ...], str, Adjective]]]:
    forms: dict[str, list[tuple[tuple[str, ...], str, Adjective]]] = {}
    for form, (adjective, degree) in adjectives().items():
        if degree != "base":
            words = tuple(form.split())
            forms.setdefault(words[0], []).append((words, degree, adjective))
    for entries in forms.values():
        entries.sort(key=lambda e: -len(e[0]))
    return forms


_NUMBERED = word_set("phone telephone mobile fax contact account card serial flight room order invoice licence license "
                     "house street reference version model part page")  # fmt: skip
"""Words that turn `number` into a name: the phone number of a customer is not a count."""
PARTICIPLES = word_list("participles")


def participle(word: str) -> bool:
    return word.endswith("ed") or word in PARTICIPLES


_SORTING = {"rank": "rank", "order": "*", "arrange": "*"}


def starts_with_sorting(tokens: Sequence[Token]) -> bool:
    """`Rank all customers by …`: the first word is a sort command; in `Order items by …` it may be something else."""
    if not tokens or tokens[0].lower not in _SORTING:
        return False
    rest = [t for t in tokens[1:7] if t.lower not in ("the", "all", "our", "us", "me", "every", "each")]
    things = rest[:1] and rest[0].kind == "word" and rest[0].lower != rest[0].lemma
    return bool(things) and any(t.lower == "by" for t in rest[1:])


def keywords(tokens: Sequence[Token]) -> list[Keyword]:
    """All signal phrases: at each position the longest of each kind; they may overlap."""
    lowers = [t.lower if t.kind != "quoted" else "\0" for t in tokens]
    signals: list[Keyword] = []
    if starts_with_sorting(tokens):
        signals.append(Keyword("order", _SORTING[lowers[0]], 0, 1))
    for start, word in enumerate(lowers):
        adjective = _adjective_at(lowers, start)
        if adjective is not None:
            signals.append(adjective)
        kinds: set[str] = set()
        for words, kind, argument in _table().get(word, ()):
            after = tokens[start + len(words)] if start + len(words) < len(tokens) else None
            if kind in kinds:
                continue
            if kind == "count" and words[0] == "number" and start and lowers[start - 1] in _NUMBERED:
                continue
            if kind == "post" and after is not None and (after.number is not None or after.kind == "quoted"):
                continue
            if kind == "post" and words[0] == "and" and (start == 0 or tokens[start - 1].number is None):
                continue
            if tuple(lowers[start : start + len(words)]) == words:
                # `are not yet shipped`, `was not paid`: what follows is denied, and no value is compared
                behind = start + len(words) + (lowers[start + len(words) :][:1] == ["yet"])
                state = lowers[behind] if behind < len(lowers) else ""
                if argument == "<>" and (participle(state) or state in LASTING or state == "available"):
                    kind, argument = "neg", "*"
                if adjective is not None and adjective.end >= start + len(words) and kind in ("sup", "cmp"):
                    break
                signals.append(Keyword(kind, argument, start, start + len(words)))
                kinds.add(kind)
    commands = bool(signals) and signals[0].start == 0 and signals[0].kind == "order"
    if commands and any(k.kind in ("order", "dir") for k in signals[1:]):
        return signals[1:]  # `Sort the names … in alphabetical order`: the first word is a command like `list`
    return signals


LASTING = word_set("active current running ongoing valid")
"""Words of states that hold until an end."""


def _adjective_at(lowers: Sequence[str], start: int) -> Keyword | None:
    for words, degree, adjective in _adjective_forms().get(lowers[start], ()):
        end = start + len(words)
        if tuple(lowers[start:end]) != words:
            continue
        if degree == "superlative" and not (len(words) == 1 and words[0] in ("highest", "lowest", "greatest")):
            return Keyword("sup_adj", lowers[start], start, end, adjective)
        if end < len(lowers) and lowers[end] == "than":
            return Keyword("cmp_adj", ">", start, end + 1, adjective)
        return None
    return None
