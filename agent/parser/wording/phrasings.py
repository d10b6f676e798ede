"""Phrasings of everyday questions in plain words: courtesy and full sentences, slang and contractions, names for things
that the schema calls otherwise, and events that tables record (who ordered more than three times, who never came).

The rules leave one plain sentence. A verb stands for the rows that record it, where the schema has such a table.
"""

from __future__ import annotations

import re

from agent.knowledge.value_words import holds_currencies
from agent.parser.wording.rules import BUYERS, SINCE, WHO, Known, Wording, replacements, rule
from eval.language.inflection import lemma
from eval.language.lexicon import word_set

courtesy = replacements("courtesy")
"""`Could you please list the clients? Please include the city.` as `list the clients and show the city`."""
slang = replacements("slang")
"""`what'd u buy, pls` and the like in full words, in place of slang, contractions and abbreviations."""


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


_EVENTS = {
    ("order", "ordered", "buy", "bought"): ("order", "purchase", "sale", "invoice"),
    ("purchase", "purchased"): ("purchase", "order", "sale", "invoice"),
    ("sold",): ("sale", "order item", "order", "purchase", "invoice"),
    ("rent", "rented"): ("rental", "loan"),
    ("borrow", "borrowed"): ("loan", "checkout", "borrowing"),
    ("book", "booked"): ("booking", "reservation"),
    ("pay", "paid"): ("payment",),
    ("come", "came"): ("visit", "appointment", "booking"),
    ("been here", "been seen"): ("visit", "appointment", "booking", "stay"),
    ("attended",): ("attendance", "booking", "registration"),
    ("donated",): ("donation",),
    ("visit", "visited"): ("visit", "appointment"),
}
_RECORDED_IN = {verb: tables for verbs, tables in _EVENTS.items() for verb in verbs}
_EVENT = f"(?P<verb>{'|'.join(sorted(_RECORDED_IN.keys() - {'sold'}, key=len, reverse=True))})"
_ANYTHING = r"(?: any ?thing| something| any)?"


@rule(
    rf"{WHO}(?:(?:have|has|had|did|do|does) not|(?:have |has )?never)(?: ever)?(?: placed| made)? "
    rf"{_EVENT}{_ANYTHING}(?= in \d| since| last| this|[?.! ]*$)",
    r"(?<=[a-z]s )(?:(?:that|which) )?(?:(?:(?:have|has|had) )?not(?: been)?|were not|(?:have |has )?never(?: been)?|"
    r"(?:were |was )never) (?P<verb>sold|ordered|bought|purchased|rented|borrowed|booked|"
    r"visited|come|been here|been seen)(?= in \d| since| last| this| before|[?.! ]*$)",
)
def never(match: re.Match[str], known: Known) -> Wording | None:
    """`who never ordered`, `not sold` as `without orders`."""
    rows = known.rows(*_RECORDED_IN[match["verb"].lower()])
    return Wording(f"without {rows}") if rows else None


@rule(
    rf"(?:{WHO})?(?:have |has |had )?\b{_EVENT}{_ANYTHING} (?P<cmp>(?:more|less|fewer) than|at least|over) "
    r"(?P<n>\d+|once|twice)(?: times)?\b(?! [a-z]+s\b)"
)
def how_often(match: re.Match[str], known: Known) -> Wording | None:
    """`who ordered more than 3 times` as `with more than 3 orders`."""
    rows = known.rows(*_RECORDED_IN[match["verb"].lower()])
    count = {"once": "1", "twice": "2"}.get(match["n"].lower(), match["n"])
    return Wording(f"with {match['cmp']} {count} {rows}") if rows else None


@rule(
    r"\b(?P<who>[a-z]+) (?:(?:who|that|which) )?(?:have |has |had )?"
    r"(?P<verb>bought|purchased|ordered|rented|borrowed|booked) "
    r"(?P<what>(?!(?:the )?(?:more|most|less|least|fewest|fewer|over|under|at|by|in|on|from|since|for|any|some|it|them|"
    r"something|anything|nothing|nobody|and|or|but|last|this|during|before|after|per|\d+)\b).+)"
)
def acquired(match: re.Match[str], known: Known) -> Wording | None:
    """`customers who bought tea` as `customers with orders of tea`: the link goes by the orders."""
    who = known.rows(*BUYERS) if match["who"].lower() == "who" else match["who"]
    people, events = known.table(who), known.table(known.noun(*_RECORDED_IN[match["verb"].lower()]))
    if people is None or events is None or all(key.ref_table != people.name for key in events.table.foreign_keys):
        return None
    return Wording(f"{who} with {events.plural} of {match['what']}")


@rule(
    rf"{WHO}(?:have |has )?(?:spent|spend|paid) (?P<cmp>more than|less than|over|under|at least) "
    r"(?P<n>[\d.,]+)(?: (?!in\b|since\b|last\b|this\b|during\b|on\b|per\b)\w+)?(?P<rest>.*)"
)
def spent(match: re.Match[str], _: Known) -> Wording:
    """`who spent more than 100 euros` as `with revenue more than 100`."""
    return Wording(f"with revenue {match['cmp']} {match['n']}{match['rest']}")


_RANKED = ("customer", "client", "buyer", "supplier", "employee", "category", "store", "seller", "country")


@rule(
    r"^(?:(?:who|what|which|show|list|give)(?: (?:is|are|were|was|me))? )?(?:our |the |my |all )*"
    r"(?P<rank>top|best|biggest|most valuable|most important)(?: (?P<n>\d+|three|five|ten))?(?P<selling>[- ]selling)? "
    rf"(?P<what>\w+){SINCE}$"
)
def best(match: re.Match[str], known: Known) -> Wording | None:
    """`best customers last year` as `top 10 customers by revenue last year`."""
    what, rank = lemma(match["what"].lower()), match["rank"].lower()
    earns = any({"price", "amount", "total", "revenue", "sale"} & set(c.words) for c in known.figures())
    if known.table(what) is None or not earns:
        return None
    if rank == "best" if match["selling"] else (rank == "biggest" and what not in _RANKED):
        return None
    number = match["n"] or ("1" if what == match["what"].lower() else "10")
    return Wording(
        f"top {number} {match['what']} by revenue{match['rest']}",
        notes=("“best” and “top” are taken as the highest revenue",),
        guessed=True,
    )


_WEIGHTS = word_set("weight mass pound lb load")


@rule(r"(?<=\d) ?(?P<currency>pounds?|quid|bucks|dollars?|euros?|gbp|usd|eur)\b(?! of\b)", everywhere=True)
def currency(match: re.Match[str], known: Known) -> Wording | None:
    """`under 3 pounds` as `under 3`, unless pounds may be weights; `in pounds` where a column says the currency."""
    if _WEIGHTS & known.vocabulary.holders.keys():
        return None
    told = any(holds_currencies(c.name) for c in known.vocabulary.columns.values())
    return Wording(f" in {match['currency']}" if told else "")


_STOCKS = ("stock", "inventory")


@rule(
    r"\b(?:with|have|has|having|where we have) (?P<cmp>less than|fewer than|under|below|more than|over|above|at least|"
    r"at most|no more than|only|exactly) (?P<n>\d+)(?: (?:items?|units?|pieces?|of them))? "
    r"(?:(?:left )?(?:in|on) (?:stock|inventory)|on hand|left)(?=$|[?.! ])"
)
def in_stock(match: re.Match[str], known: Known) -> Wording | None:
    """`with fewer than 10 in stock` as `with stock quantity less than 10`, where one number is called so."""
    stocks = [c for c in known.figures() if set(_STOCKS) & set(c.words)]
    if len(stocks) != 1:
        return None
    compared = {"fewer than": "less than", "only": "equal to", "exactly": "equal to"}
    cmp = match["cmp"].lower()
    return Wording(f"with {' '.join(stocks[0].words)} {compared.get(cmp, cmp)} {match['n']}")
