"""Names of tables and columns: which of them begin at a word, and how well the words name them.

In: tokens with the schema words that each may stand for. Out: items. A name is grown word by word from the words that
are there, so that the work depends on the question and not on the schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent.knowledge.vocabulary import ColumnWord, TableWord, Vocabulary
from eval.language.lexicon import word_set
from eval.language.tokens import Token
from experiments.grammar_parser.link.items import MOST_CANDIDATES, Item

Holder = TableWord | ColumnWord
Grown = dict[object, tuple[Holder, dict[str, float]]]
"""Names by key, each with the schema words matched so far and their affinity; `@table` stands for its owner's name."""

_LONGEST = 6
"""Words of the longest name."""
_GENERIC = word_set("id name code number no type key value")
"""Words of a name that need not be said."""
_UNITS = word_set(
    "lb kg km m cm mm mile ft foot inch usd eur gbp gallon hour minute second day percent pct g gram mph kmh unit"
)


def names(
    tokens: Sequence[Token], start: int, affinities: Sequence[dict[str, float]], vocabulary: Vocabulary
) -> Iterator[Item]:
    """Tables and columns whose name begins, in any order of its words, at this token."""
    text = tokens[start].lower
    written = ((holder, 0.95) for holder in vocabulary.joined.get(text, ()))  # `wifi` for Wi-Fi
    yield from _items(written, start, start + 1, text)
    if not affinities[start]:
        return
    grown = _begun(affinities[start], vocabulary)
    owners = {h.name: max(m.values()) for h, m in grown.values() if isinstance(h, TableWord)}
    end = start + 1
    while grown:
        text = " ".join(t.lower for t in tokens[start:end])
        yield from _items(((h, name_score(h, m)) for h, m in grown.values()), start, end, text)
        step, link = _next_word(tokens, end)
        if end - start >= _LONGEST or step >= len(tokens) or not affinities[step]:
            return
        first = end == start + 1 and link in ("", "'s")
        grown = _further(grown, affinities[step], vocabulary, link, owners if first else {})
        end = step + 1


def _begun(affinities: dict[str, float], vocabulary: Vocabulary) -> Grown:
    """The names that hold one of the schema words of a token, each by its best one."""
    found: Grown = {}
    for word, score in affinities.items():
        for holder in vocabulary.holders.get(word, ()):
            old = found.get(_key(holder))
            if old is None or score > max(old[1].values()):
                found[_key(holder)] = (holder, {word: score})
    return found


def _next_word(tokens: Sequence[Token], end: int) -> tuple[int, str]:
    """The next word that may go on a name, and the word that links it (`date of birth`)."""
    if end + 1 >= len(tokens) or tokens[end].lower not in ("of", "the", "'s", "-"):
        return end, ""
    step = end + 1
    return (step + 1 if tokens[step].lower == "the" else step), tokens[end].lower


def _further(
    before: Grown, affinities: dict[str, float], vocabulary: Vocabulary, link: str, owners: dict[str, float]
) -> Grown:
    """The names with one more word; `owners`: tables whose columns may begin here (`student name`)."""
    found: Grown = {}
    for word, score in affinities.items():
        for holder in vocabulary.holders.get(word, ()):
            key = _key(holder)
            begun = before.get(key)
            if begun is not None:
                if word in begun[1] or (link and isinstance(holder, TableWord)):
                    continue
                words = {**begun[1], word: score}
            elif isinstance(holder, ColumnWord) and holder.table in owners:
                words = {"@" + holder.table: owners[holder.table], word: score}
            else:
                continue
            if key not in found or sum(found[key][1].values()) < sum(words.values()):
                found[key] = (holder, words)
    return found


def _items(scored: Iterator[tuple[Holder, float]], start: int, end: int, text: str) -> Iterator[Item]:
    """One item for tables and one for columns, the best candidates first."""
    tables: list[tuple[str, float]] = []
    columns: list[tuple[ColumnWord, float]] = []
    for holder, score in scored:
        if isinstance(holder, TableWord) and score >= 0.3:
            tables.append((holder.name, score))
        elif isinstance(holder, ColumnWord) and score >= 0.3:
            columns.append((holder, score))
    if tables:
        tables.sort(key=lambda p: -p[1])
        yield Item("table", start, end, tables[0][1], tables=tuple(tables[:MOST_CANDIDATES]), text=text)
    if columns:
        columns.sort(key=lambda p: -p[1])
        yield Item("column", start, end, columns[0][1], columns=tuple(columns[:MOST_CANDIDATES]), text=text)


def _key(holder: TableWord | ColumnWord) -> object:
    return holder.key if isinstance(holder, ColumnWord) else holder.name


def name_score(holder: TableWord | ColumnWord, matched: dict[str, float]) -> float:
    """How well the matched words name the whole: all of its words count, those that need not be said hardly."""
    owner = sum(v for k, v in matched.items() if k[0] == "@")
    own = {k: v for k, v in matched.items() if k[0] != "@"}
    if not own:
        return 0.0
    words = holder.words
    hit = sum(own.get(w, 0.0) for w in dict.fromkeys(words))
    missing = 0.0
    owners = set(holder.owner) if isinstance(holder, ColumnWord) else set()
    for place, word in enumerate(words):
        if word in own:
            continue
        if word in owners or word in _UNITS:
            missing += 0.08
        elif word in _GENERIC and place == len(words) - 1:
            missing += 0.25
        else:
            missing += 0.55 if place == len(words) - 1 else 0.4
    if set(own) <= owners and isinstance(holder, ColumnWord) and len(words) > len(own):
        missing += 0.5  # only the words of its table are said
    score = hit / len(own) * (1.0 / (1.0 + missing / len(own)))
    if len(own) > 1 or owner:
        score += 0.03 * (len(own) - 1 + bool(owner))
    return score
