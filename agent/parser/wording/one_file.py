"""Questions about the rows of one file: how many of what its columns are about, and what was paid, charged, given.

In: a question to a database of one table. Out: the question in the words of the table and its columns.
"""

from __future__ import annotations

import re

from agent.parser.persons import person_of
from agent.parser.wording.amounts import amount_of
from agent.parser.wording.rules import EVENTS, SINCE, Known, Wording, rule
from eval.language.inflection import lemma
from eval.language.lexicon import FUNCTION_WORDS, word_set

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
    r"^(?:who|which (?P<who>[a-z]+)) (?:has |have )?(?:gave|given|donated|contributed|pledged|raised|bought|purchased) "
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


_OF_FIGURES = word_set("average avg mean median total sum highest lowest maximum minimum max min biggest smallest the")


@rule(r"(?P<x>[a-z]+) ?\b", everywhere=True)
def noun_of_file(match: re.Match[str], known: Known) -> Wording | None:
    """`the highest maths mark` as `the highest maths`, `average order total` as `average total`: what a row is says
    nothing more beside a number's whole name."""
    table, word = known.only_table(), lemma(match["x"].lower())
    if table is None or word not in known.file_words.union(table.words):
        return None
    before, after = match.string[: match.start()].lower().split(), match.string[match.end() :].lower().split()
    figures = {c.words for c in known.figures()}
    columns = known.vocabulary.columns.values()
    ends = bool(before) and before[-1] not in _OF_FIGURES and (lemma(before[-1]),) in figures
    ends = ends and not any(word in c.words for c in columns)
    begins = bool(before and after) and before[-1] in _OF_FIGURES and (lemma(after[0]),) in figures
    begins = begins and not any(c.words[:2] == (word, lemma(after[0])) for c in columns)
    return Wording("") if ends or begins else None


_MORE = r"(?:over|under|above|below|more than|less than|fewer than|at least|at most|up to|exactly)"


@rule(rf"\b(?P<cmp>{_MORE}) (?P<n>\d[\d.,]{{0,12}}) ?(?P<unit>[^\W\d_]{{1,12}}|%|°[a-z])(?=$|[?.! ])")
def with_unit(match: re.Match[str], known: Known) -> Wording | None:
    """`players over 85 kg` as `players with weight over 85`, where the cells of one column are in kg."""
    unit = match["unit"].lower()
    columns = [c for c in known.figures() if c.column.values and (c.column.values.unit or "").lower() == unit]
    before = {lemma(word) for word in re.findall(r"[a-z]+", match.string[: match.start()].lower())}
    if len(columns) != 1 or any(set(c.words) & before for c in known.figures()):
        return None
    return Wording(f"with {' '.join(columns[0].words)} {match['cmp']} {match['n']}")


@rule(
    r"^how much(?: money)? (?:did|do|does|has|have) (?:each|every) (?P<who>[a-z]+(?: [a-z]+)?) "
    rf"(?P<verb>pay|paid|spend|spent|give|given|gave|donate|donated)(?: us)?(?: in total| altogether)?{SINCE}$"
)
def what_each_paid(match: re.Match[str], known: Known) -> Wording | None:
    """`how much did each member type pay` as `total amount per type`, where one table has what was paid."""
    paid = [(c, t) for t in known.vocabulary.tables if (c := amount_of(known, t)) is not None]
    words = tuple(map(lemma, match["who"].lower().split()))
    if len(paid) != 1:
        return None
    owner = known.table(words[0])
    if len(words) == 2 and owner is not None and (owner.name, words[1:]) in _names(known):
        words = words[1:] if sum(name == words[1:] for _, name in _names(known)) == 1 else words
    elif known.table(match["who"]) is None:
        return None
    amount = " ".join(paid[0][0].words)
    return Wording(f"{'' if 'total' in amount else 'total '}{amount} per {' '.join(words)}{match['rest']}")


def _names(known: Known) -> list[tuple[str, tuple[str, ...]]]:
    return [(c.table, c.words) for c in known.vocabulary.columns.values()]


_ANSWERS = word_set("response answer survey questionnaire form feedback reply rsvp signup registration")
_ASKED = r"(?:people|persons?|respondents|participants|individuals|of them|of us)"


@rule(rf"\b(?P<ask>how many|number of|which|what (?:share|percentage|percent) of) (?P<x>{_ASKED})\b(?! per\b)")
def people_who_answered(match: re.Match[str], known: Known) -> Wording | None:
    """`how many people` as `how many responses`, where each row is somebody's answer."""
    table = known.only_table()
    if table is None or not _ANSWERS & set(table.words) or known.stored(lemma(match["x"].lower())):
        return None
    return Wording(f"{match['ask']} {table.plural}")


_SAID = re.compile(
    r"(?:(?:who|that) )?(?P<aux>(?:would|do|did|does|can|could|will|are|were|have|has)(?: not|n't)? )?(?P<verb>[a-z]+)"
    r"(?P<rest>(?: [a-z' -]{1,200})?)",
    re.IGNORECASE,
).fullmatch


@rule(r"^(?P<ask>how many|number of|which) (?P<what>.+)$")
def said_yes(match: re.Match[str], known: Known) -> Wording | None:
    """`how many responses would recommend us` as `… with recommend yes`, where a column of that word holds yes and
    no."""
    table, what = known.only_table(), match["what"]
    rows = table.plural if table is not None else ""
    said = _SAID(what[len(rows) + 1 :]) if what.lower().startswith(f"{rows} ") else None
    if table is None or said is None:
        return None
    called = [c for c in known.vocabulary.by_table[table.name] if lemma(said["verb"].lower()) in c.words]
    held = {v.casefold() for c in called if c.role == "text" for v in known.values.values(*c.key)}
    if len(called) != 1 or not {"yes", "no"} <= held:
        return None
    header = set(re.findall(r"[a-z]+", (called[0].column.comment or "").lower()))
    words = said["rest"].split()
    further = (i for i, word in enumerate(words) if word.lower() not in header | FUNCTION_WORDS)
    rest = " ".join(words[max(0, next(further, len(words) + 1) - 1) :])
    answer = "no" if re.search(r"n't| not", said["aux"] or "") else "yes"
    return Wording(f'{match["ask"]} {rows} with {" ".join(called[0].words)} "{answer}" {rest}'.strip())
