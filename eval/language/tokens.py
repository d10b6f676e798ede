"""Tokenize a question: tokens with their lemmas, stems, numbers and quoted strings.

In: any text. Out: a tuple of `Token`. The tokenizer keeps `customer's`, `2 million`, `2024-05-01` and quoted texts
together, as a question means them. `quotations` finds quoted texts alone: "…", '…', “…”, ‘…’, `…` and LaTeX's ``…''; an
apostrophe inside or at the end of a word (`don't`, `customers'`) opens none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from eval.language.inflection import lemma, stem
from eval.language.numbers import MULTIPLIERS, NUMBER_WORDS, number_of

TokenKind = Literal["word", "number", "quoted", "punct"]

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"\n]{1,200}"|“[^”\n]{1,200}”|‘[^’\n]{1,200}’|``[^`'\n]{1,200}(?:``|'')
        |(?<![\w])'(?=\S)[^\n]{1,120}?(?<=\S)'(?!\w))
      |(?P<date>\d{4}-\d{1,2}-\d{1,2}(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?)
      |(?P<number>(?<![\w.])-?\$?\d{1,3}(?:,\d{3})+(?:\.\d+)?%?(?![\w])|(?<![\w.])-?\$?\d+(?:\.\d+)?%?(?![\w-]|\.\d))
      |(?P<word>[^\W_](?:[\w./&-]*[^\W_])?(?:[’'](?:s|t|re|ve|ll|d|m)\b)?)
      |(?P<punct>[^\s])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number, quoted string or punctuation mark of a question."""

    text: str
    """As written; for a quoted string, without its quotes."""
    kind: TokenKind
    lower: str
    lemma: str
    stem: str
    number: float | int | None = None
    capital: bool = False
    """Starts with a capital letter and is not the first word of its sentence."""

    @property
    def is_word(self) -> bool:
        return self.kind == "word"


def tokenize(text: str) -> tuple[Token, ...]:
    """Split a text into tokens; `customer's` becomes `customer` and `'s`, `don't` becomes `do` and `not`."""
    tokens: list[Token] = []
    sentence_start = True
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        raw = match.group()
        if kind == "quoted":
            inner = raw.strip("\"“”‘’`'").strip()
            if inner:
                tokens.append(Token(inner, "quoted", inner.lower(), inner.lower(), inner.lower(), capital=True))
        elif kind == "date":
            tokens.append(Token(raw, "quoted", raw, raw, raw))
        elif kind == "number" and (value := number_of(raw)) is not None:
            tokens.append(Token(raw, "number", raw, raw, raw, number=value))
        elif kind in ("word", "number"):
            tokens.extend(_words(raw, sentence_start))
        else:
            tokens.append(Token(raw, "punct", raw, raw, raw))
        sentence_start = raw in ".?!;:" if kind == "punct" else False
    return tuple(_joined_numbers(tokens))


def _words(raw: str, sentence_start: bool) -> list[Token]:
    raw = raw.replace("’", "'")
    body, _, tail = raw.partition("'")
    lower = body.lower()
    if tail == "t":
        lower, body = (lower[:-1] if lower.endswith("n") else lower), body[:-1]
        lower = {"ca": "can", "wo": "will", "are": "are"}.get(lower, lower)
        return [_word(body, lower, False), _word("not", "not", False)]
    if times := {"twice": "two", "thrice": "three"}.get(lower):
        return [_word(times, times, False), _word("times", "times", False)]
    slashed = re.fullmatch(r"[A-Za-z]{3,}(?:/[A-Za-z]{3,})+", body)
    parts = body.split("/") if slashed else [body]
    tokens = [_word(part, part.lower(), not sentence_start or i > 0) for i, part in enumerate(parts)]
    if tail == "s":
        tokens.append(Token("'s", "punct", "'s", "'s", "'s"))
    return tokens


def _word(text: str, lower: str, may_be_capital: bool) -> Token:
    return Token(
        text,
        "word",
        lower,
        lemma(lower),
        stem(lower),
        number=NUMBER_WORDS.get(lower),
        capital=may_be_capital and text[:1].isupper(),
    )


def _joined_numbers(tokens: list[Token]) -> list[Token]:
    """Join `2 million`, `five hundred` and `3k` into one number token."""
    joined: list[Token] = []
    for token in tokens:
        before = joined[-1] if joined else None
        if before is not None and before.number is not None and token.lower in MULTIPLIERS:
            value = before.number * MULTIPLIERS[token.lower]
            text = f"{before.text} {token.text}"
            joined[-1] = Token(text, "number", text.lower(), text.lower(), text.lower(), number=value)
        elif match := re.fullmatch(r"(\d+(?:\.\d+)?)(k|m)", token.lower):
            value = float(match[1]) * (1000 if match[2] == "k" else 10**6)
            number = int(value) if value == int(value) else value
            joined.append(Token(token.text, "number", token.lower, token.lower, token.lower, number=number))
        else:
            joined.append(token)
    return joined


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
