"""Ranking: from which end a query takes its extreme, against the word for it in the question.

In: a question read against its query. Out: whether it takes the least where the most is meant. The oldest person has
the greatest age and the least year of birth, so a word is read together with what the query ranks by
(`lexicon_adjectives.txt`); where that does not tell, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from eval.language.inflection import lemma
from eval.language.lexicon import Adjective, adjectives, word_set
from eval.language.words import akin, name_words
from eval.scoring.evidence.question_reading import Reading
from eval.scoring.intent import ranked_text
from eval.sql.traversal import every

_GREATEST = word_set("most highest largest biggest greatest maximum maximal max top peak")
_LEAST = word_set("least lowest smallest fewest minimum minimal min bottom")
_BACK = word_set("oldest earliest first eldest")
_RECENT = word_set("youngest latest newest last recent recently")
_GOOD = {"best": True, "worst": False}
_GOOD_FIGURES = word_set("score rating star grade point win revenue sale profit vote gold goal quantity unit")
_DATED = re.compile(r"year|date|time|birth|born|since|open|found|start|joined|created|_(?:at|on|from)\b", re.IGNORECASE)
_BACKWARDS = word_set(
    "rank ranking position place standing remaining left remain seed tier priority no number id order"
)
"""Columns whose small values may be the great ones."""
_BEGINS = re.compile(
    r"(?:^|_)(?:from|since|start\w*|beg[aiu]n\w*|joined|hired|opened|founded|created)(?:_|$)", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST_PHRASE = 3
_RANKS = word_set("row_number rank dense_rank")


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a query ranks by, and whether it takes the greatest."""

    key: exp.Expr
    falling: bool


def rankings(r: Reading) -> Iterator[Ranking]:
    """Each ORDER BY that a LIMIT cuts, each ranking window, each MAX and MIN."""
    for select in r.selects:
        order = select.args.get("order")
        if order is not None and select.args.get("limit") is not None:
            yield _first_key(order, select)
    for window in every(r.tree, exp.Window):
        order = window.args.get("order")
        if order is not None and numbers_rows(window):
            yield _first_key(order, None)
    for extreme in every(r.tree, exp.Max, exp.Min):
        yield Ranking(extreme.this, isinstance(extreme, exp.Max))
    order = r.select.args.get("order") if r.select is not None else None
    if order is not None and r.select is not None and r.select.args.get("limit") is None:
        yield _first_key(order, r.select)  # all rows, the one that is asked for first


def numbers_rows(window: exp.Window) -> bool:
    """Whether a window ranks: RANK, DENSE_RANK or ROW_NUMBER."""
    call = window.this
    if isinstance(call, exp.Anonymous):
        return call.name.casefold() in _RANKS
    return isinstance(call, exp.RowNumber | exp.Rank | exp.DenseRank)


def _first_key(order: exp.Expr, select: exp.Select | None) -> Ranking:
    first = order.expressions[0]
    key = first.this
    if select is not None and isinstance(key, exp.Column) and not key.table:
        key = next((e.this for e in select.expressions if isinstance(e, exp.Alias) and e.alias == key.name), key)
    return Ranking(key, bool(first.args.get("desc")))


def ranks_from_wrong_end(r: Reading) -> bool:
    """Whether the query takes the least where the most is meant, as far as the words tell."""
    asked = list(_asked(r.case.question))
    found = list(rankings(r)) if asked else ()
    grown = [(_grows(word, ranking.key), ranking.falling) for word in asked for ranking in found]
    return {None if grows is None else grows == falling for grows, falling in grown} == {False}


@dataclass(frozen=True, slots=True)
class _Asked:
    word: str
    adjective: Adjective | None


def _asked(question: str) -> Iterator[_Asked]:
    """The words of a question that ask for an extreme; `top` and `best` before another one only count."""
    words = [w.casefold() for w in _WORD.findall(ranked_text(question))]
    known, at, general = adjectives(), 0, list[_Asked]()
    special = list[_Asked]()
    while at < len(words):
        for n in range(_LONGEST_PHRASE, 0, -1):
            found = known.get(" ".join(words[at : at + n])) if at + n <= len(words) else None
            if found is not None and found[1] == "superlative":
                special.append(_Asked(words[at + n - 1], found[0]))
                at += n
                break
        else:
            word = words[at]
            after = words[at - 1] if at else ""
            if (word in _GREATEST | _LEAST | _BACK | _RECENT | set(_GOOD)) and after != "at":
                general.append(_Asked(word, None))
            at += 1
    yield from special or general


def _grows(asked: _Asked, key: exp.Expr) -> bool | None:
    """Whether the word asks for great values of the key; None where that cannot be told."""
    names = [c.name for c in every(key, exp.Column)]
    parts = {lemma(p) for n in names for p in name_words(n)} | {p for n in names for p in name_words(n)}
    if every(key, exp.Count):
        return _general(asked)
    backwards = parts & _BACKWARDS or any(n.casefold() in _BACKWARDS for n in names)
    if (backwards and not every(key, exp.Sum)) or every(key, exp.Neg, exp.Case):  # what adds up is no rank
        return None
    if asked.adjective is not None:
        return _by_property(asked.adjective, parts, names, key)
    if any(_DATED.search(n) for n in names):
        return True if asked.word in _RECENT else False if asked.word in _BACK else None
    if asked.word in _GOOD and not (parts & _GOOD_FIGURES or any(akin(p, f) for p in parts for f in _GOOD_FIGURES)):
        return None
    return _general(asked)


def _general(asked: _Asked) -> bool | None:
    if asked.adjective is not None:
        return asked.adjective.properties[0][1] > 0 if _one_way(asked.adjective) else None
    if asked.word in _GOOD:
        return _GOOD[asked.word]
    return True if asked.word in _GREATEST else False if asked.word in _LEAST else None


def _one_way(adjective: Adjective) -> bool:
    return bool(adjective.properties) and len({sign for _, sign in adjective.properties}) == 1


def _by_property(adjective: Adjective, parts: set[str], names: list[str], key: exp.Expr) -> bool | None:
    for words, sign in adjective.properties:
        if all(any(w == p or (len(w) > 2 and akin(w, p)) for p in parts) for w in words):
            return sign > 0
    if adjective.base == "long" and isinstance(key, exp.Column) and _BEGINS.search(key.name):
        return False  # what lasts longest began first
    dated = any(_DATED.search(n) for n in names)
    if dated and not every(key, exp.Sub):
        return None
    return adjective.properties[0][1] > 0 if _one_way(adjective) else None


_FROM_TO = re.compile(r"\bfrom (?:the )?([^\W\d_]+)(?: [^\W\d_]+)? to (?:the )?([^\W\d_]+)")


def ordered_from(r: Reading, key: exp.Expr) -> bool | None:
    """Whether `from old to young` asks for a falling order of a key; None where nothing of that kind is said."""
    found = _FROM_TO.search(r.question)
    if found is None:
        return None
    word = found[1]
    adjective = adjectives().get(word, (None, ""))[0]
    if adjective is None and word not in _GREATEST | _LEAST:
        return None
    return _grows(_Asked(word, adjective), key)
