"""Repeated events of people: `customers who came back`, `guests who have not booked in the last 6 months`, `churned
customers`, `how many customers placed their first order in 2025`, `new guests per month`.

In: a question's text, the vocabulary, today's date. Out: the text in words that the reader knows (`with more than 1
orders`), where the schema has a dated table of events that refers to the people; the shape of a count of first events;
and what was assumed. A phrase without such a table stays as it is.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from agent.knowledge.vocabulary import TableWord, Vocabulary
from agent.parser.date_arithmetic import before
from agent.parser.interpretation import Shape
from eval.language.inflection import lemma, plural, root
from eval.language.lexicon import word_set

_HAVE = r"(?:have |has |had |did |do |does )?"
_ANY_VERB = (
    r"(?P<verb>(?:came|come|been|returned|return|stayed|stay|visited|visit|ordered|order|bought|buy|purchased|purchase|"
    r"booked|book|rented|rent|borrowed|borrow|donated|donate|attended|attend|paid|pay|shopped|shop|reserved|played|seen|"
    r"active|used us|subscribed|deposited|hired|trained|checked in))"
)
_PEOPLE = r"(?P<x>[a-z]+)"
_REPEATED = re.compile(
    rf"\b{_PEOPLE}(?: (?:who|that|which))? {_HAVE}(?:(?P<came>come|came|been|returned|return)(?: back)?|{_ANY_VERB})"
    r"(?: (?:here|from us|with us|anything|something))? "
    r"(?P<how>back|again|more than once|once more|a second time|multiple times|repeatedly|(?:only|just|exactly) once)"
    r"(?= (?:in|since|last|this|during|per|by)\b|[?.! ]*$)",
    re.IGNORECASE,
)
_ONE_TIME = re.compile(r"\bone[- ]?(?:time|off) (?P<x>[a-z]+)\b", re.IGNORECASE)
_LAPSED = re.compile(
    r"\b(?P<x>[a-z]+)(?: (?:who|that|which|we))? (?:(?:have|has|had|did|do|does)(?: not|n't)|"
    r"(?:have |has )?never|not)(?: been)? "
    rf"{_ANY_VERB}(?: (?:here|from us|with us|anything))?"
    r"(?P<when> (?:(?:in|for|during|within|over) (?:the |more than |over )?"
    r"(?:last |past )?(?:\d+|a|one|two|three|four|six|twelve) (?:day|week|month|quarter|year)s?|"
    r"(?:in |for )?(?:this|last) (?:week|month|quarter|year)|since .+))[?.! ]*$",
    re.IGNORECASE,
)
_SPAN_OF_TIME = re.compile(
    r"^ (?:in|for|during|within|over) (?:the |more than |over )*(?:last |past )?(?P<n>\d+|[a-z]+) (?P<unit>[a-z]+)$",
    re.I,
)
_CHURNED = re.compile(
    r"\b(?:churned|lapsed|lost|dormant|sleeping) (?P<x>[a-z]+)(?P<rest>(?: (?:by|per|in|from) .+)?)[?.! ]*$",
    re.IGNORECASE,
)
_FIRST_EVENTS = re.compile(
    r"^(?P<ask>how many |number of |count (?:of )?)?(?P<x>[a-z]+) (?:who )?(?:placed|made|had|did) "
    r"(?:their|a|his|her) first "
    r"(?P<event>[a-z]+)(?P<when>(?: (?:in|during|since|last|this|per|by|each) .+)?)[?.! ]*$",
    re.IGNORECASE,
)
_NEWCOMERS = re.compile(
    r"^(?:how many |number of |count (?:of )?)?(?:new|first[- ]time) (?P<x>[a-z]+)(?: (?:did we (?:get|have|gain|win)|"
    r"were there|came))?(?P<when> (?:per|by|each|every|in|during|this|last|since) .+)$",
    re.IGNORECASE,
)
_EVENT_TABLES = word_set(
    "order purchase sale invoice booking reservation visit appointment rental loan checkout donation registration "
    "attendance transaction payment stay session ticket enrollment subscription"
)
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


@dataclass(frozen=True, slots=True)
class Repeated:
    """The text in other words, with the shape of a count of first events, and what was assumed."""

    text: str
    shape: Shape | None = None
    doubt: str = ""


def repeated(text: str, vocabulary: Vocabulary, today: dt.date) -> Repeated:
    """Reword the first phrase of repeated events that the schema supports."""
    return (
        _more_than_once(text, vocabulary)
        or _lapsed(text, vocabulary)
        or _churned(text, vocabulary, today)
        or _newcomers(text, vocabulary)
        or Repeated(text)
    )


def _more_than_once(text: str, vocabulary: Vocabulary) -> Repeated | None:
    match = _REPEATED.search(text)
    how = match["how"].lower() if match else ""
    if match is not None and how == "back" and not match["came"]:
        return None
    if match is None:
        match, how = _ONE_TIME.search(text), "once"
    if match is None:
        return None
    verb = match.groupdict().get("verb") or ""
    people, events = _people_and_events(match["x"], verb, vocabulary)
    if people is None or events is None:
        return None
    count = "exactly 1" if how.endswith("once") and "more" not in how else "more than 1"
    new = f"{text[: match.start()]}{people.plural} with {count} {events.plural}{text[match.end() :]}"
    return Repeated(
        new,
        doubt=_meaning(match.groupdict().get("came") or verb or match[0], events) if not _called(verb, events) else "",
    )


def _lapsed(text: str, vocabulary: Vocabulary) -> Repeated | None:
    match = _LAPSED.search(text)
    if match is None:
        return None
    people, events = _people_and_events(match["x"], match["verb"], vocabulary)
    if people is None or events is None:
        return None
    when = match["when"]
    if span := _SPAN_OF_TIME.match(when):
        when = f" in the last {'1' if span['n'].lower() in ('a', 'one') else span['n']} {span['unit']}"
    new = f"{text[: match.start()]}{people.plural} without {events.plural}{when}"
    return Repeated(new, doubt=_meaning(match["verb"], events) if not _called(match["verb"], events) else "")


def _churned(text: str, vocabulary: Vocabulary, today: dt.date) -> Repeated | None:
    match = _CHURNED.search(text)
    if match is None:
        return None
    people, events = _people_and_events(match["x"], "", vocabulary)
    stored = {w for c in vocabulary.columns.values() for w in c.words}
    if people is None or events is None or stored & {"churned", "churn", "lapsed"}:
        return None
    word = match[0].split()[0].lower()
    day = before(today, _CHURN_MONTHS, "month").isoformat()
    new = f"{people.plural} with {events.plural} before {day} but without {events.plural} since {day}{match['rest']}"
    meaning = f"“{word}” is taken as no {events.words[-1]} since {day} and one before"
    return Repeated(text[: match.start()] + new, doubt=f"{meaning}; name the time if another is meant")


def _newcomers(text: str, vocabulary: Vocabulary) -> Repeated | None:
    """The people by the date of their first event, where they have no date of their own."""
    match = _FIRST_EVENTS.match(text)
    if match is not None:
        people, events = _people_and_events(match["x"], "", vocabulary, match["event"])
        if events is None or not match["ask"]:
            return None
        doubt = ""
    else:
        match = _NEWCOMERS.match(text)
        people, events = _people_and_events(match["x"], "", vocabulary) if match is not None else (None, None)
        if people is None or events is None or any(c.role == "date" for c in vocabulary.by_table[people.name]):
            return None
        doubt = f"“new” is taken from the first of the {events.plural} of each; name the date if another is meant"
    if match is None or people is None:
        return None
    when = re.sub(r"^ (?:each|every) ", " per ", match["when"], flags=re.IGNORECASE)
    return Repeated(f"number of {events.plural}{when}", Shape("first", person=people.name), doubt)


def _people_and_events(
    who: str, verb: str, vocabulary: Vocabulary, event: str = ""
) -> tuple[TableWord | None, TableWord | None]:
    """The people that a word names, and the dated table that refers to them which the verb or the event means."""
    if who.lower() in ("who", "people", "ppl", "anyone"):
        people = next((t for w in _BUYERS if (t := vocabulary.table_named(w)) is not None), None)
    else:
        people = vocabulary.table_named(who) if lemma(who.lower()) != who.lower() else None
    if people is None or set(people.words) & _EVENT_TABLES:
        return None, None
    tables = [
        t
        for t in vocabulary.tables.values()
        if any(key.ref_table == people.name for key in t.table.foreign_keys)
        and any(c.role == "date" for c in vocabulary.by_table[t.name])
    ]
    if event:
        return people, next((t for t in tables if t.words[-1] == lemma(event.lower())), None)
    meant = next((v for k, v in _OF_VERB.items() if verb.lower().startswith(k)), ())
    for name in meant:
        for table in tables:
            if name in table.words:
                return people, table
    if meant and verb.lower()[:4] not in ("stay", "visi", "atte"):
        return people, None
    usual = [t for t in tables if set(t.words) & _EVENT_TABLES and not t.bridge]
    return people, max(usual, key=lambda t: t.table.row_count or 0, default=None)


def _called(verb: str, events: TableWord) -> bool:
    """Whether the events are called like the verb, or by a word that means the same."""
    meant = next((v for k, v in _OF_VERB.items() if verb.lower().startswith(k)), ())
    return bool({root(verb.lower()), *meant} & {*events.words, *map(root, events.words)})


def _meaning(words: str, events: TableWord) -> str:
    return f"“{' '.join(words.split()[-2:])}” is counted in {plural(events.words[-1])}; name what to count if not"
