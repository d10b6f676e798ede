"""Words of a question: tokens with their lemmas, stems, numbers and quoted strings.

In: any text. Out: a tuple of `Token`. The inflection rules are a compact own set for English (plural nouns, verb
endings, comparatives) with a list of irregular forms; nothing is looked up anywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

TokenKind = Literal["word", "number", "quoted", "punct"]

_IRREGULAR = dict(
    line.split(":")
    for line in (Path(__file__).parent / "lexicon_irregular.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)
_PLURAL_US = ("status", "campus", "bus", "virus", "bonus", "census", "genus", "corpus", "radius", "surplus")

_NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_MULTIPLIERS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12, "k": 1000}

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"\n]{1,200}"|“[^”\n]{1,200}”|‘[^’\n]{1,200}’|``[^`'\n]{1,200}(?:``|'')
        |(?<![\w])'(?=\S)[^\n]{1,120}?(?<=\S)'(?!\w))
      |(?P<date>\d{4}-\d{1,2}-\d{1,2}(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?)
      |(?P<number>(?<![\w.])-?\$?\d{1,3}(?:,\d{3})+(?:\.\d+)?%?(?![\w])|(?<![\w.])-?\$?\d+(?:\.\d+)?%?(?![\w-]))
      |(?P<word>[^\W_](?:[\w./&-]*[^\W_])?(?:[’'](?:s|t|re|ve|ll|d|m)\b)?)
      |(?P<punct>[^\s])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number, quoted string or sign of a question."""

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


@lru_cache(maxsize=20_000)
def lemma(word: str) -> str:
    """The singular or base form of a lower-case English word, as far as spelling tells."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("uses") and word[:-2].endswith(_PLURAL_US):
        return word[:-2]
    if word.endswith("oes") and len(word) > 5:
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The lemma without verb endings: `attending`, `attended` and `attend` share a stem."""
    base = lemma(word)
    for ending in ("ing", "ed"):
        if base.endswith(ending) and len(base) - len(ending) >= 3 and any(c in "aeiouy" for c in base[: -len(ending)]):
            base = base[: -len(ending)]
            if base.endswith("i"):
                base = base[:-1] + "y"
            elif len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            break
    return base[:-1] if base.endswith("e") and len(base) > 3 else base


@lru_cache(maxsize=20_000)
def root(word: str) -> str:
    """The stem without common derivational endings: `enrolment`, `enrolled`; `manager`, `manages`."""
    base = stem(word)
    for ending in ("isation", "ization", "ation", "ition", "ment", "ance", "ence", "tion", "sion", "ion", "ship",
                   "ness", "ity", "ive", "or", "er", "al", "ee", "y"):  # fmt: skip
        if base.endswith(ending) and len(base) - len(ending) >= 4:
            base = base[: -len(ending)]
            break
    if len(base) > 4 and base[-1] == base[-2]:
        base = base[:-1]
    return base


def number_of(text: str) -> int | float | None:
    """The number that a numeral or number word stands for, else None."""
    cleaned = text.lower().replace(",", "").replace("$", "").rstrip("%")
    if cleaned in _NUMBER_WORDS:
        return _NUMBER_WORDS[cleaned]
    try:
        return int(cleaned)
    except ValueError:
        pass
    if re.fullmatch(r"-?\d+\.\d+", cleaned):
        return float(cleaned)
    return None


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
    if lower in ("twice", "thrice"):
        return [_word({"twice": "two", "thrice": "three"}[lower], {"twice": "two", "thrice": "three"}[lower], False),
                _word("times", "times", False)]  # fmt: skip
    tokens = []
    if "/" in body and re.fullmatch(r"[A-Za-z]{3,}(?:/[A-Za-z]{3,})+", body):
        parts = body.split("/")
        for i, part in enumerate(parts):
            tokens.append(_word(part, part.lower(), not sentence_start or i > 0))
    else:
        tokens.append(_word(body, lower, not sentence_start))
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
        number=_NUMBER_WORDS.get(lower),
        capital=may_be_capital and text[:1].isupper(),
    )


def _joined_numbers(tokens: list[Token]) -> list[Token]:
    """Join `2 million`, `five hundred` and `3k` into one number token."""
    joined: list[Token] = []
    for token in tokens:
        before = joined[-1] if joined else None
        if before is not None and before.number is not None and token.lower in _MULTIPLIERS:
            value = before.number * _MULTIPLIERS[token.lower]
            text = f"{before.text} {token.text}"
            joined[-1] = Token(text, "number", text.lower(), text.lower(), text.lower(), number=value)
        elif match := re.fullmatch(r"(\d+(?:\.\d+)?)(k|m)", token.lower):
            value = float(match[1]) * (1000 if match[2] == "k" else 10**6)
            number = int(value) if value == int(value) else value
            joined.append(Token(token.text, "number", token.lower, token.lower, token.lower, number=number))
        else:
            joined.append(token)
    return joined
