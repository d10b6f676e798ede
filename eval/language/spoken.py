"""Whether a question is in English, as far as its letters and its small words tell.

In: a text. Out: False where it is in another language; True where nothing tells of one. A name in foreign letters or
words does not make a question foreign: its small words decide, or many of its letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from eval.language.lexicon import word_set

ENGLISH = "en"
_SMALL_WORDS = {
    "en": """the a an of in on at for to from by with and or is are was were do does did how many much what which who
        whose where when show list give find me all each every per that have has had there their it not than more most
        total average number over under between""",
    "de": """der die das den dem des ein eine einen einem einer wie viele viel was welche welcher welches welchen wer
        wo wann zeige gib nenne liste mir alle jede jeder jedes pro und oder ist sind war waren hat haben hatte gibt es
        von im in mit für aus bei nach nicht mehr als kein keine insgesamt durchschnitt anzahl über unter zwischen""",
    "es": """el la los las un una unos unas de del en con por para que qué cuál cuáles cuántos cuántas cuánto cuánta
        quién quiénes dónde cuándo muestra dame lista todos todas cada y o es son fue fueron hay tiene tienen han no más
        menos total promedio número entre sobre""",
    "fr": """le la les un une des du de en dans avec par pour que quel quelle quels quelles combien qui où quand montre
        donne liste moi tous toutes chaque et ou est sont était étaient il y a ont pas plus moins total moyenne nombre
        entre sur au aux""",
    "it": """il lo la gli le un una di del della dei delle in con per che quale quali quanti quante quanto chi dove
        quando mostra dammi elenca tutti tutte ogni e o è sono era ci hanno ha non più meno totale media numero tra""",
    "pt": """o os as um uma de do da dos das em no na com por para que qual quais quantos quantas quanto quem onde
        quando mostre liste todos todas cada e ou é são foi há tem têm não mais menos total média número entre""",
    "nl": """de het een van in met voor door wie wat welke waar wanneer hoeveel toon geef lijst alle elke per en of is
        zijn was waren er heeft hebben niet meer dan minder totaal gemiddelde aantal tussen""",
}  # fmt: skip
_WORDS = {code: word_set(text) for code, text in _SMALL_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")
_LETTER = re.compile(r"[^\W\d_]")
_NOT_LATIN = re.compile(r"[^\W\d_A-Za-z\u00aa-\u024f]")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“]*“|«[^»]*»|(?<!\w)'[^']*'(?!\w)")
_READ = 2_000
"""Characters that are looked at."""
_LEAD = 2
"""Small words by which another language has to lead English."""

READS_ENGLISH = "Without a language model, questions are read in English only. Ask it in English, or set up a model."
"""What the engine without a model says to a question in another language."""


@lru_cache(maxsize=512)
def is_english(text: str) -> bool:
    """Whether nothing tells of another language."""
    plain = _QUOTED.sub(" ", text[:_READ])
    if len(_NOT_LATIN.findall(plain)) * 3 > len(_LETTER.findall(plain)):
        return False
    words = [w.casefold() for w in _WORD.findall(plain)]
    counts = {code: sum(w in known for w in words) for code, known in _WORDS.items()}
    english = counts.pop(ENGLISH)
    return max(counts.values()) < english + _LEAD


def without_names(text: str, names: Iterable[str]) -> str:
    """The text without the words of these names, which tell of no language: `total 销量 by 城市`."""
    known = {word.casefold() for name in names for word in _WORD.findall(name)}
    return _WORD.sub(lambda word: "" if word[0].casefold() in known else word[0], text)
