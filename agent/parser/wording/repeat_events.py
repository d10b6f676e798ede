"""Repeated events of people: `customers who came back`, `guests who have not booked in the last 6 months`, `churned
customers`, `how many customers placed their first order in 2025`, `new guests per month`.

A phrase is reworded where the schema has a dated table of events that refers to the people.
"""

from __future__ import annotations

import re

from agent.knowledge.vocabulary import TableWord
from agent.parser.date_arithmetic import before
from agent.parser.interpretation import Shape
from agent.parser.wording.rules import EVENTS, Known, Wording, rule
from eval.language.inflection import lemma, plural, root

_ANY_VERB = (
    r"(?P<verb>(?:came|come|been|returned|return|stayed|stay|visited|visit|ordered|order|bought|buy|purchased|purchase|"
    r"booked|book|rented|rent|borrowed|borrow|donated|donate|attended|attend|paid|pay|shopped|shop|reserved|played|seen|"
    r"active|used us|subscribed|deposited|hired|trained|checked in))"
)
_COUNT = r"(?:how many |number of |count (?:of )?)"
_OF_VERB = {
    "book": ("booking", "reservation"), "reserv": ("reservation", "booking"), "buy": ("order", "purchase", "sale"),
    "bought": ("order", "purchase", "sale"), "purchas": ("purchase", "order", "sale"), "order": ("order", "purchase"),
    "rent": ("rental", "loan"), "borrow": ("loan", "checkout", "borrowing"), "donat": ("donation",),
    "paid": ("payment",), "pay": ("payment",), "visit": ("visit", "appointment"), "deposit": ("deposit",),
    "attend": ("attendance", "registration", "booking"), "stay": ("stay", "booking", "reservation"),
    "subscrib": ("subscription",),
}  # fmt: skip
_BUYERS = ("customer", "client", "guest", "member", "buyer", "patient", "borrower", "donor", "user")
_CHURN_MONTHS = 12


@rule(
    r"\b(?P<x>[a-z]+)(?: (?:who|that|which))? (?:have |has |had |did |do |does )?"
    rf"(?:(?P<came>come|came|been|returned|return)(?: back)?|{_ANY_VERB})"
    r"(?: (?:here|from us|with us|anything|something))? "
    r"(?P<how>back|again|more than once|once more|a second time|multiple times|repeatedly|(?:only|just|exactly) once)"
    r"(?= (?:in|since|last|this|during|per|by)\b|[?.! ]*$)"
)
def more_than_once(match: re.Match[str], known: Known) -> Wording | None:
    """`customers who came back` as `customers with more than 1 orders`."""
    how, verb = match["how"].lower(), match["verb"] or ""
    if how == "back" and not match["came"]:
        return None
    count = "exactly 1" if how.endswith("once") and "more" not in how else "more than 1"
    return _with_events(match, verb, match["came"] or verb, count, known)


@rule(r"\bone[- ]?(?:time|off) (?P<x>[a-z]+)\b")
def one_time(match: re.Match[str], known: Known) -> Wording | None:
    """`one-time buyers` as `buyers with exactly 1 orders`."""
    return _with_events(match, "", match[0], "exactly 1", known)


def _with_events(match: re.Match[str], verb: str, words: str, count: str, known: Known) -> Wording | None:
    people, events = _people_and_events(match["x"], verb, known)
    if people is None or events is None:
        return None
    return Wording(f"{people.plural} with {count} {events.plural}", doubt=_meaning(verb, words, events))


@rule(
    r"\b(?P<x>[a-z]+)(?: (?:who|that|which|we))? (?:(?:have|has|had|did|do|does)(?: not|n't)|"
    r"(?:have |has )?never|not)(?: been)? "
    rf"{_ANY_VERB}(?: (?:here|from us|with us|anything))?"
    r"(?P<when> (?:(?:in|for|during|within|over) (?:the |more than |over )?"
    r"(?:last |past )?(?:\d+|a|one|two|three|four|six|twelve) (?:day|week|month|quarter|year)s?|"
    r"(?:in |for )?(?:this|last) (?:week|month|quarter|year)|since .+))[?.! ]*$"
)
def lapsed(match: re.Match[str], known: Known) -> Wording | None:
    """`guests who have not booked for 6 months` as `guests without bookings in the last 6 months`."""
    people, events = _people_and_events(match["x"], match["verb"], known)
    if people is None or events is None:
        return None
    when = match["when"]
    if span := _SPAN_OF_TIME.match(when):
        when = f" in the last {'1' if span['n'].lower() in ('a', 'one') else span['n']} {span['unit']}"
    return Wording(
        f"{people.plural} without {events.plural}{when}", doubt=_meaning(match["verb"], match["verb"], events)
    )


_SPAN_OF_TIME = re.compile(
    r"^ (?:in|for|during|within|over) (?:the |more than |over )*(?:last |past )?(?P<n>\d+|[a-z]+) (?P<unit>[a-z]+)$",
    re.IGNORECASE,
)


@rule(
    r"\b(?P<state>churned|lapsed|lost|dormant|sleeping) (?P<x>[a-z]+)(?P<rest>(?: (?:by|per|in|from) .+)?)[?.! ]*$",
)
def churned(match: re.Match[str], known: Known) -> Wording | None:
    """`churned customers` as customers with orders before a day a year ago but without any since."""
    people, events = _people_and_events(match["x"], "", known)
    if people is None or events is None or {"churned", "churn", "lapsed"} & known.vocabulary.holders.keys():
        return None
    rows, day = events.plural, before(known.today, _CHURN_MONTHS, "month").isoformat()
    meaning = f"“{match['state'].lower()}” is taken as no {events.words[-1]} since {day} and one before"
    return Wording(
        f"{people.plural} with {rows} before {day} but without {rows} since {day}{match['rest']}",
        doubt=f"{meaning}; name the time if another is meant",
    )


@rule(
    rf"^{_COUNT}(?P<x>[a-z]+) (?:who )?(?:placed|made|had|did) (?:their|a|his|her) first (?P<event>[a-z]+)"
    r"(?P<when>(?: (?:in|during|since|last|this|per|by|each) .+)?)[?.! ]*$"
)
def first_events(match: re.Match[str], known: Known) -> Wording | None:
    """`how many customers placed their first order in 2025`: the people by the date of their first event."""
    people, events = _people_and_events(match["x"], "", known, match["event"])
    return _newcomers(people, events, match["when"]) if people is not None and events is not None else None


@rule(
    rf"^{_COUNT}?(?:new|first[- ]time) (?P<x>[a-z]+)(?: (?:did we (?:get|have|gain|win)|were there|came))?"
    r"(?P<when> (?:per|by|each|every|in|during|this|last|since) .+)$"
)
def newcomers(match: re.Match[str], known: Known) -> Wording | None:
    """`new guests per month`: the people by the date of their first event, where they have no date of their own."""
    people, events = _people_and_events(match["x"], "", known)
    if people is None or events is None or known.dated(people):
        return None
    doubt = f"“new” is taken from the first of the {events.plural} of each; name the date if another is meant"
    return _newcomers(people, events, match["when"], doubt)


def _newcomers(people: TableWord, events: TableWord, when: str, doubt: str = "") -> Wording:
    when = re.sub(r"^ (?:each|every) ", " per ", when, flags=re.IGNORECASE)
    return Wording(f"number of {events.plural}{when}", Shape("first", person=people.name), doubt=doubt)


def _people_and_events(who: str, verb: str, known: Known, event: str = "") -> tuple[TableWord | None, TableWord | None]:
    """The people that a word names, and the dated table that refers to them which the verb or the event means."""
    if who.lower() in ("who", "people", "ppl", "anyone"):
        people = known.table(known.noun(*_BUYERS))
    else:
        people = known.table(who) if lemma(who.lower()) != who.lower() else None
    if people is None or set(people.words) & EVENTS:
        return None, None
    tables = known.events(people)
    if event:
        return people, next((t for t in tables if t.words[-1] == lemma(event.lower())), None)
    meant = _meant(verb)
    named = next((t for name in meant for t in tables if name in t.words), None)
    if named is not None or (meant and verb.lower()[:4] not in ("stay", "visi", "atte")):
        return people, named
    return people, next((t for t in tables if set(t.words) & EVENTS and not t.bridge), None)


def _meant(verb: str) -> tuple[str, ...]:
    """What the tables are called that record the events of a verb."""
    return next((tables for start, tables in _OF_VERB.items() if verb.lower().startswith(start)), ())


def _meaning(verb: str, words: str, events: TableWord) -> str:
    """What was taken for the words, unless the events are called like the verb, or by a word that means the same."""
    if {root(verb.lower()), *_meant(verb)} & {*events.words, *map(root, events.words)}:
        return ""
    return f"“{' '.join(words.split()[-2:])}” is counted in {plural(events.words[-1])}; name what to count if not"
