"""Questions about the figures of one file: how much was paid, who gave the most, the average of what a row is.

In: a question to a database of one table. Out: the question in the words of the table and its columns.
"""

from __future__ import annotations

import re

from agent.knowledge.vocabulary import TableWord
from agent.parser.persons import person_of
from agent.parser.wording.amounts import amount_of
from agent.parser.wording.rules import (
    QUANTITIES,
    SINCE,
    Known,
    Wording,
    as_said,
    each_row,
    extreme,
    file_rule,
    rule,
    sole,
    summed,
)
from eval.language.inflection import lemma, root
from eval.language.lexicon import word_set

_MONEY = r"(?: money| cash)?"
_SUBJECT = r"(?:i|we|they|you|people|the (?:team|club|school|shop|company))"
_AND_THEN = re.compile(rf"(?: (?:altogether|in total|overall|in all))?{SINCE}", re.IGNORECASE).fullmatch
_OF_FIGURES = word_set("average avg mean median total sum highest lowest maximum minimum max min biggest smallest the")
_MORE = r"(?:over|under|above|below|more than|less than|fewer than|at least|at most|up to|exactly|[a-z]{2,7}er than)"
_SMALLER = word_set("shorter lighter smaller lower cheaper younger narrower thinner cooler colder")
_SAME = 0.95


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
            called = as_said(column)
            rest = _AND_THEN(said[len(called) :]) if said.casefold().startswith(called) else None
            if rest is not None and known.table(called) is None:
                return Wording(f"total {called}{rest['rest']}")
    return None


@file_rule(
    r"^(?:who|which (?P<who>[a-z]+)) (?:has |have )?(?:gave|given|donated|contributed|pledged|raised|bought|purchased) "
    rf"(?:us )?(?:the )?(?P<most>most|least){_MONEY}{SINCE}$"
)
def who_gave_most(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`who gave the most` as `which donor has the highest total amount`."""
    amount = amount_of(known, table.name)
    who = match["who"] or person_of(known.vocabulary, table.name)
    if amount is None or not who:
        return None
    return Wording(f"which {who} has the {extreme(match['most'])} {summed(amount)}{match['rest']}")


@file_rule(r"(?P<x>[a-z]+) ?\b", everywhere=True)
def noun_of_file(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`the highest maths mark` as `the highest maths`, `average order total` as `average total`: what a row is says
    nothing more beside a number's whole name."""
    word = lemma(match["x"].lower())
    if word not in known.file_words.union(table.words) and not each_row(table, known, (word,)):
        return None
    before, after = match.string[: match.start()].lower().split(), match.string[match.end() :].lower().split()
    figures = {c.words for c in known.figures()}
    columns = known.vocabulary.columns.values()
    counted = len(before) > 1 and before[-2].isdecimal()  # 4 cylinder cars
    ends = len(before) > 0 and before[-1] not in _OF_FIGURES and (lemma(before[-1]),) in figures
    ends = ends and not counted and match["x"].strip().lower() == word
    ends = ends and not any(word in c.words for c in columns)
    begins = bool(before and after) and before[-1] in _OF_FIGURES and (lemma(after[0]),) in figures
    begins = begins and not any(c.words[:2] == (word, lemma(after[0])) for c in columns)
    return Wording("") if ends or begins else None


@rule(rf"\b(?P<cmp>{_MORE}) (?P<n>\d[\d.,]{{0,12}}) ?(?P<unit>[^\W\d_]{{1,12}}|%|°[a-z])(?=$|[?.! ])")
def with_unit(match: re.Match[str], known: Known) -> Wording | None:
    """`players over 85 kg` as `players with weight over 85`, where the cells of one column are in kg."""
    unit = match["unit"].lower()
    measured = sole(c for c in known.figures() if c.column.values and (c.column.values.unit or "").lower() == unit)
    before = {lemma(word) for word in re.findall(r"[a-z]+", match.string[: match.start()].lower())}
    if measured is None or any(set(c.words) & before for c in known.figures()):
        return None
    cmp = match["cmp"].lower()
    if cmp.endswith("er than") and cmp != "fewer than":
        cmp = "under" if cmp.split()[0] in _SMALLER else "over"
    return Wording(f"with {' '.join(measured.words)} {cmp} {match['n']}")


@rule(
    r"^how much(?: money)? (?:did|do|does|has|have) (?:each|every) (?P<who>[a-z]+(?: [a-z]+)?) "
    rf"(?P<verb>pay|paid|spend|spent|give|given|gave|donate|donated)(?: us)?(?: in total| altogether)?{SINCE}$"
)
def what_each_paid(match: re.Match[str], known: Known) -> Wording | None:
    """`how much did each member type pay` as `total amount per type`, where one table has what was paid."""
    amount = sole(c for t in known.vocabulary.tables if (c := amount_of(known, t)) is not None)
    words = tuple(map(lemma, match["who"].lower().split()))
    if amount is None:
        return None
    owner = known.table(words[0])
    if len(words) == 2 and owner is not None and (owner.name, words[1:]) in _names(known):
        words = words[1:] if sum(name == words[1:] for _, name in _names(known)) == 1 else words
    elif known.table(match["who"]) is None:
        return None
    return Wording(f"{summed(amount)} per {' '.join(words)}{match['rest']}")


def _names(known: Known) -> list[tuple[str, tuple[str, ...]]]:
    return [(c.table, c.words) for c in known.vocabulary.columns.values()]


@file_rule(r"\b(?P<x>[a-z]+) (?:amount|total|value)\b")
def one_figure_of_two(match: re.Match[str], known: Known, _: TableWord) -> Wording | None:
    """`net amount` as `net`, where a number is called so, and none by both words."""
    words = tuple(map(lemma, match[0].lower().split()))
    figures = {c.words for c in known.figures()}
    return Wording(match["x"]) if words[:1] in figures and words not in figures else None


@file_rule(
    rf"\b(?P<f>average|avg|mean|median|total|highest|lowest|biggest|smallest) (?P<x>[a-z]+){SINCE}$",
    r"\b(?P<f>average|avg|mean|median|total|highest|lowest|biggest|smallest) (?P<x>[a-z]+)(?P<rest> (?:at|by|per) .+)$",
)
def figure_of_rows(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`the highest reading at the depot` as `the highest consumption at the depot`, where a reading is a row and has
    one figure."""
    word, figure = lemma(match["x"].lower()), sole(known.figures())
    if figure is None or word != table.words[-1] or word in figure.words:
        return None
    return Wording(f"{match['f']} {' '.join(figure.words)}{match['rest']}")


@file_rule(
    r"^(?:how many|number of) (?:people|persons|visitors|guests|members|participants) (?P<x>[a-z]+)\b"
    r"(?: in total)?(?P<rest>(?: (?:in|on|at|by|per|since|during|this|last) .+)?)$"
)
def people_counted(match: re.Match[str], known: Known, _: TableWord) -> Wording | None:
    """`how many people attended in March` as `total attended in March`, where a number is called so."""
    said = root(match["x"].lower())
    figure = sole(c for c in known.figures() if len(c.words) == 1 and root(c.words[0]) == said)
    return Wording(f"total {figure.words[0]}{match['rest']}") if figure is not None else None


@file_rule(
    rf"^how much(?: money)? (?:did|has|have) (?P<who>(?!i\b|we\b|they\b|you\b|each\b|every\b).+?) "
    rf"(?:pay|paid|spend|spent|give|given|donate|donated|raise|raised|claim|claimed|earn|earned)"
    rf"(?: in total| altogether)?{SINCE}$"
)
def what_one_paid(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`how much did Sam pay` as `total amount for Sam`, where the file has amounts and Sam is one of its values."""
    amount = amount_of(known, table.name)
    if amount is None or not known.values.find(match["who"].lower()):
        return None
    return Wording(f"{summed(amount)} for {match['who']}{match['rest']}")


@rule(
    r"^(?P<ask>who|which (?P<who>[a-z]+)) (?:has |have )?(?:used|consumed|produced|generated|bought|sold|ordered|"
    rf"booked) (?:the )?(?P<most>most|least|fewest)(?: (?P<x>[a-z]+))?{SINCE}$"
)
def most_of_the_figure(match: re.Match[str], known: Known) -> Wording | None:
    """`which site used the most energy` as `which site has the highest total consumption`, where that is the one
    figure; `who bought the most tickets` by its quantity."""
    table, said = known.only_table, (match["x"] or "").lower()
    figures = {c.words: c for c in known.figures()}
    quantity = [c for words, c in figures.items() if words in QUANTITIES]
    figure = sole(quantity if said and quantity else figures.values())
    who = match["who"] or (person_of(known.vocabulary, table.name) if table is not None else "")
    if not who or figure is None or known.table(said) is not None or any(lemma(said) in words for words in figures):
        return None
    taken = f"the {extreme(match['most'])} total {' '.join(figure.words)}"
    told = f"“{match['most']} {said}” is taken as {taken}"
    return Wording(f"which {who} has {taken}{match['rest']}", doubt=told)


@file_rule(r"\b(?P<f>average|avg|mean|median|total|highest|lowest|maximum|minimum) (?P<v>[a-z0-9-]+) (?P<x>[a-z]+)\b")
def figure_of_value(match: re.Match[str], known: Known, _: TableWord) -> Wording | None:
    """`average glucose result` as `average result for glucose`, where a column holds that value."""
    value, figures = match["v"].lower(), {c.words for c in known.figures()}
    if (lemma(match["x"].lower()),) not in figures:
        return None
    if value in known.vocabulary.holders or lemma(value) in known.vocabulary.holders:
        return None
    holds = any(h.score > _SAME for h in known.values.find(value))
    return Wording(f"{match['f']} {match['x']} for {match['v']}") if holds else None


@file_rule(r"\btotal (?P<x>[a-z]+)\b(?! of\b)")
def total_of_part(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`total rent` as `total rent pcm`, where one number has the word in its name, as the file has."""
    word = lemma(match["x"].lower())
    if word not in table.words or len(table.words) < 2:
        return None
    figure, whole = sole(c for c in known.figures() if word in c.words), known.table(match["x"])
    if figure is None or figure.words == (word,) or (whole is not None and whole.words == (word,)):
        return None
    return Wording(f"total {' '.join(figure.words)}")


@file_rule(rf"^how much (?P<x>[a-z]+(?: [a-z]+)?) (?:did|have|has) {_SUBJECT} [a-z]+{SINCE}$")
def how_much_of_named(match: re.Match[str], known: Known, _: TableWord) -> Wording | None:
    """`how much tax did we collect` as `total tax`."""
    words = tuple(map(lemma, match["x"].lower().split()))
    called = sole(c for c in known.figures() if c.words == words)
    return Wording(f"total {match['x']}{match['rest']}") if called is not None else None


@file_rule(
    r"^(?:(?:which|what) (?:is|was) )?(?:the )?(?P<most>most|least) (?P<verb>[a-z]+(?:ed|en|ld|ght|nt)) (?P<x>[a-z]+)$"
)
def most_by_verb(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`most downloaded episode` as `which episode has the highest downloads`, where one number is called like the
    verb."""
    verb, thing = root(match["verb"].lower()), known.table(match["x"])
    figure = sole(c for c in known.figures() if any(root(word) == verb for word in c.words))
    if thing is None or figure is None:
        return None
    total = "" if thing is table else "total "
    return Wording(f"which {match['x']} has the {extreme(match['most'])} {total}{' '.join(figure.words)}")


@file_rule(r"\b(?P<figure>(?:average|avg|mean) (?P<x>[a-z]+(?: [a-z]+)?)) per (?P<row>[a-z]+)$")
def average_per_row(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`average miles per trip` as `average miles`, where a trip is a row, or nothing is called so and a row may be
    one."""
    words = tuple(map(lemma, match["x"].lower().split()))
    if known.table(match["row"]) is table and any(c.words == words for c in known.figures()):
        return Wording(match["figure"])
    if known.stored(lemma(match["row"].lower())) or known.table(match["row"]) is not None:
        return None
    if any(match["row"].lower() in c.name.casefold() for c in known.vocabulary.columns.values()):
        return None
    if not any(c.words == words for c in known.figures()):
        return None
    return Wording(match["figure"], doubt=f"“{match['row']}” is taken as a row of the file")
