"""Questions about what the rows of one file are: transactions, answers of people, things that something happened to.

In: a question to a database of one table. Out: the question in the words of the table and its columns.
"""

from __future__ import annotations

import re

from agent.knowledge.vocabulary import ColumnWord, TableWord
from agent.parser.persons import people_of, person_of, person_word, personal
from agent.parser.units import UNITS
from agent.parser.wording.rules import EVENTS, MONTH, QUANTITIES, Known, Wording, as_said, each_row, file_rule, sole
from eval.language.inflection import lemma, root
from eval.language.lexicon import FUNCTION_WORDS, word_set

_OF_EACH_ROW = word_set("type kind status state date time amount value total description category method")
"""What a column is of its row: the rows of a file with a `Transaction type` are transactions."""
_HAPPENED = re.compile(
    r" (?:per|by|for each|did|does|has|have|had|was|were|in|on|since|last|this)\b(?! there)", re.IGNORECASE
)
_PARTS = ("sheet", "file", "part")
"""Columns that say from which of several sheets or files of one form a row is."""
_ANSWERS = word_set("respondent response answer survey questionnaire form feedback reply rsvp signup registration")
_ASKED = r"(?:people|persons?|respondents|participants|individuals|of them|of us)"
_SAID = re.compile(
    r"(?:(?:who|that) )?(?P<aux>(?:would|do|did|does|can|could|will|are|were|have|has)(?: not|n't)? )?(?P<verb>[a-z]+)"
    r"(?P<rest>(?: [a-z' -]{1,200})?)",
    re.IGNORECASE,
).fullmatch


def _is_amount(column: ColumnWord) -> bool:
    """Whether a number is measured or money, and no count of things."""
    unit = column.column.values.unit if column.column.values is not None else None
    return re.search(r"int", column.column.type, re.IGNORECASE) is None or bool(unit and not unit.isalpha())


@file_rule(r"\b(?P<ask>how many|number of|count(?: of)?(?: the| all)?) (?P<x>[a-z]+s)\b(?! (?:of|per) day)")
def rows_by_column(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`how many transactions` as `how many statements`, where a column is called `Transaction type`, and `how many
    results`, where the results are figures that nobody counts; different things are told apart from rows."""
    word = lemma(match["x"].lower())
    figures = {c.words: c for c in known.figures()}
    if (word,) in figures and word not in UNITS and _is_amount(figures[word,]):
        return Wording(f"{match['ask']} {table.plural}")
    if (named := known.table(match["x"])) is not None:
        again = not person_word(word) and _HAPPENED.match(match.string[match.end() :])  # how many tests per patient
        also = named is not table and (again or word in known.file_words.union(table.words))
        what = f"different {named.plural} are counted; ask for the number of rows if these are meant"
        return Wording(match[0], doubt=what) if also else None
    holders = known.vocabulary.holders.get(word, ())
    rows = f"{match['ask']} {table.plural}"
    if not holders and any(root(word) == root(w) for c in _dates(known) for w in c.words):
        return Wording(rows)  # what was measured at a time is a measurement
    if not holders or word in table.words or not all(h.words[0] == word and len(h.words) > 1 for h in holders):
        return None
    if amount := next((c for words, c in figures.items() if words in QUANTITIES), None):
        of = " ".join(amount.words)
        return Wording(f"total {of}", doubt=f"“{match['x']}” are counted by {amount.name}; ask for rows if not")
    if word in EVENTS and all(_OF_EACH_ROW & set(h.words[1:]) for h in holders):
        return Wording(rows)
    of_rows = all(_OF_EACH_ROW & set(h.words[1:]) or (isinstance(h, ColumnWord) and h.numeric) for h in holders)
    return Wording(rows, doubt=f"“{match['x']}” is taken as the rows of the file") if of_rows else None


@file_rule(r"\b(?P<by>per|by|for each|for every|in each|of each|across) (?:the )?(?P<x>[a-z]+)\b(?! (?:of|per)\b)")
def by_part(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`sales per branch` as `sales per sheet`, where `branch` is in the name of the file alone, and never as sales by
    row."""
    word = lemma(match["x"].lower())
    if word not in table.words[:-1] or word == table.words[-1]:
        return None
    columns = known.vocabulary.columns.values()
    if any(word in c.words for c in columns):
        return None
    part = next((c.name for c in columns if c.words in {(p,) for p in _PARTS} and c.role == "text"), None)
    if part is None:
        return Wording(match[0], doubt=f"“{match['x']}” is in the name of the file alone; name a column to group by")
    return Wording(f"{match['by']} {part.lower()}", doubt=f"“{match['x']}” is taken as the {part} that a row is from")


@file_rule(rf"\b(?P<ask>how many|number of|which|what (?:share|percentage|percent) of) (?P<x>{_ASKED})\b(?! per\b)")
def people_who_answered(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`how many people` as `how many responses`, where each row is somebody's answer, or somebody by name."""
    are_people = _ANSWERS & known.file_words.union(table.words) or person_word(table.words[-1])
    named = personal(known.vocabulary, table.name) and each_row(table, known, ("name",), ("full", "name"))
    are_people = are_people or named
    if not are_people or known.stored(lemma(match["x"].lower())):
        return None
    return Wording(f"{match['ask']} {table.plural}")


@file_rule(r"^(?P<ask>how many|number of|which) (?P<what>.+)$")
def said_yes(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`how many responses would recommend us` as `… with recommend yes`, where a column of that word holds yes and
    no."""
    what, rows = match["what"], table.plural
    said = _SAID(what[len(rows) + 1 :]) if what.lower().startswith(f"{rows} ") else None
    if said is None:
        return None
    called = sole(c for c in known.vocabulary.by_table[table.name] if lemma(said["verb"].lower()) in c.words)
    if called is None or called.role != "text":
        return None
    if not {"yes", "no"} <= {v.casefold() for v in known.values.values(*called.key)}:
        return None
    header = set(re.findall(r"[a-z]+", (called.column.comment or "").lower()))
    words = said["rest"].split()
    further = (i for i, word in enumerate(words) if word.lower() not in header | FUNCTION_WORDS)
    rest = " ".join(words[max(0, next(further, len(words) + 1) - 1) :])
    answer = "no" if re.search(r"n't| not", said["aux"] or "") else "yes"
    return Wording(f'{match["ask"]} {rows} with {" ".join(called.words)} "{answer}" {rest}'.strip())


def _dates(known: Known) -> list[ColumnWord]:
    return [c for c in known.vocabulary.columns.values() if c.role == "date"]


@file_rule(
    r"(?<!with )(?<!the )(?<!by )(?<!per )\b(?:(?:that|which) )?(?:(?:is|are|was|were) )?(?P<x>[a-z]+)"
    r"(?= (?:in|on|before|after|by|between|this|next|last) )"
)
def dated_by_column(match: re.Match[str], known: Known, _: TableWord) -> Wording | None:
    """`how many tasks are due in May` as `how many tasks with due in May`, where a date is called so."""
    said = match["x"].lower()
    called = sole(name for c in _dates(known) if (name := as_said(c)) in (said, f"{said} date"))
    asks = match.string[: match.start()].strip()
    return Wording(f"with {called}") if called is not None and asks else None


def _date_of(verb: str, known: Known) -> ColumnWord | None:
    return next((c for c in _dates(known) if root(verb) in map(root, c.words)), None)


@file_rule(
    r"^(?P<ask>how many|which) (?P<x>[a-z]+s) (?=(?:have|has|had|were|was|are|is)(?: not| never)?(?: yet)?(?: been)? "
    r"(?P<verb>[a-z]+)\b)",
    r"^(?P<ask>who) (?P<verb>[a-z]+) the (?P<most>most|fewest|least) (?P<x>[a-z]+s)(?= |$)",
    r"^(?P<ask>which|what) (?P<x>[a-z]+)(?: was| is| has been| got)? (?P<verb>[a-z]+) "
    r"(?:the )?(?P<most>most|least)(?: often)?(?= |$)",
)
def rows_of_things(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`how many books have not been returned` as `how many loans …`, `who borrowed the most books` as `which borrower
    has the most loans`: what happened on a date happened to rows, and a book is a column of theirs."""
    thing = known.table(match["x"])
    date = _date_of(match["verb"].lower(), known)
    if thing is None or thing is table or date is None:
        return None
    if match["ask"].lower() == "how many":
        return Wording(f"how many {table.plural} ")
    if not match.groupdict().get("most"):
        return None
    most = "most" if match["most"].lower() == "most" else "fewest"
    who = person_of(known.vocabulary, table.name) if match["ask"].lower() == "who" else " ".join(thing.words)
    done = f"{match['verb']} " if known.values.facts(*date.key).nulls else ""  # tickets that are not closed yet
    return Wording(f"which {who} has the {most} {done}{table.plural}") if who else None


@file_rule(rf"\b(?:in|for|during|of) (?P<month>{MONTH}|q[1-4])\b(?! \d)")
def month_of_part(match: re.Match[str], known: Known, _: TableWord) -> Wording | None:
    """`in February` as `with month "February"`, where no date is there and a column of text holds the months (`Q3`: the
    quarters)."""
    if _dates(known):
        return None
    for hit in known.values.find(match["month"].lower()):
        column = known.vocabulary.columns.get((hit.table, hit.column))
        if column is not None and column.words[-1] in ("month", "quarter"):
            return Wording(f'with {" ".join(column.words)} "{match["month"].capitalize()}"')
    return None


@file_rule(r"^who (?!is\b|are\b|was\b|were\b).+$")
def one_of_several(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`who spent the most minutes`, `who closed T4`, where each row has an engineer and a customer."""
    people = sorted(people_of(known.vocabulary, table.name))
    if len(people) < 2:
        return None
    return Wording(match[0], doubt=f"“who” may be the {' or the '.join(people)}; ask for the one that is meant")


@file_rule(r"(?<=[a-z] )(?:(?:that|which) )?(?:is|are|was|were) (?P<x>[a-z]+ [a-z]+)$")
def is_flagged(match: re.Match[str], known: Known, _: TableWord) -> Wording | None:
    """`plants that are in stock` as `plants with stock`, where a column of yes and no is called so."""
    said = match["x"].lower()
    flag = sole(c for c in known.vocabulary.columns.values() if c.role == "flag" and as_said(c) == said)
    return Wording(f"with {' '.join(flag.words)}") if flag is not None else None
