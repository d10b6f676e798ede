"""Dates as newcomers name them: monthly figures, the last five orders, what opened first, what is older than a year."""

from __future__ import annotations

import re
from itertools import pairwise

from agent.knowledge.vocabulary import TableWord
from agent.parser.date_arithmetic import before
from agent.parser.stored_states import SAME_EVENT
from agent.parser.wording.rules import MONTH, YEAR, Known, Wording, rule
from eval.language.inflection import lemma, root
from eval.language.lexicon import word_set
from eval.language.numbers import SMALL_NUMBERS, quantity

OFTEN = {"daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year",
         "annual": "year"}  # fmt: skip
"""The units of time of adjectives."""


@rule(
    r"^(?!.*\b(?:growth|change|trend))(?P<before>(?:(?:what|show|list|give)(?: is| are| was| me)? )?(?:the |our )?)"
    r"(?P<often>daily|weekly|monthly|yearly|annual) (?P<what>(?P<first>[a-z]+)(?: [a-z]+)?)"
    r"(?P<rest>(?: (?:in|for|since) .+)?)$"
)
def every_period(match: re.Match[str], known: Known) -> Wording | None:
    """`monthly revenue` as `revenue per month`, unless a column is called so (`monthly_fee`)."""
    often, first = match["often"].lower(), lemma(match["first"].lower())
    names = [set(c.words) for c in known.vocabulary.columns.values()]
    if any({often, first} <= words or {OFTEN[often], first} <= words for words in names):
        return None
    return Wording(f"{match['before']}{match['what']} per {OFTEN[often]}{match['rest']}")


@rule(
    r"^(?:(?:show|list|give)(?: me)? )?(?:all |the |our )?(?P<x>(?:[a-z]+ )?[a-z]+s)"
    r"(?P<how> (?:who|that|which|with|from|in) .+?) (?:by|per|each) (?P<unit>day|week|weekday|month|quarter|year|hour)$"
)
def counted_by_time(match: re.Match[str], known: Known) -> Wording | None:
    """`riders who joined in 2024 by month` as `number of riders who joined in 2024 per month`."""
    if known.table(match["x"].split()[-1]) is None:
        return None
    return Wording(f"number of {match['x']}{match['how']} per {match['unit']}")


@rule(
    r"\b(?P<unit>day|week|month|quarter|weekday) (?:of|in) (?P<year>(?:the year )?(?:19|20)\d\d|(?:last|this) year) "
    r"(?P<rest>(?P<verb>had|has|have|with|was|were|did|saw|drew|brought|made|took|showed|recorded|got)\b.+)$"
)
def month_of(match: re.Match[str], _: Known) -> Wording:
    """`which month of 2024 drew the most guests` as `which month had the most guests in 2024`."""
    verb, rest = match["verb"], match["rest"]
    if verb.lower() not in ("with", "was", "were", "did"):
        rest = f"had{rest.removeprefix(verb)}"
    return Wording(f"{match['unit']} {rest} in {match['year']}")


@rule(
    r"^(?P<x>.+?) (?P<by>(?:by|per|for each) (?:day|week|month|quarter|year)) (?:for|in|of|during) "
    rf"(?P<a>(?:{MONTH} )?{YEAR}) (?P<join>and|vs\.?|versus|or|to) (?P<b>(?:{MONTH} )?{YEAR})$"
)
def by_time_in_two(match: re.Match[str], _: Known) -> Wording:
    """`revenue by month for 2024 and 2025` as `revenue in 2024 and 2025 by month`."""
    return Wording(f"{match['x']} in {match['a']} {match['join']} {match['b']} {match['by']}")


@rule(
    rf"\b(?P<x>[a-z]+s) (?:of|in|from|during) (?P<when>(?:{MONTH} )?{YEAR}) "
    r"(?P<cmp>above|over|under|below|(?:more|less) than|at least|at most) (?P<n>[$€£]?\d[\d.,]*)"
    r"(?= ?(?:euros?|dollars?|pounds?)?$)"
)
def amount_after_period(match: re.Match[str], known: Known) -> Wording | None:
    """`orders of 2025 above 200` as `orders above 200 in 2025`."""
    if known.table(match["x"]) is None:
        return None
    return Wording(f"{match['x']} {match['cmp']} {match['n']} in {match['when']}")


@rule(
    r"^(?:is|are) (?:the |our |my )?(?P<x>[a-z]+(?: [a-z]+)?) (?:still )?(?:going (?:up|down)|growing|increasing|"
    r"rising|falling|declining|decreasing|dropping|shrinking|improving)$"
)
def trend(match: re.Match[str], _: Known) -> Wording:
    """`is revenue going up` as `revenue by month`, which shows it."""
    return Wording(
        f"{match['x']} by month", doubt="shown month by month; name two periods to compare if you want one answer"
    )


@rule(
    r"^(?:(?:at|in|on) )?(?:which|what) (?P<unit>hour|day|weekday|day of the week|month|quarter|year) (?:do|does|did) "
    r"(?:we (?:get|have|see|receive|make) )?(?:the )?(?P<most>most|fewest) (?P<x>[a-z]+s)"
    r"(?: (?:come in|happen|arrive|occur|take place|get placed|start|end up))?$"
)
def most_at_time(match: re.Match[str], _: Known) -> Wording:
    """`which hour do most orders come in` as `which hour has the most orders`."""
    return Wording(f"which {match['unit']} has the {match['most']} {match['x']}")


@rule(
    r"^(?P<ask>(?:(?:show|list|give|what (?:is|was|are))(?: me)? )?)(?:the )?"
    r"(?P<end>first|earliest|oldest|latest|last|newest|most recent) (?P<x>[a-z]+)(?: date)? "
    r"(?:of|per|by|for|from) (?:each|every)? ?(?P<y>[a-z]+)$"
)
def end_for_each(match: re.Match[str], known: Known) -> Wording | None:
    """`the latest order of each customer` as `customers and their latest order date`."""
    rows, owner = known.table(match["x"]), known.table(match["y"])
    if rows is None or owner is None or owner.name not in {key.ref_table for key in rows.table.foreign_keys}:
        return None
    dates = [c for c in known.vocabulary.by_table[rows.name] if c.role == "date"]
    own = [c for c in dates if set(map(root, rows.words)) & set(map(root, c.words))] or dates
    if len(own) != 1:
        return None
    end = "earliest" if match["end"].lower() in ("first", "earliest", "oldest") else "latest"
    date = " ".join(own[0].words)
    return Wording(
        f"{match['ask']}{owner.plural} and their {end} {date}", notes=(f"the {match['x']} is given by its {date}",)
    )


_AGED = word_set("birth birthday birthdate dob born age")


@rule(
    r"\b(?P<x>[a-z]+s?)(?: (?:that|which) are)?(?P<old> (?P<side>older|newer|younger) than"
    rf" (?:the last )?(?P<n>\d+|an?|{SMALL_NUMBERS}) (?P<unit>day|week|month|year)s?(?: old)?)(?=[?.! ]*$)"
)
def older(match: re.Match[str], known: Known) -> Wording | None:
    """`bikes older than 4 years` as `bikes before 2022-06-15`, where the rows have one first date and no age."""
    table, count = known.table(match["x"]), quantity(match["n"])
    if table is None or not isinstance(count, int) or not known.dated(table):
        return None
    if any(_AGED & set(c.words) for c in known.vocabulary.by_table[table.name]):
        return None
    day = before(known.today, count, match["unit"].lower()).isoformat()
    side = "before" if match["side"].lower() == "older" else "after"
    words = " ".join(match["old"].split())
    things = match[0].removesuffix(match["old"])
    return Wording(f"{things} {side} {day}", notes=(f"“{words}” is taken as {side} {day}, counted from today",))


@rule(rf"\blast (?P<rest>(?:\d+|{SMALL_NUMBERS}) (?P<rows>[a-z]+))(?=$| (?:of|from|by|with|and)\b)")
def last_rows(match: re.Match[str], known: Known) -> Wording | None:
    """`the last 5 orders` as `the latest 5 orders`, where orders have a date."""
    table = known.table(match["rows"])
    return Wording(f"latest {match['rest']}") if table is not None and known.dated(table) else None


@rule(
    r"^(?:who|which (?P<who>[a-z ]+?)) (?:was |were |has been |got )?(?P<event>[a-z]+) "
    r"(?P<end>first|earliest|last|latest|most recently)$"
)
def first_by_event(match: re.Match[str], known: Known) -> Wording | None:
    """`which branch opened first` as `which branch has the earliest opened`, where one date is called like the verb."""
    named = known.table(match["who"].split()[-1]) if match["who"] else None
    dates = {
        (table.words, column.words)
        for table in ([named] if named is not None else [] if match["who"] else known.vocabulary.tables.values())
        for column in known.vocabulary.by_table[table.name]
        if column.role == "date" and root(match["event"].lower()) in map(root, column.words)
    }
    if len(dates) != 1:
        return None
    rows, event = next(iter(dates))
    end = "earliest" if match["end"].lower() in ("first", "earliest") else "latest"
    return Wording(f"which {' '.join(rows)} has the {end} {' '.join(event)}")


@rule(
    r"\b(?P<x>[a-z]+s) (?:(?:that|which) )?(?:are )?(?P<verb>ending|ends?|ended|expiring|expires?|expired|starting|"
    r"starts?|started|beginning|begins?|due) (?P<prep>in|on|before|after|between|by|from|during) "
    rf"(?=(?:the )?(?:\d|{MONTH}|q[1-4]\b|last\b|this\b|next\b))"
)
def bounded(match: re.Match[str], known: Known) -> Wording | None:
    """`leases ending in 2026` as `leases with end date in 2026`: the one date of such rows that is named after it."""
    dates = _dates_of(known.table(match["x"]), match["verb"], known)
    return Wording(f"{match['x']} with {dates[0]} {match['prep']} ") if len(dates) == 1 else None


@rule(
    r"^when (?:was|were|is|are|did|does|do|has|have|will) (?P<one>(?:the |our )?(?:[a-z]+ )??(?P<x>[a-z]+) "
    r"(?:(?:number |no\.? |#)?\d+|(?:of|by|from|for) .+?))(?: been)? (?P<verb>[a-z]+)$"
)
def when_it_was(match: re.Match[str], known: Known) -> Wording | None:
    """`when was order 17 shipped` as `shipped date of order 17`: the one date of such rows that is named after it."""
    dates = _dates_of(known.table(match["x"]), match["verb"], known)
    return Wording(f"{dates[0]} of {match['one']}") if len(dates) == 1 else None


def _dates_of(table: TableWord | None, verb: str, known: Known) -> list[str]:
    """The dates of a table that a verb names, as `shipped date`."""
    events = {root(verb.lower()), *map(root, SAME_EVENT.get(verb.lower(), "").split())}
    dates = [c for c in known.vocabulary.by_table[table.name] if c.role == "date"] if table is not None else []
    called = [c.words for c in dates if events & {root(w) for w in c.words}]
    return [" ".join(words if "date" in words else (*words, "date")) for words in called]


@rule(
    r"^(?:who|(?:which|what) (?P<who>[a-z]+)) (?:has|have) "
    r"(?:been (?:with us|here|around)|(?P<work>been employed|worked (?:here|for us))) (?:for )?(?:the )?"
    r"(?P<end>longest|shortest)(?: time)?$"
)
def longest_here(match: re.Match[str], known: Known) -> Wording | None:
    """`which nurse has been with us the longest` as `which nurse has the earliest hired`: the date they came."""
    words = known.vocabulary
    named = known.table(match["who"])
    columns = words.by_table[named.name] if named else () if match["who"] else words.columns.values()
    came = _HIRED if match["work"] else _CAME
    dates = [c for c in columns if c.role == "date" and came & set(map(root, c.words))]
    if len(dates) != 1:
        return None
    end = "earliest" if match["end"].lower() == "longest" else "latest"
    return Wording(f"which {' '.join(words.tables[dates[0].table].words)} has the {end} {' '.join(dates[0].words)}")


_HIRED = frozenset(map(root, word_set("hired employed started")))
_CAME = _HIRED | frozenset(map(root, word_set("joined registered signup enrolled member")))


@rule(r"\b(?:very )?(?P<end>first|last) (?P<what>[a-z]+)\b(?! by\b)", everywhere=True)
def first_thing(match: re.Match[str], known: Known) -> Wording | None:
    """`the first order` as `the earliest order`, if a table of orders has a date and no column is called so."""
    end, what = match["end"].lower(), match["what"].lower()
    named = any((end, what) in pairwise(c.words) for c in known.vocabulary.columns.values())
    dated = any(
        table.words == (what,) and any(c.role in ("date", "year") for c in known.vocabulary.by_table.get(name, ()))
        for name, table in known.vocabulary.tables.items()
    )
    return Wording(f"{'earliest' if end == 'first' else 'latest'} {what}") if dated and not named else None
