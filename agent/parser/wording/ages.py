"""Ages: stages of life, ages in a comparison, and dates of birth where no column holds an age."""

from __future__ import annotations

import re

from agent.parser.ages import birth_columns
from agent.parser.interpretation import Shape
from agent.parser.wording.rules import Known, Wording, rule
from eval.language.inflection import lemma
from eval.language.lexicon import word_set

_PEOPLE = word_set("woman man girl boy female male people person everyone everybody anyone anybody")
_MEANT = 0.75
"""The affinity from which on a word names a table, by its name or by a synonym."""
_STAGES = {
    "adult": "at least 18", "grown-up": "at least 18", "grownup": "at least 18", "minor": "less than 18",
    "underage": "less than 18", "teenager": "between 13 and 19", "teenage": "between 13 and 19",
    "pensioner": "at least 65",
}  # fmt: skip


@rule(
    r"\b(?P<who>[a-z]+) (?P<side>over|under|above|below) (?P<n>[1-9]\d?)(?=$|[,.?!;]| (?:and|or|but|who|that|which|"
    r"come|do|does|did|have|has|is|are|was|were|in|from|with|live|work|there)\b)(?! (?:and|or) (?:\d|over|under))",
    everywhere=True,
)
def passed_age(match: re.Match[str], known: Known) -> Wording | None:
    """`drivers over 40` as `drivers whose age is over 40`."""
    word, words = lemma(match["who"].lower()), known.vocabulary
    aged = [name for name in words.by_table if _has_ages(known, name)]
    if not (word in _PEOPLE and len(aged) == 1 and not any(word in t.words for t in words.tables.values())):
        named = [t.name for t in words.tables.values() if words.affinities(word).get(t.words[-1], 0.0) >= _MEANT]
        if not named or not set(named) <= set(aged):
            return None
    return Wording(f"{match['who']} whose age is {match['side']} {match['n']}")


@rule(rf"\b(?:(?:the|all|still|an?) )?(?P<stage>{'|'.join(_STAGES)})s?\b(?: (?P<who>[a-z]+s)\b)?")
def stage_of_life(match: re.Match[str], known: Known) -> Wording | None:
    """`adult students` as `students whose age is at least 18`, where their table holds an age."""
    stage = match["stage"].lower()
    if stage in known.vocabulary.holders or known.values.find(stage):
        return None
    aged = [table for name, table in known.vocabulary.tables.items() if _has_ages(known, name)]
    who, rest = known.table(match["who"]), ""
    if who is None and len(aged) == 1:
        who, rest = aged[0], f" {match['who']}" if match["who"] else ""
    if who is None or who not in aged:
        return None
    age = _STAGES[stage]
    return Wording(f"{who.plural} whose age is {age}{rest}", notes=(f"“{stage}” is taken as an age of {age} years",))


def _has_ages(known: Known, table: str) -> bool:
    columns = known.vocabulary.by_table[table]
    return bool(birth_columns(known.vocabulary, table)) or any(c.words == ("age",) and c.numeric for c in columns)


@rule(r"^how old (?:is|are|was|were) (?P<who>.+)$")
def how_old(match: re.Match[str], known: Known) -> Wording | None:
    """`how old are the drivers` as `age of the drivers`."""
    return Wording(f"age of {match['who']}") if _may_have_ages(known, match["who"]) else None


def _may_have_ages(known: Known, text: str) -> bool:
    """Whether one of the tables that a text names holds ages, or it names none: an order has no date of birth."""
    named = [table for word in re.findall(r"[a-z]+", text.lower()) if (table := known.table(word)) is not None]
    return not named or any(_has_ages(known, table.name) for table in named)


_AGE = re.compile(r"\bages?\b(?! (?:group|range|bracket|rating|limit|categor))", re.IGNORECASE)


@rule(rf"^(?P<text>.*{_AGE.pattern}.*)$")
def birth_date(match: re.Match[str], known: Known) -> Wording | None:
    """The date of birth in place of an age that is asked for, where no column holds one."""
    born = birth_columns(known.vocabulary)
    if not born or any("age" in c.words for c in known.vocabulary.columns.values()):
        return None
    if not _may_have_ages(known, match["text"]):
        return None
    text = _AGE.sub(" ".join(born[0].words), match["text"])
    return Wording(text, Shape("age"), ("ages are counted in full years until today",))
