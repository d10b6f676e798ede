"""Words with a meaning beyond names: adjectives, measures, events, times between dates, superiors.

In: tokens and the vocabulary. Out: items.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.knowledge.vocabulary import TableWord, Vocabulary
from eval.language.inflection import root
from eval.language.lexicon import adjectives, measures, word_set
from eval.language.tokens import Token
from experiments.grammar_parser.lexicon.loader import computed
from experiments.grammar_parser.link.items import Item

_TIMES = word_set("time times duration delay lag days period")
_SUPERIORS = word_set("manager boss supervisor superior managers bosses supervisors chief lead")


def gradable(words: Sequence[str], start: int) -> list[Item]:
    forms = adjectives()
    items = []
    for end in (start + 3, start + 2, start + 1):
        text = " ".join(words[start:end])
        if end <= len(words) and text in forms:
            adjective, degree = forms[text]
            items.append(Item("adjective", start, end, 1.0, degree, concept=adjective.properties, text=text))
    return items


def business(tokens: Sequence[Token], start: int) -> list[Item]:
    known = measures()
    items = []
    for end in range(min(len(tokens), start + 4), start, -1):
        text = " ".join(t.lower for t in tokens[start:end])
        if text in computed():
            items.append(Item("computed", start, end, 0.9, text, text=text))
    for end in range(min(len(tokens), start + 3), start, -1):
        text = " ".join(t.lemma for t in tokens[start:end])
        lower = " ".join(t.lower for t in tokens[start:end])
        name = text if text in known else lower if lower in known else None
        if name is not None:
            items.append(Item("measure", start, end, 0.8, name, text=lower))
    return items


def spans_of_time(tokens: Sequence[Token], start: int, vocabulary: Vocabulary) -> list[Item]:
    """`delivery time`: the dates whose names have the root of a word before `time`."""
    base = root(tokens[start].lemma)
    dates = tuple(
        (c, 0.8)
        for c in vocabulary.columns.values()
        if c.role == "date" and any(root(w) == base for w in c.words if w != "date")
    )
    if not dates or len(base) < 4:
        return []
    end = start + 2 if start + 1 < len(tokens) and tokens[start + 1].lower in _TIMES else start + 1
    return [
        Item("elapsed", start, end, 0.8, "time" if end > start + 1 else "", columns=dates, text=tokens[start].lower)
    ]


def superiors(token: Token, words: Sequence[str], start: int, vocabulary: Vocabulary) -> list[Item]:
    """`their boss`, `reports to`: the key by which a row refers to another row of its own table."""
    phrase = words[start : start + 2] in (
        ["reports", "to"],
        ["report", "to"],
        ["reporting", "to"],
        ["managed", "by"],
        ["supervised", "by"],
    )
    if token.lower not in _SUPERIORS and not phrase:
        return []
    own = [
        (t.name, fk.columns[0])
        for t in vocabulary.tables.values()
        for fk in t.table.foreign_keys
        if fk.ref_table == t.name and len(fk.columns) == 1
    ]
    if len(own) != 1:
        return []
    return [
        Item(
            "superior",
            start,
            start + (2 if phrase else 1),
            0.9,
            f"{own[0][0]}.{own[0][1]}",
            tables=((own[0][0], 0.9),),
            text=token.lower,
        )
    ]


def events(token: Token, start: int, nouns: frozenset[str], vocabulary: Vocabulary) -> list[Item]:
    """`bought`: the tables of what the verb makes happen, where its own word names none."""
    tables = [
        (t.name, 0.6 if t.words[-1:] and t.words[-1] in nouns else 0.5)
        for noun in sorted(nouns)
        for t in vocabulary.holders.get(noun, ())
        if isinstance(t, TableWord) and t.words[-1] in nouns and any(fk for fk in t.table.foreign_keys)
    ]
    if not tables:
        return []
    tables.sort(key=lambda p: (-p[1], p[0]))
    return [Item("table", start, start + 1, tables[0][1], "event", tables=tuple(tables[:4]), text=token.lower)]
