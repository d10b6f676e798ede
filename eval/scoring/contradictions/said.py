"""What a question says of a text or a number: the account that the other checks keep.

In: a question read against its query. Out: whether a stored text is said (as written, in part, as a code, in words of
like meaning), and the question's words that no part of the query accounts for.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import month_name
from functools import cache, lru_cache

from eval.language.inflection import lemma, light_stem
from eval.language.lexicon import adjectives, countries, open_lexicon, similar_words, states, synonyms
from eval.language.numbers import NUMBER_WORDS
from eval.language.words import STOPWORDS, akin, meets, question_words
from eval.scoring.evidence.linking import words_of
from eval.scoring.evidence.question_reading import Reading
from eval.sql.types import Constant

_ALIKE = 0.85
"""Similarity from which a word may stand for another."""
_SHORT = 3
"""Letters up to which a stored text may be a code of what the question says."""
_FLAGS = frozenset({"t", "f", "y", "n", "true", "false", "yes", "no", "none", "null", "unknown", "n/a", "n / a"})
"""Stored texts that say that something is so, or is not, or not known: a question may suppose them."""
_DIGIT_FLAGS = frozenset({"0", "1", "-1"})
"""The same in digits, where a word that names their column asks for them."""
_DATE = re.compile(r"(?P<y>(?:1[89]|20)\d\d)-(?P<m>\d\d)(?:-(?P<d>\d\d))?|(?P<b>\d\d?)[/.](?P<c>\d\d?)[/.](?P<z>\d{4})")
_CLOCK = re.compile(r"\d\d?:\d\d")
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_RELATIVE = re.compile(
    r"\b(?:today|yesterday|tomorrow|now|current\w*|recent\w*|last|past|latest|newest|first|earliest|oldest|next|previous"
    r"|this|ago|christmas|new year|eve|holiday|noon|midnight|q[1-4]|h[12]|quarters?|half|halves|spring|summer"
    r"|autumn|winter)\b"
)
"""Words for a time that is counted from another one."""
_SPELLED_MONTH = {name.casefold()[:3]: n for n, name in enumerate(month_name) if name}
_ORDINALS = dict(
    enumerate(["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1)
)


_NTH = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")


def said(constant: Constant, r: Reading) -> bool:
    """Whether the question says a value, or a part of it that names neither what holds it nor another value."""
    value = _bare(constant)
    if r.case.taught and _written(value, r.case.taught):
        return True
    if _DATE.match(value):
        return value in r.question
    plain = _unaccented(value)
    if _written(value, r.question) or (plain in _unaccented(r.question) and len(plain) > _SHORT):
        return True
    if len(plain) > _SHORT and "".join(plain.split()) in "".join(r.question.split()):
        return True  # `old school` of oldschool
    if (nth := _NTH.fullmatch(value)) and _ORDINALS.get(int(nth[1])) in r.all_words:
        return True
    every_word = [w for w in question_words(value) if len(w) > 1]
    if len(every_word) > 1 and "".join(w[0] for w in every_word) in r.all_words:
        return True  # UK, USA
    words = [w for w in question_words(value) if w not in STOPWORDS] or list(every_word)
    if len(words) > 1 and all(_spoken(w, r.all_words) for w in words):
        return True
    free = _free_words(constant, r) if len(words) > 1 else r.all_words
    return any(_spoken(w, free) for w in words if len(w) > 1)


def _bare(constant: Constant) -> str:
    """`8` of `LIKE '8/%'`, which looks for August."""
    value = constant.value.casefold().strip("% ")
    return value.strip("/-:.") if constant.operator == "like" else value


def _unaccented(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _written(value: str, question: str) -> bool:
    """Whether a value stands in the question; a short one as a word of its own."""
    if len(value) > _SHORT and not value.isdecimal():
        return value in question
    at = question.find(value)
    while at >= 0 and value:
        around = question[max(0, at - 1) : at], question[at + len(value) : at + len(value) + 1]
        if not any(c.isalnum() for c in around):
            return True
        at = question.find(value, at + 1)
    return not value


def _spoken(word: str, spoken: frozenset[str]) -> bool:
    return any(
        akin(word, q) or (word[:3] == q[:3] and len(word) > 2 and abs(len(word) - len(q)) < 3)
        for q in spoken
        if len(q) > 1
    )


def _free_words(constant: Constant, r: Reading) -> frozenset[str]:
    """The question's words that are no names of what the query uses and stand in no other value."""
    others = (c.value.casefold().strip("% ") for c in r.constants if c.value != constant.value)
    taken = r.used_names | {w for o in others if o in r.question for w in question_words(o)}
    return frozenset(w for w in r.all_words if not any(akin(w, t) for t in taken))


def may_be_meant(constant: Constant, r: Reading) -> bool:
    """Whether a text that is not said may still stand for a word of the question that the query has nowhere else: a
    code, a name of the same country, a word of like meaning, a flag, a date."""
    value = _bare(constant)
    left = left_over(r)
    if value in _FLAGS or not re.search(r"[^\W_]", value):
        return True
    if value in _DIGIT_FLAGS:
        return bool(left) or meets(constant.column or "", r.words)
    if value.isdecimal() or _DATE.match(value) or _CLOCK.match(value):
        return _time_meant(value, r) or (value.isdecimal() and _number_meant(value, r))
    code = constant.value.strip()
    if 1 < len(code) <= 4 and code.isalpha() and code.isupper():
        return True  # a few capitals stand for anything
    if not left:
        return False
    if " " not in value and any(w.endswith("est") or w in _gradable() for w in left):
        return True  # `the fastest` is the one of the greatest speed
    return any(_stands_for(value, w) for w in left) or _a_code(value, left) or _foreign(constant)


@cache
def _gradable() -> frozenset[str]:
    return frozenset(light_stem(f) for f, (_, degree) in adjectives().items() if " " not in f and degree != "base")


def _number_meant(value: str, r: Reading) -> bool:
    number = int(value[:9])
    if spelled(number, r) or number in r.intent.numbers or _ORDINALS.get(number) in r.all_words:
        return True
    if number > len(_SPELLED_MONTH):
        return False
    return "month" in r.question or "quarter" in r.question or _named_month(number, r)


def _named_month(number: int, r: Reading) -> bool:
    return any(_SPELLED_MONTH.get(w[:3]) == number for w in r.all_words)


def _time_meant(value: str, r: Reading) -> bool:
    """A year, a day or a time of day that is not written as stored: its year or its day has to be said, or a time that
    is counted from another one."""
    if _RELATIVE.search(r.question):
        return True
    if _YEAR.fullmatch(value):
        return bool(_YEAR.search(r.question))
    found = _DATE.match(value)
    if found is None:
        return bool(_CLOCK.match(value)) and bool(r.intent.numbers)
    parts = {int(p) for p in found.groups() if p}
    if found["d"] == "01" or found["d"] is None:
        return bool(parts & _numbers(r)) or _named_month(int(found["m"] or 0), r)
    day = int(found["d"] or found["c"])
    return bool({day, int(found["b"] or day)} & _numbers(r))


_DIGITS = re.compile(r"(?<!\d)\d{1,4}(?!\d)")


def _numbers(r: Reading) -> set[int]:
    return {int(n) for n in _DIGITS.findall(r.question)}


def _a_code(value: str, left: list[str]) -> bool:
    """`ABW` of Aruba, `F` of female: a short text that begins as a word that is left does."""
    return len(value) <= _SHORT and any(w[0] == value[0] for w in left)


_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=50_000)
def _stands_for(value: str, word: str) -> bool:
    """Whether a word of a value and a word of the question mean the same country, state or thing."""
    one = lemma(word)
    lands, tongues = countries()
    for group in (lands.get(word), lands.get(one), tongues.get(word), states().get(word)):
        if group and any(value == g or g in value.split() for g in group):
            return True
    for part in question_words(value):
        other = lemma(part)
        if other in synonyms().get(one, ()) or open_lexicon(one).get(other, 0) >= _ALIKE:
            return True
        if similar_words(one).get(other, 0) >= _ALIKE:
            return True
    return False


def _foreign(constant: Constant) -> bool:
    """Words that are not English, all in capitals or several in small letters: another language's code."""
    value = constant.value.strip()
    words = [w.casefold() for w in _WORD.findall(value)]
    uniform = value in (value.upper(), value.lower()) and all(w.isalpha() and len(w) > 1 for w in words)
    code = len(words) > 1 or (value.isupper() and len(value) > _SHORT)
    return uniform and code and not any(open_lexicon(lemma(w)) for w in words)


def left_over(r: Reading) -> list[str]:
    """The question's words that name data and have no part in the query or in any name of the schema."""
    known = r.used_words | words_of(r.case.schema)
    return [w for w in r.words if not any(akin(w, k) for k in known)]


def passed_over(r: Reading) -> list[str]:
    """Words that the second reading of the question found nowhere and of which the query says nothing either: it holds
    neither them nor a text or a key that the question does not say and that may stand for them."""
    opinion = r.case.second_opinion
    if opinion is None or not opinion.unread or any(_may_stand(c, r) for c in r.constants):
        return []
    written = frozenset(question_words(r.case.parsed.text)) | r.used_words
    return [w for w in opinion.unread if not any(akin(q, k) for q in question_words(w) for k in written)]


def _may_stand(constant: Constant, r: Reading) -> bool:
    """Whether a constant may stand for a word that is not in the schema: no date, no flag, nothing that is said."""
    value = constant.value.strip("% ").casefold()
    if constant.is_string:
        return not (value in _FLAGS or _DATE.match(value) or _YEAR.match(value) or said(constant, r))
    keyed = constant.operator in ("=", "in") and (constant.column or "").casefold().endswith(("id", "key", "code"))
    return keyed and value not in r.question


def names_left(r: Reading) -> list[str]:
    """Capitalised or quoted words of the question that have no part in the query."""
    known = r.used_words
    text = " ".join((*(c.value.casefold() for c in r.constants), r.case.taught))
    named = [*r.intent.quoted, *r.intent.proper]
    return [
        n
        for n in named
        if n.casefold() not in text and not any(akin(w, k) for w in question_words(n) for k in known)
    ]  # fmt: skip


def spelled(number: float, r: Reading) -> bool:
    return any(
        word in r.all_words or light_stem(word) in r.all_words for word, n in NUMBER_WORDS.items() if n == number
    )
