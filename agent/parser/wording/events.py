"""Events that a table records: who ordered more than three times, who never came, the busiest doctor."""

from __future__ import annotations

import re

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.persons import SERVING, person_of, person_word, personal
from agent.parser.stored_states import SAME_EVENT, holds_state
from agent.parser.wording.rules import BUYERS, SINCE, WHO, Known, Wording, rule
from eval.language.inflection import root
from eval.language.lexicon import word_set

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


def _recorded(match: re.Match[str], known: Known) -> str:
    """The rows that record the events of a verb, in the plural."""
    return known.rows(*_RECORDED_IN[match["verb"].lower()])


@rule(r"\b(?:repeat|returning|recurring) (?P<who>customer|client|buyer|shopper|member|guest)s?\b")
def repeat_customers(match: re.Match[str], known: Known) -> Wording | None:
    """`repeat customers` as `customers with more than 1 orders`."""
    orders = known.rows("order", "purchase", "invoice", "booking")
    return Wording(f"{match['who']}s with more than 1 {orders}") if orders else None


@rule(
    rf"{WHO}{_EVENT}{_ANYTHING} (?P<when>in \S+(?: \d{{4}})?) but (?:nothing|not|never)(?: any ?thing)?(?: again)? "
    r"(?P<then>in .+)"
)
def then_not(match: re.Match[str], known: Known) -> Wording | None:
    """`who ordered in 2024 but not in 2025` as `with orders in 2024 but without orders in 2025`."""
    rows = _recorded(match, known)
    return Wording(f"with {rows} {match['when']} but without {rows} {match['then']}") if rows else None


@rule(
    rf"(?:{WHO})?(?:have |has |had )?\b{_EVENT}{_ANYTHING} (?:in (?:both|each of)|both in) "
    r"(?P<one>\w+) and (?:in )?(?P<two>\w+)(?=[?.! ]*$)",
    rf"(?:{WHO})?(?:have |has |had )?\b{_EVENT}{_ANYTHING} in (?P<one>\w+) and (?:then )?(?:again|also) in "
    r"(?P<two>\w+)(?=[?.! ]*$)",
)
def in_both(match: re.Match[str], known: Known) -> Wording | None:
    """`who ordered in both 2023 and 2024` as `with orders in both 2023 and 2024`."""
    rows = _recorded(match, known)
    return Wording(f"with {rows} in both {match['one']} and {match['two']}") if rows else None


@rule(
    rf"{WHO}(?:(?:have|has|had|did|do|does) not|(?:have |has )?never)(?: ever)?(?: placed| made)? "
    rf"{_EVENT}{_ANYTHING}(?= in \d| since| last| this|[?.! ]*$)",
    r"(?<=[a-z]s )(?:(?:that|which) )?(?:(?:(?:have|has|had) )?not(?: been)?|were not|(?:have |has )?never(?: been)?|"
    r"(?:were |was )never) (?P<verb>sold|ordered|bought|purchased|rented|borrowed|booked|"
    r"visited|come|been here|been seen)(?= in \d| since| last| this| before|[?.! ]*$)",
)
def never(match: re.Match[str], known: Known) -> Wording | None:
    """`who never ordered`, `not sold` as `without orders`."""
    rows = _recorded(match, known)
    return Wording(f"without {rows}") if rows else None


@rule(rf"(?:{WHO})?(?:have |has |had )?\b{_EVENT} (?:something|anything)(?= (?:in|since|last|this|during)\b|[?.! ]*$)")
def at_all(match: re.Match[str], known: Known) -> Wording | None:
    """`bought something in January` as `with orders in January`."""
    rows = _recorded(match, known)
    return Wording(f"with {rows}") if rows else None


@rule(
    rf"(?:{WHO})?(?:have |has |had )?\b{_EVENT}{_ANYTHING} (?P<cmp>(?:more|less|fewer) than|at least|over) "
    r"(?P<n>\d+|once|twice)(?: times)?\b(?! [a-z]+s\b)"
)
def how_often(match: re.Match[str], known: Known) -> Wording | None:
    """`who ordered more than 3 times` as `with more than 3 orders`."""
    rows, count = _recorded(match, known), {"once": "1", "twice": "2"}.get(match["n"].lower(), match["n"])
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


_DEALT_WITH = word_set("closed resolved handled completed solved answered approved rejected fixed processed delivered")
"""What those do who serve others."""


@rule(
    r"^who (?:has |have |had )?(?:(?:placed|made|wrote|written|left|submitted|filed|posted|did|done|booked|took|taken|"
    r"gave|given|got|owns?|(?P<state>[a-z]+ed)) )?(?:the )?(?P<most>most|fewest|least) "
    rf"(?P<of>(?:[a-z]+ ){{0,2}})(?P<rows>[a-z]+){SINCE}(?P<also>(?: and show .+)?)$"
)
def who_has_most(match: re.Match[str], known: Known) -> Wording | None:
    """`who wrote the most reviews` as `which customer has the most reviews`: the people whom the rows refer to. `who
    closed the most tickets` counts closed tickets, where some are in a state of that name."""
    rows, state = known.table(match["rows"]), (match["state"] or "").lower()
    if rows is None or (state and not holds_state(state, rows.name, known.vocabulary, known.values)):
        return None
    tables = known.vocabulary.tables
    people = [key.ref_table for key in rows.table.foreign_keys if personal(known.vocabulary, key.ref_table)]
    people = [name for name in people if len(tables[name].words) == 1 or person_word(tables[name].words[-1])]
    buyers = [name for name in people if set(tables[name].words) & set(BUYERS)]
    served = [name for name in people if set(tables[name].words) & SERVING] if state in _DEALT_WITH else buyers
    people = people if len(people) == 1 else served
    who = " ".join(tables[people[0]].words) if len(people) == 1 else person_of(known.vocabulary, rows.name)
    if not who:
        return None
    most = "most" if match["most"].lower() == "most" else "fewest"
    return Wording(
        f"which {who} has the {most} {state} {match['of']}{match['rows']}{match['rest']}{match['also']}".replace(
            "  ", " "
        )
    )


@rule(
    r"^(?P<x>(?:(?:show|list|give)(?: me)? )?(?:all |the |our |each )*[a-z]+) (?:and|with|along with) how many "
    r"(?P<rows>[a-z]+s) (?:they|he|she|it|each)(?: of them)?(?: each)?(?: have| has| had)?"
    r"(?: (?:placed|made|have|has|had|wrote|written|left|bought|booked|taken|took|done|got))?"
    r"(?P<rest>(?: (?:in|since|during|this|last) .+)?)$"
)
def people_and_number(match: re.Match[str], known: Known) -> Wording | None:
    """`customers and how many orders they placed in 2025` as `customers and number of orders in 2025`."""
    table = known.table(match["rows"])
    return Wording(f"{match['x']} and number of {match['rows']}{match['rest']}") if table else None


@rule(
    r"^(?P<listed>(?:(?P<ask>list|show|give)\b)?.+?) with (?:(?:the|its|their) )?"
    r"(?P<what>[a-z]+(?:,? [a-z]+)*?)"
    r"(?P<rest>,? (?:sorted|ordered) by .+)?$"
)
def listed_with(match: re.Match[str], known: Known) -> Wording | None:
    """`list of all products with the price` as `… and their price`, where columns are called so."""
    parts = [part for part in re.split(r", and |,| and ", match["what"].lower()) if part.strip()]
    names = [re.sub(r"^(?:the|its|their) ", "", part.strip()) for part in parts]
    named = [_called(name, known) for name in names]
    always = all(any(not c.column.nullable for c in columns) for columns in named)
    if not all(named) or not (match["ask"] or (always and len(names) > 1)):
        return None
    return Wording(f"{match['listed']} and their {', '.join(names[:-1])}{' and ' * (len(names) > 1)}{names[-1]}"
                   f"{match['rest'] or ''}")  # fmt: skip


def _called(name: str, known: Known) -> list[ColumnWord]:
    words = [root(w) for w in name.split()]
    return [c for c in known.vocabulary.columns.values() if words == [root(w) for w in c.words[-len(words) :]]]


@rule(
    r"^who (?P<verb>registered|joined|enrolled|subscribed) (?P<rest>(?:in|on|since|before|after|last|this|during)\b.+)$"
)
def who_registered(match: re.Match[str], known: Known) -> Wording | None:
    """`who registered in May` as `customers who registered in May`: the one table with such a date."""
    verb = match["verb"].lower()
    events = {root(verb), *map(root, SAME_EVENT.get(verb, "").split())}
    dated = {
        c.table for c in known.vocabulary.columns.values() if c.role == "date" and events & set(map(root, c.words))
    }
    if len(dated) != 1:
        return None
    return Wording(f"{known.vocabulary.tables[next(iter(dated))].plural} who {verb} {match['rest']}")


@rule(
    r"^(?:which|what|(?P<count>how many)) (?P<x>[a-z]+s) (?P<did>(?:never )?(?:came|come|ordered|bought|"
    r"purchased|rented|borrowed|booked|visited|paid|rode|ride|drove|donated|attended|played)\b.* "
    r"(?:but not|but never) .+)$"
)
def who_did(match: re.Match[str], known: Known) -> Wording | None:
    """`which owners came in 2024 but not in 2025` as `owners who came …`."""
    start = "how many " if match["count"] else ""
    return Wording(f"{start}{match['x']} who {match['did']}") if known.table(match["x"]) is not None else None


@rule(
    r"^(?:(?:who|which|what) (?:is|are|was|were) )?(?:the |our )?(?P<most>busiest|quietest) (?P<x>[a-z]+)"
    r"(?P<rest>(?: (?:in|since|during|last|this|of) .+)?)[?.! ]*$"
)
def busiest(match: re.Match[str], known: Known) -> Wording | None:
    """`the busiest doctor last year` as `doctor with the most visits last year`: the dated rows that refer to one."""
    table = known.table(match["x"])
    events = known.events(table) if table is not None else []
    if not events:
        return None
    rank = f"{'most' if match['most'].lower() == 'busiest' else 'fewest'} {events[0].plural}"
    return Wording(
        f"{match['x']} with the {rank}{match['rest']}",
        notes=(f"“{match['most'].lower()}” is taken as the {rank}",),
    )


@rule(
    r"^(?:(?:what|which) (?:is|are|was|were) )?(?:the |our )?(?P<most>most|least) popular (?P<x>[a-z]+)"
    rf"{SINCE}$"
)
def popular(match: re.Match[str], known: Known) -> Wording | None:
    """`most popular product in 2025` as `product with the most order items in 2025`, where one table records events."""
    table = known.table(match["x"])
    events = known.recorded(table) if table is not None else []
    if len(events) != 1:
        return None
    rank = f"{'most' if match['most'].lower() == 'most' else 'fewest'} {events[0].plural}"
    several = "10 " if table is not None and table.plural == match["x"].lower() else ""
    return Wording(
        f"{several}{match['x']} with the {rank}{match['rest']}",
        notes=(f"“{match['most'].lower()} popular” is taken as the {rank}",),
    )


@rule(
    r"^(?P<before>(?:how many |number of |count )?)(?P<state>[a-z]+) (?P<x>[a-z]+s) (?:vs\.?|versus|and|or) "
    r"(?:not |non-?|un)(?P=state)(?: (?P=x)| ones)?$"
)
def with_and_without(match: re.Match[str], known: Known) -> Wording | None:
    """`how many neutered cats vs not neutered` as `number of cats by neutered`, where a column is called so."""
    if not any(match["state"].lower() in (*c.words, c.name.lower()) for c in known.vocabulary.columns.values()):
        return None
    return Wording(f"number of {match['x']} by {match['state']}")


@rule(r"\b(?P<before>and|with|plus) (?:their |its |the )?(?P<what>[a-z]+) counts?\b(?! of)", everywhere=True)
def counted(match: re.Match[str], known: Known) -> Wording | None:
    """`employees and their order counts` as `employees and number of orders`."""
    things = known.rows(match["what"].lower())
    return Wording(f"{match['before']} number of {things}") if things else None
