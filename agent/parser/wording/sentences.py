"""Full sentences: courtesy before the question, a second sentence that says what to show.

The rules leave one plain sentence.
"""

from __future__ import annotations

import re

from agent.parser.wording.rules import Known, Wording, replacements, rule
from eval.language.inflection import lemma

_PLAIN = replacements("courtesy")


def courtesy(text: str, _: Known) -> Wording | None:
    """`Could you please list the clients? Please include the city.` as `list the clients and show the city`."""
    new = _PLAIN(text)
    return Wording(new) if new != text else None


@rule(r"\b(?:a|one) single\b")
def not_a_single(_: re.Match[str], known: Known) -> Wording | None:
    """`never sold a single car` as `never sold any car`, unless rooms are single."""
    return None if known.stored("single") else Wording("any")


@rule(r"\bthe (?:largest|highest|greatest|biggest) number of (?P<x>[a-z]+s)\b")
def largest_number(match: re.Match[str], known: Known) -> Wording | None:
    """`the largest number of products` as `the most products`, unless a column holds that number."""
    stored = {"number", "count", lemma(match["x"].lower())}
    held = any(len(stored & set(c.words)) > 1 for c in known.figures())
    return None if held else Wording(f"the most {match['x']}")


@rule(r"\b(?:(?:currently|still) )?(?:out )?on (?P<x>loan|hire|rental|lease)\b")
def still_out(match: re.Match[str], known: Known) -> Wording | None:
    """`works out on loan` as `works with open loans`, where loans are rows that end."""
    table = known.table(match["x"])
    if table is None or known.values.find(match[0]) or len(known.dates(table)) < 2:
        return None
    return Wording(f"with open {table.plural}")


@rule(r"\b(?P<end>last|first)(?P<few> \d+)? (?P<x>[a-z]+)\b(?! name)(?!.*\b(?:by|order)\b)")
def last_rows(match: re.Match[str], known: Known) -> Wording | None:
    """`the last 3 orders` as `the latest 3 orders`, where orders have a date."""
    table = known.table(match["x"])
    if table is None or not known.dates(table):
        return None
    return Wording(f"{'latest' if match['end'] == 'last' else 'earliest'}{match['few'] or ''} {match['x']}")


@rule(r"\b(?P<many>(?:how many|number of|count of)(?: [a-z]+)??) (?P<x>rows|records|entries|lines)\b")
def rows_of_file(match: re.Match[str], known: Known) -> Wording | None:
    """`how many rows are active` as `how many members are active`, in a database of one table."""
    table, one = known.only_table, lemma(match["x"].lower())
    if table is None or one in known.vocabulary.holders or known.values.find(one):
        return None
    return Wording(f"{match['many']} {table.plural}")


@rule(
    r"^(?P<listed>(?:(?P<ask>list|show|give)\b)?.+?) with (?:(?:the|its|their) )?"
    r"(?P<what>[a-z]+(?:,? [a-z]+)*?)"
    r"(?P<rest>,? (?:sorted|ordered) by .+)?$"
)
def listed_with(match: re.Match[str], known: Known) -> Wording | None:
    """`list of all products with the price` as `… and their price`, where columns are called so."""
    parts = [part for part in re.split(r", and |,| and ", match["what"].lower()) if part.strip()]
    names = [re.sub(r"^(?:the|its|their) ", "", part.strip()) for part in parts]
    named = [known.called(name) for name in names]
    always = all(any(not c.column.nullable for c in columns) for columns in named)
    if not all(named) or not (match["ask"] or (always and len(names) > 1)):
        return None
    return Wording(f"{match['listed']} and their {', '.join(names[:-1])}{' and ' * (len(names) > 1)}{names[-1]}"
                   f"{match['rest'] or ''}")  # fmt: skip
