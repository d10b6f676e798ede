"""Stored values in a question: named, meant by another word, held in part, or quoted without being stored.

In: tokens, the value index. Out: items.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.knowledge.values import ValueIndex
from eval.language.lexicon import word_set
from eval.language.tokens import Token
from experiments.grammar_parser.lexicon.loader import signals_at
from experiments.grammar_parser.link.items import MOST_CANDIDATES, Item

_LEAD_IN = word_set("the a an letter letters word words string substring text phrase character characters")


def stored(tokens: Sequence[Token], values: ValueIndex, found: list[list[Item]], content: Sequence[bool]) -> None:
    for span in values.spans([t.text for t in tokens]):
        if not any(content[span.start : span.end]) and span.end - span.start == 1 and not tokens[span.start].capital:
            continue
        if span.end - span.start == 1 and not tokens[span.start].capital and _is_signal(tokens[span.start].lower):
            continue  # `per` is no country code
        score = max(h.score for h in span.hits)
        text = " ".join(t.text for t in tokens[span.start : span.end])
        found[span.start].append(
            Item("value", span.start, span.end, score, values=span.hits[: 2 * MOST_CANDIDATES], text=text)
        )
    covered = {k for items in found for x in items if x.kind == "value" for k in range(x.start, x.end)}
    for place, token in enumerate(tokens):
        if place in covered or token.kind != "word" or not content[place] or _is_signal(token.lower):
            continue
        _related_values(tokens, place, values, found)
    for place, token in enumerate(tokens):
        if token.kind == "quoted" and not any(x.kind == "period" for x in found[place]):
            found[place].append(Item("literal", place, place + 1, 0.9, text=token.text))


def _related_values(tokens: Sequence[Token], place: int, values: ValueIndex, found: list[list[Item]]) -> None:
    """Values that a word stands for (`japanese`, `rainy`, `female`), or of which it is a part (`ford`)."""
    token = tokens[place]
    if place + 1 < len(tokens) and tokens[place + 1].kind == "word":
        phrase = f"{token.text} {tokens[place + 1].text}"
        if hits := values.related(phrase):
            found[place].append(
                Item("value", place, place + 2, hits[0].score, hits[0].how, values=hits[:MOST_CANDIDATES], text=phrase)
            )
            return
    if hits := values.related(token.text):
        found[place].append(
            Item("value", place, place + 1, hits[0].score, hits[0].how, values=hits[:MOST_CANDIDATES], text=token.text)
        )
        return
    for parts in values.parts(token.lemma)[:3]:
        found[place].append(
            Item(
                "part",
                place,
                place + 1,
                parts.score,
                f"{parts.table}.{parts.column}",
                values=(),
                text=token.lemma,
                parts=parts,
            )
        )


def _is_signal(word: str) -> bool:
    """Whether the word alone is a signal."""
    return bool(signals_at([word], 0))


def patterns(tokens: Sequence[Token], found: list[list[Item]]) -> None:
    """`starts with S`: the word behind a phrase that asks for a pattern."""
    for items in list(found):
        for item in items:
            if item.kind != "like":
                continue
            at = item.end
            while at < len(tokens) - 1 and tokens[at].lower in _LEAD_IN:
                at += 1
            if (
                at < len(tokens)
                and tokens[at].kind in ("word", "number")
                and not any(x.kind == "literal" for x in found[at])
            ):
                found[at].append(Item("literal", at, at + 1, 0.7, text=tokens[at].text))
