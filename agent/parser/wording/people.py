"""Superiors: rows that refer to rows of their own table, such as employees and their managers."""

from __future__ import annotations

import re

from agent.knowledge.vocabulary import ColumnWord, TableWord
from agent.parser.persons import SERVING, called_person
from agent.parser.wording.rules import Known, Wording, rule
from eval.language.inflection import lemma, plural

_REPORT = r"report(?:s|ed|ing)? (?:directly )?to"


@rule(
    r"^(?:who is (?:the )?(?:boss|manager|supervisor|superior) of (?:each|every|all(?: the| our)?) (?P<x>[a-z]+?)s?"
    r"|(?:who|whom) (?:does|do) (?:each|every|all(?: the| our)?) (?P<y>[a-z]+?)s? report to)[?.! ]*$"
)
def bosses(match: re.Match[str], known: Known) -> Wording | None:
    """`who is the boss of each driver` as `drivers and their managers`."""
    who = (match["x"] or match["y"]).lower()
    return Wording(f"{plural(who)} and their manager") if known.table(who) is not None else None


def _superior(known: Known) -> tuple[str, str]:
    """The rows that refer to rows of their own table, and the name of the column that does."""
    for name, table in known.vocabulary.tables.items():
        for key in table.table.foreign_keys:
            column = known.vocabulary.columns.get((name, key.columns[0])) if key.ref_table == name else None
            words = " ".join(w for w in column.words if w not in ("id", "key", "code")) if column is not None else ""
            if words and "report" not in words and len(key.columns) == 1:
                return table.plural, words
    return "", ""


@rule(r"\b(?P<whose>their|his|her) (?:manager|boss|supervisor|superior)s?\b", everywhere=True)
def their_boss(match: re.Match[str], known: Known) -> Wording | None:
    """`their boss` as `their manager`, if a column is called so."""
    _, superior = _superior(known)
    return Wording(f"{match['whose']} {superior}") if superior else None


@rule(r"^who(?: is| was|'s) (?P<who>(?!the |his |her ).+?)(?:'s|s') (?:manager|boss|supervisor|superior)[?.! ]*$")
def boss_of(match: re.Match[str], known: Known) -> Wording | None:
    """`who is Ada's boss` as `who is the manager of Ada`."""
    _, superior = _superior(known)
    return Wording(f"who is the {superior} of {match['who']}") if superior else None


@rule(r"^(?:who|whom|to whom) (?:does|do|did) (?P<who>.+?) report(?: to)?[?.! ]*$")
def whom(match: re.Match[str], known: Known) -> Wording | None:
    """`who does Ada report to` as `who is the manager of Ada`."""
    _, superior = _superior(known)
    return Wording(f"who is the {superior} of {match['who']}") if superior else None


@rule(r"^who (?:manages|supervises|leads) how many (?P<x>[a-z]+s)[?.! ]*$")
def who_supervises(match: re.Match[str], known: Known) -> Wording | None:
    """`who supervises how many carers` as `number of carers per supervisor`, if a column is called so."""
    _, superior = _superior(known)
    return Wording(f"number of {match['x']} per {superior}") if superior else None


@rule(rf"^(?:who|which \w+|list who|show who) {_REPORT} (?P<who>.+)$")
def who_reports(match: re.Match[str], known: Known) -> Wording | None:
    """`who reports to Ada` as `employees whose manager is Ada`."""
    rows, superior = _superior(known)
    return Wording(f"{rows} whose {superior} is {match['who']}") if superior else None


@rule(rf"\b(?:(?:who|that|which) )?{_REPORT} (?!the (?:same|most))(?P<who>.+)$")
def reports(match: re.Match[str], known: Known) -> Wording | None:
    """`drivers who report to Ada` as `drivers whose manager is Ada`."""
    _, superior = _superior(known)
    return Wording(f"whose {superior} is {match['who']}") if superior else None


_CUSTOMERS = r"customers?|clients?|guests?|people|buyers?"
_STAFF = SERVING - {"owner"}  # a pet's owner buys


@rule(
    rf"(?<!\d )(?<!\bor more )(?<!\bfewer )(?<!\bwhat )(?<!\bmy )\b(?P<x>{_CUSTOMERS})\b"
    r"(?! (?:id|name|number|type|group)s?\b)",
    everywhere=True,
)
def customers(match: re.Match[str], known: Known) -> Wording | None:
    """`customers` as `travellers`, where only these buy and nothing else is called so."""
    words, said = known.vocabulary, lemma(match["x"].lower())
    if any(_calls(item, said) for item in words.holders.get(said, ())) or known.values.find(said):
        return None
    if any(t.words[-1] in words.affinities(said) and said != "person" for t in words.tables.values()):
        return None
    buyers = [
        t
        for t in words.tables.values()
        if called_person(words, t.name) and not _STAFF & set(t.words) and known.events(t) and known.recorded(t)
    ]
    if len(buyers) != 1:
        return None
    return Wording(buyers[0].plural if lemma(match["x"]) != match["x"] else " ".join(buyers[0].words))


def _calls(item: TableWord | ColumnWord, word: str) -> bool:
    """Whether a name is about such a person: a price per person is not."""
    return "per" not in item.words[:-1] or word not in item.words[item.words.index("per") :]


@rule(r"\b(?P<title>dr|prof|mr|mrs|ms)\.? (?=(?-i:[A-Z])[a-z])", everywhere=True)
def titles(match: re.Match[str], known: Known) -> Wording:
    """`Dr. Fischer` as `doctor Fischer`, where there is such a table; other titles say nothing."""
    noun = known.noun("doctor", "physician", "dentist", "vet") if match["title"].lower() == "dr" else ""
    return Wording(f"{noun} " if noun else "")


_KINDS = frozenset(("type", "kind", "category", "class"))


@rule(
    r"^(?P<ask>(?:(?:how many|which|what|list|show|give)(?: me| us)? )?(?:all |the |our )*)(?P<x>[a-z]+s)"
    r"(?= (?:that|who|which|without|with|in|from|buying|ordering|of|have|are|never)\b|$)"
)
def kinds_of_rows(match: re.Match[str], known: Known) -> Wording | None:
    """`shops that never ordered` as `customers with type shop that …`, where the type of one table's rows is so."""
    words, kind = known.vocabulary, lemma(match["x"].lower())
    if kind in words.holders or max(words.affinities(kind).values(), default=0.0) >= _NAMED:
        return None
    hits = [h for h in known.values.find(kind) if h.score > _SAME]
    columns = {words.columns.get((h.table, h.column)) for h in hits}
    column = columns.pop() if len(columns) == 1 else None
    if column is None or column.words[-1] not in _KINDS or not words.name_columns(column.table):
        return None
    return Wording(f"{match['ask']}{words.tables[column.table].plural} with {' '.join(column.words)} {kind}")


_NAMED, _SAME = 0.6, 0.95


@rule(r"^(?:the )?names? of (?:all )?(?:of )?(?:our |the )?(?P<x>[a-z]+s)$")
def names_of_role(match: re.Match[str], known: Known) -> Wording | None:
    """`names of our dentists` as `dentists`, where no table but a stored value is called so."""
    role = lemma(match["x"].lower())
    return Wording(match["x"]) if known.table(match["x"]) is None and known.values.find(role) else None
