"""Slang, contractions and set phrases in full words, and names for things that the schema calls otherwise."""

from __future__ import annotations

import re

from agent.parser.wording.rules import Known, Wording, replacements, rule
from eval.language.inflection import lemma

plain = replacements("slang")
"""The text with full words in place of slang, contractions and abbreviations."""


def set_phrases(text: str, _: Known) -> Wording | None:
    """`what'd u buy, pls` and the like, in full words."""
    new = plain(text)
    return Wording(new) if new != text else None


_NAMES = {"surname": "last name", "family name": "last name", "forename": "first name", "given name": "first name"}


@rule(rf"\b(?P<name>{'|'.join(_NAMES)})(?P<end>s?)\b", everywhere=True)
def person_names(match: re.Match[str], known: Known) -> Wording | None:
    """`surname` as `last name`, unless a column is called so."""
    name = match["name"].lower()
    if any(" ".join(c.words).endswith(name) for c in known.vocabulary.columns.values()):
        return None
    return Wording(f"{_NAMES[name]}{match['end']}")


@rule(
    r"\b(?P<kind>licen[cs]e|number) (?P<x>plates?)\b",
    r"\b(?P<x>e-?mails?) (?P<kind>add?ress)(?:es)?\b",
    r"\b(?P<x>(?:tele|mobile )?phone|mobile|fax) (?P<kind>number)s?\b",
)
def short_name(match: re.Match[str], known: Known) -> Wording | None:
    """`licence plate`, `email address`, `phone number` as `plate`, `email`, `phone`, where a column is called so."""
    said = match["x"].lower().replace("-", "").replace("telephone", "phone")
    name, kind = lemma(said), lemma(match["kind"].lower())
    called = [c.words for c in known.vocabulary.columns.values() if name in c.words]
    if all(kind in words for words in called) or (name == "plate" and any("license" in words for words in called)):
        return None
    if kind == "number" and (name,) not in called:
        return None
    return Wording(said, notes=(f"{match[0].lower()}: the {said}",))
