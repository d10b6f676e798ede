"""Everyday wording: phrasings of newcomers in words that the reader knows, where the schema supports them.

In: a question's text, the vocabulary, the value index. Out: the text with `how much is overdue` as `total amount of
overdue invoices`, `riders who joined in 2024 by month` as `number of riders …`, `older than 4 years` as a date; and
notes on what was assumed. A phrase whose table or column is missing stays as it is.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import ColumnWord, TableWord, Vocabulary
from agent.parser.date_arithmetic import before
from agent.parser.stored_states import holds_state
from eval.language.inflection import lemma, plural, root
from eval.language.lexicon import word_set
from eval.language.numbers import SMALL_NUMBERS, quantity

_AMOUNT_WORDS = (("total", "amount"), ("amount",), ("total",), ("grand", "total"), ("total", "price"), ("price",),
                 ("fee",), ("cost",), ("sum",), ("balance",))  # fmt: skip
_PEOPLE = ("customer", "client", "member", "owner", "patient", "buyer", "tenant", "guest", "student", "account", "user",
           "borrower", "subscriber", "company", "supplier", "rider", "person", "contact")  # fmt: skip


def everyday(text: str, vocabulary: Vocabulary, values: ValueIndex, today: dt.date) -> tuple[str, tuple[str, ...]]:
    """The text in words that the reader knows, and notes on what was assumed."""
    notes: list[str] = []
    for rule in _RULES:
        text, note = rule(text, vocabulary, values, today)
        notes.extend([note] if note else [])
    return text, tuple(notes)


# --- amounts in a state ---

_STATE = r"(?P<state>unpaid|overdue|outstanding|open|pending|unsettled|past due)"
_HOW_MUCH = re.compile(
    rf"^(?:what is the |what's the )?(?:(?:how much(?: money)? (?:is|are|was)(?: still| currently)? {_STATE})"
    rf"|(?:(?:total|sum of(?: all)?) {_STATE.replace('state', 'state2')} (?:amount|money|total|balance|value)s?"
    r"|(?:total|sum of(?: all)?) (?P<state4>overdue|unpaid|outstanding))"
    rf"|(?:{_STATE.replace('state', 'state3')} (?:amount|total|balance)s?))(?P<rest>(?: (?:by|per|for|in|from) .+)?)$",
    re.IGNORECASE,
)
_OWES = re.compile(
    r"^(?:who|which (?P<who>[a-z]+)s?) (?:still )?(?:owes?|has to pay)(?: us)?(?: any)?(?: money)?$", re.IGNORECASE
)


def _amounts(text: str, vocabulary: Vocabulary, values: ValueIndex, _: dt.date) -> tuple[str, str]:
    """`how much is overdue` as `total amount of overdue invoices`, where one table has amounts in such a state."""
    if match := _HOW_MUCH.match(text):
        state = (match["state"] or match["state2"] or match["state3"] or match["state4"]).lower()
        owed = list(_owed(state, vocabulary, values))
        if len(owed) == 1:
            table, amount = owed[0]
            words = " ".join(w for w in amount.words if w not in table.words)
            return f"sum of the {words} of {state} {table.plural}{match['rest'] or ''}", ""
    elif match := _OWES.match(text):
        owed = list(_owed("unpaid", vocabulary, values))
        who = [vocabulary.table_named(match["who"])] if match["who"] else [vocabulary.table_named(w) for w in _PEOPLE]
        people = [t for t in who if t is not None]
        if len(owed) == 1 and people:
            return f"different {people[0].plural} with unpaid {owed[0][0].plural}", ""
    return text, ""


def _owed(state: str, vocabulary: Vocabulary, values: ValueIndex) -> Iterator[tuple[TableWord, ColumnWord]]:
    """The tables with an amount and such a state."""
    for name, table in vocabulary.tables.items():
        amount = _amount(vocabulary, name)
        if amount is not None and holds_state(state, name, vocabulary, values):
            yield table, amount


def _amount(vocabulary: Vocabulary, table: str) -> ColumnWord | None:
    numbers = [c for c in vocabulary.by_table[table] if c.numeric and c.role == "number"]
    return next((c for words in _AMOUNT_WORDS for c in numbers if c.words[-len(words) :] == words), None)


_MONEY = word_set("bill invoice order sale purchase payment receipt booking ticket fine donation expense claim")
_AVERAGE_ONE = re.compile(
    r"^(?P<before>(?:(?:what|show|give)(?: is|'s| was| me)? )?(?:the |our )?)"
    r"(?P<f>average|avg|mean|median|highest|lowest) (?P<x>[a-z]+)"
    r"(?P<rest>(?: (?:by|per|for each|of each|for|in|from|this|last) .+)?)$",
    re.IGNORECASE,
)


def _amount_of_one(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`average bill per town` as `average bill amount per town`."""
    match = _AVERAGE_ONE.match(text)
    if match is None or match["x"].lower() not in _MONEY:
        return text, ""
    table = vocabulary.table_named(match["x"])
    if table is None or len(table.words) != 1:
        return text, ""
    amount = _amount(vocabulary, table.name)
    if amount is None or amount.words[-1] in ("price", "fee", "cost"):
        return text, ""
    words = " ".join(w for w in amount.words if w not in table.words)
    return f"{match['before']}{match['f']} {match['x']} {words}{match['rest']}", ""


# --- rows by a part of their date ---

_BY_TIME = re.compile(
    r"^(?:(?:show|list|give)(?: me)? )?(?:all |the |our )?(?P<x>[a-z]+s)(?P<how> (?:who|that|which|with|from|in) .+?)? "
    r"(?:by|per|each) (?P<unit>day|week|weekday|month|quarter|year|hour)$",
    re.IGNORECASE,
)


def _counted_by_time(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`riders who joined in 2024 by month` as `number of riders who joined in 2024 per month`."""
    match = _BY_TIME.match(text)
    if match is None or not match["how"] or vocabulary.table_named(match["x"]) is None:
        return text, ""
    return f"number of {match['x']}{match['how']} per {match['unit']}", ""


# --- signs, ages of things, superiors ---

_SIGN = re.compile(r"\bwith (?:an? )?(?P<sign>negative|positive) (?P<x>[a-z]+(?: [a-z]+)?)\b(?!')", re.IGNORECASE)


def _signed(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`with a negative balance` as `with balance less than 0`, where a number is called so."""
    match = _SIGN.search(text)
    if match is None or not any(lemma(match["x"].lower().split()[0]) in c.words and c.numeric
                                for c in vocabulary.columns.values()):  # fmt: skip
        return text, ""
    compared = "less than 0" if match["sign"].lower() == "negative" else "more than 0"
    return f"{text[: match.start()]}with {match['x']} {compared}{text[match.end() :]}", ""


_OLDER = re.compile(
    r"\b(?P<x>[a-z]+s?)(?: (?:that|which) are)?(?P<old> older than| newer than| younger than)"
    rf" (?:the last )?(?P<n>\d+|an?|{SMALL_NUMBERS}) (?P<unit>day|week|month|year)s?"
    r"(?: old)?(?=[?.! ]*$)",
    re.IGNORECASE,
)
_AGED = word_set("birth birthday birthdate dob born age")


def _older(text: str, vocabulary: Vocabulary, _: ValueIndex, today: dt.date) -> tuple[str, str]:
    """`bikes older than 4 years` as `bikes before 2022-06-15`, where the rows have one first date and no age."""
    match = _OLDER.search(text)
    table = vocabulary.table_named(match["x"]) if match else None
    count = quantity(match["n"]) if match else None
    if match is None or table is None or not isinstance(count, int):
        return text, ""
    columns = vocabulary.by_table[table.name]
    if any(_AGED & set(c.words) for c in columns) or not any(c.role == "date" for c in columns):
        return text, ""
    day = before(today, count, match["unit"].lower())
    side = "before" if match["old"].strip().lower().startswith("older") else "after"
    words = " ".join(text[match.start("old") : match.end()].split())
    return (
        f"{text[: match.start('old')]} {side} {day.isoformat()}{text[match.end() :]}",
        f"“{words}” is taken as {side} {day.isoformat()}, counted from today",
    )


_BOSSES = re.compile(
    r"^(?:who is (?:the )?(?:boss|manager|supervisor|superior) of (?:each|every|all(?: the| our)?) (?P<x>[a-z]+?)s?"
    r"|(?:who|whom) (?:does|do) (?:each|every|all(?: the| our)?) (?P<y>[a-z]+?)s? report to)[?.! ]*$",
    re.IGNORECASE,
)


def _bosses(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`who is the boss of each driver` as `drivers and their managers`."""
    match = _BOSSES.match(text)
    who = (match["x"] or match["y"]).lower() if match is not None else ""
    if vocabulary.table_named(who) is None:
        return text, ""
    return f"{plural(who)} and their manager", ""


# --- events ---

_DID = (
    r"(?:came|come|ordered|bought|purchased|rented|borrowed|booked|visited|paid|rode|ride|drove|donated|attended|"
    r"played)"
)
_WHICH_DID = re.compile(
    rf"^(?:which|what|how many) (?P<x>[a-z]+s) (?P<did>(?:never )?{_DID}\b.* (?:but not|but never) .+)$", re.IGNORECASE
)


def _who_did(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`which owners came in 2024 but not in 2025` as `owners who came …`."""
    match = _WHICH_DID.match(text)
    if match is None or vocabulary.table_named(match["x"]) is None:
        return text, ""
    start = "how many " if text[:3].lower() == "how" else ""
    return f"{start}{match['x']} who {match['did']}", ""


_BUSIEST = re.compile(
    r"^(?:(?:who|which|what) (?:is|are|was|were) )?(?:the |our )?(?P<most>busiest|quietest) (?P<x>[a-z]+)"
    r"(?P<rest>(?: (?:in|since|during|last|this|of) .+)?)[?.! ]*$",
    re.IGNORECASE,
)


def _busiest(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`the busiest doctor last year` as `doctor with the most visits last year`: the dated rows that refer to one."""
    match = _BUSIEST.match(text)
    table = vocabulary.table_named(match["x"]) if match else None
    if match is None or table is None:
        return text, ""
    events = [
        t
        for t in vocabulary.tables.values()
        if any(key.ref_table == table.name for key in t.table.foreign_keys)
        and any(c.role == "date" for c in vocabulary.by_table[t.name])
    ]
    if not events:
        return text, ""
    most = max(events, key=lambda t: t.table.row_count or 0).plural
    rank = "most" if match["most"].lower() == "busiest" else "fewest"
    return (
        f"{match['x']} with the {rank} {most}{match['rest']}",
        f"“{match['most'].lower()}” is taken as the {rank} {most}",
    )


_NUMBER_OF_ROW = re.compile(r"\b(?P<x>[a-z]+) (?P<number>numbers?|nos?\.?)(?! of\b)(?=[ ,.?]|$)", re.IGNORECASE)


def _row_numbers(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`department number` as `department id`, where the table has such a key and no column is called a number."""

    def key(match: re.Match[str]) -> str:
        table = vocabulary.table_named(match["x"])
        if (
            table is None
            or any(
                "number" in c.words and (c.table == table.name or table.words[-1] in c.words)
                for c in vocabulary.columns.values()
                if c.words[-1] == "number" and c.words[:-1] in ((), table.words, (table.words[-1],))
            )
            or any(
                c.words[-1] == "number" and table.words[-1].startswith(c.words[0][:3])
                for c in vocabulary.by_table[table.name]
            )
        ):
            return match[0]
        own = vocabulary.key_column(table.name)
        known = own is not None and own.words[-1] == "id"
        return f"{match['x']} id{'s' if match['number'].endswith('s') else ''}" if known else match[0]

    return _NUMBER_OF_ROW.sub(key, text), ""


_VERSUS_NOT = re.compile(
    r"^(?P<before>(?:how many |number of |count )?)(?P<state>[a-z]+) (?P<x>[a-z]+s) (?:vs\.?|versus|and|or) "
    r"(?:not |non-?|un)(?P=state)(?: (?P=x)| ones)?$",
    re.IGNORECASE,
)


def _with_and_without(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`how many neutered cats vs not neutered` as `number of cats by neutered`, where a column is called so."""
    match = _VERSUS_NOT.match(text)
    if match is None or not any(
        match["state"].lower() in (*c.words, c.name.lower()) for c in vocabulary.columns.values()
    ):
        return text, ""
    return f"number of {match['x']} by {match['state']}", ""


_Rule = Callable[[str, Vocabulary, ValueIndex, dt.date], tuple[str, str]]
_LAST_ROWS = re.compile(
    rf"\blast (?P<rest>(?:\d+|{SMALL_NUMBERS}) (?P<rows>[a-z]+))(?=$| (?:of|from|by)\b)", re.IGNORECASE
)


def _last_rows(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`the last 5 orders` as `the latest 5 orders`, where orders have a date."""
    match = _LAST_ROWS.search(text)
    table = vocabulary.table_named(match["rows"]) if match is not None else None
    if match is None or table is None or not any(c.role == "date" for c in vocabulary.by_table[table.name]):
        return text, ""
    return f"{text[: match.start()]}latest {match['rest']}{text[match.end() :]}", ""


_EVENT_ORDER = re.compile(
    r"^(?:who|which (?P<who>[a-z ]+?)) (?:was |were |has been |got )?(?P<event>[a-z]+) "
    r"(?P<end>first|earliest|last|latest|most recently)$",
    re.IGNORECASE,
)


def _first_by_event(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`which branch opened first` as `which branch has the earliest opened`, where one date is called like the verb."""
    match = _EVENT_ORDER.match(text)
    if match is None:
        return text, ""
    named = vocabulary.table_named(match["who"].split()[-1]) if match["who"] else None
    dates = {
        (table.words, column.words)
        for table in ([named] if named is not None else [] if match["who"] else vocabulary.tables.values())
        for column in vocabulary.by_table[table.name]
        if column.role == "date" and root(match["event"].lower()) in map(root, column.words)
    }
    if len(dates) != 1:
        return text, ""
    rows, event = next(iter(dates))
    end = "earliest" if match["end"].lower() in ("first", "earliest") else "latest"
    return f"which {' '.join(rows)} has the {end} {' '.join(event)}", ""


_BY_PAID = re.compile(
    r"\bby (?:what|how much)(?: money)? (?:they|it|he|she|each)(?: have| has)? (?P<verb>paid|spent|pay|spend|bought)"
    r"(?: us| in total)?(?=$|[?.! ]| in| since| this| last)",
    re.IGNORECASE,
)


def _by_what_they_paid(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`top 5 members by what they paid` as `… by total amount of payments`, or by revenue where none are stored."""
    match = _BY_PAID.search(text)
    if match is None:
        return text, ""
    table = vocabulary.table_named("payment")
    amount = _amount(vocabulary, table.name) if table is not None and match["verb"].startswith("pa") else None
    by = f"total {' '.join(amount.words)} of {table.plural}" if amount is not None and table is not None else "revenue"
    return f"{text[: match.start()]}by {by}{text[match.end() :]}", f"“{match[0][3:]}” is taken as the {by}"


_WHO_DID_MOST = re.compile(
    r"^who (?:has |have )?(?:put in|worked|logged|did|done|gave|given|volunteered|collected|scored|made|spent|used) "
    r"(?:the )?(?P<most>most|fewest|least) (?P<x>[a-z]+)(?P<rest>(?: (?:in|since|during|this|last|for) .+)?)$",
    re.IGNORECASE,
)


def _who_did_most(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`who put in the most hours this year` as `which volunteer has the highest total hours this year`, where one
    number is called so, in a table that refers to people."""
    match = _WHO_DID_MOST.match(text)
    if match is None or vocabulary.table_named(match["x"]) is not None:
        return text, ""
    named = {match["x"].lower(), lemma(match["x"].lower())}
    numbers = [c for c in vocabulary.columns.values() if c.numeric and c.role == "number" and named & set(c.words)]
    if len(numbers) != 1:
        return text, ""
    people = [
        key.ref_table
        for key in vocabulary.tables[numbers[0].table].table.foreign_keys
        if {"first", "last", "surname", "full"} & {w for c in vocabulary.by_table[key.ref_table] for w in c.words}
    ]
    if len(people) != 1:
        return text, ""
    end = "highest" if match["most"].lower() == "most" else "lowest"
    who = " ".join(vocabulary.tables[people[0]].words)
    return f"which {who} has the {end} total {' '.join(numbers[0].words)}{match['rest']}", ""


_THAN_ALL = re.compile(
    r"\b(?:(?:who|that|which) (?P<verb>earns?|makes?|costs?|weighs?)|(?:whose|with an?|have an?|has an?) "
    r"(?P<of>[a-z]+(?: [a-z]+)?)(?: is| are)?) (?P<cmp>more|less|higher|lower|greater|larger|smaller) than "
    r"(?:that of |those of )?(?:all|every|any|everyone|everybody|anyone|anybody)(?: other| of)?(?: the)?"
    r"(?P<rows> (?!in\b|from\b|at\b|of\b)[a-z]+)?(?P<where> (?:in|from|at|of|with) .+)$",
    re.IGNORECASE,
)
_VERB_COLUMNS = {
    "earn": ("salary", "wage", "pay", "income", "earnings"), "make": ("salary", "wage", "pay", "income"),
    "cost": ("price", "cost", "fee"), "weigh": ("weight",),
}  # fmt: skip


def _more_than_all(text: str, vocabulary: Vocabulary, _: ValueIndex, __: dt.date) -> tuple[str, str]:
    """`employees who earn more than any in Sales` as `employees with a salary above the highest salary in Sales`."""
    match = _THAN_ALL.search(text)
    if match is None:
        return text, ""
    names = _VERB_COLUMNS.get(lemma(match["verb"].lower()), ()) if match["verb"] else (match["of"].lower(),)
    numbers = [c for c in vocabulary.columns.values() if c.numeric and c.role == "number"]
    column = next((c for name in names for c in numbers if " ".join(c.words) == name), None)
    column = column or next((c for name in names for c in numbers if name in c.words), None)
    if column is None:
        return text, ""
    words, more = " ".join(column.words), match["cmp"].lower() in ("more", "higher", "greater", "larger")
    what, side, end = text[: match.start()].rstrip(), "above" if more else "below", "highest" if more else "lowest"
    if re.fullmatch(r"who", what, re.IGNORECASE):
        what = vocabulary.tables[column.table].plural
    return (
        f"{what} with a {words} {side} the {end} {words}{match['where']}",
        f"“than any” is taken as than the {end}" if " any" in match[0] else "",
    )


_RULES: tuple[_Rule, ...] = (
    _amounts, _amount_of_one, _counted_by_time, _signed, _older, _bosses, _who_did, _with_and_without,
    _row_numbers, _busiest, _by_what_they_paid, _more_than_all, _who_did_most, _first_by_event, _last_rows,
)  # fmt: skip
