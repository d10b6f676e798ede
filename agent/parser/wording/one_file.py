"""Questions about the rows of one file: how many of what its columns are about, and what was paid, charged, given.

In: a question to a database of one table. Out: the question in the words of the table and its columns.
"""

from __future__ import annotations

import re

from agent.parser.persons import person_of
from agent.parser.wording.amounts import amount_of
from agent.parser.wording.rules import EVENTS, SINCE, Known, Wording, rule
from eval.language.inflection import lemma
from eval.language.lexicon import word_set

_OF_EACH_ROW = word_set("type kind status state date time amount value total description category method")
"""What a column is of its row: the rows of a file with a `Transaction type` are transactions."""
_MONEY = r"(?: money| cash)?"
_SUBJECT = r"(?:i|we|they|you|people|the (?:team|club|school|shop|company))"


@rule(r"\b(?P<ask>how many|number of|count(?: of)?(?: the| all)?) (?P<x>[a-z]+s)\b(?! (?:of|per) day)")
def rows_by_column(match: re.Match[str], known: Known) -> Wording | None:
    """`how many transactions` as `how many statements`, where a column is called `Transaction type`."""
    table, word = known.only_table(), lemma(match["x"].lower())
    if table is None or word not in EVENTS or word in table.words or known.table(match["x"]) is not None:
        return None
    holders = known.vocabulary.holders.get(word, ())
    of_rows = [h.words[0] == word and bool(_OF_EACH_ROW & set(h.words[1:])) for h in holders]
    return Wording(f"{match['ask']} {table.plural}") if of_rows and all(of_rows) else None


@rule(
    rf"^how much{_MONEY} (?:(?:was|were|is|are|has been|have been) |(?:did|do|does|have|has) {_SUBJECT} )"
    r"(?P<verb>(?:charged?|paid?|spen[td]|cost|get|got|made?|make|received?|took|take|raised?|claimed?) )?"
    r"(?:(?:for|on|as|from) )?(?:the )?(?P<what>.+)$"
)
def how_much_of_column(match: re.Match[str], known: Known) -> Wording | None:
    """`how much did we charge for shipping altogether` as `total shipping`, `how much was paid in in March` as `total
    paid in in March`: what follows is a number's very name."""
    for said in (f"{match['verb'] or ''}{match['what']}", match["what"]):
        for column in known.figures():
            called = re.sub(r"[\W_]+", " ", column.name).strip().casefold()
            rest = _AND_THEN(said[len(called) :]) if said.casefold().startswith(called) else None
            if rest is not None and known.table(called) is None:
                return Wording(f"total {called}{rest['rest']}")
    return None


_AND_THEN = re.compile(rf"(?: (?:altogether|in total|overall|in all))?{SINCE}", re.IGNORECASE).fullmatch


@rule(
    r"^(?:who|which (?P<who>[a-z]+)) (?:has |have )?(?:gave|given|donated|contributed|pledged|raised) "
    rf"(?:us )?(?:the )?(?P<most>most|least){_MONEY}{SINCE}$"
)
def who_gave_most(match: re.Match[str], known: Known) -> Wording | None:
    """`who gave the most` as `which donor has the highest total amount`."""
    table = known.only_table()
    amount = amount_of(known, table.name) if table is not None else None
    who = match["who"] or (person_of(known.vocabulary, table.name) if table is not None else "")
    if amount is None or not who:
        return None
    end = "highest" if match["most"].lower() == "most" else "lowest"
    words = " ".join(amount.words)
    return Wording(f"which {who} has the {end} {'' if 'total' in words else 'total '}{words}{match['rest']}")


_PARTS = ("sheet", "file", "part")
"""Columns that say from which of several sheets or files of one form a row is."""


@rule(r"\b(?P<by>per|by|for each|for every|in each|of each|across) (?:the )?(?P<x>[a-z]+)\b(?! (?:of|per)\b)")
def by_part(match: re.Match[str], known: Known) -> Wording | None:
    """`sales per branch` as `sales per sheet`, where `branch` is in the name of the file alone, and never as sales by
    row."""
    table, word = known.only_table(), lemma(match["x"].lower())
    if table is None or word not in table.words[:-1] or word == table.words[-1]:
        return None
    columns = known.vocabulary.columns.values()
    if any(word in c.words for c in columns):
        return None
    part = next((c.name for c in columns if c.words in {(p,) for p in _PARTS} and c.role == "text"), None)
    if part is None:
        return Wording(match[0], doubt=f"“{match['x']}” is in the name of the file alone; name a column to group by")
    return Wording(f"{match['by']} {part.lower()}", doubt=f"“{match['x']}” is taken as the {part} that a row is from")
