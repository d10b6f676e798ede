"""Computations on figures: `share of orders by status`, `median price`, `monthly growth of revenue`.

Each becomes the plain question that gives the figures, and the `Shape` of the computation on them.
"""

from __future__ import annotations

import re
from dataclasses import replace

from agent.parser.interpretation import Shape
from agent.parser.measures import AVERAGED, MONEY_ROWS
from agent.parser.wording.rules import BY, YEAR, Known, Wording, rule, subject
from eval.language.inflection import lemma
from eval.language.lexicon import word_set

OFTEN = {"daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year",
         "annual": "year"}  # fmt: skip
"""The units of time of adjectives."""
_PERIOD = r"(?P<period>day|week|month|quarter|year)"
_IN_PERCENT = r"(?: (?:in|as)(?: an?)? (?:percent|percentages?|share)(?: of (?:the )?(?:total|all))?)"
_SHARE = r"(?:share|percentage|percent|proportion)"


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
    rf"^(?:(?:what|show|give)(?: is| was| me)? )?(?:the )?{_SHARE} of (?:the )?(?:total |all )?"
    rf"(?P<x>.+?) (?P<g>{BY} .+?){_IN_PERCENT}?$",
    rf"^(?P<x>.+?) (?P<g>{BY} .+?){_IN_PERCENT}$",
    rf"^(?P<x>\w+) share (?P<g>{BY} .+?){_IN_PERCENT}?$",
    rf"^(?:what|which) {_SHARE} of (?:the |our )?(?:total )?(?P<x>.+?) "
    r"(?:comes? from|came from|is from|goes to|went to|belongs to|is in|are in|falls? (?:on|in|to|under)|does|did) "
    r"(?P<g>each .+?)(?: (?:have|has|make|made|bring|brought|account|earn|earned|get|got|receive|run|hold|take)"
    r"(?: in| for| up)?)?$",
)
def share(match: re.Match[str], known: Known) -> Wording | None:
    """`share of orders by status` as the shares of `orders by status`, not `share of orders paid by card`."""
    if re.search(r" (?:that|which|who|whose) ", f"{match['x']} "):
        return None
    if known.values.find(re.sub(rf"^(?:{BY}) (?:the )?", "", match["g"], flags=re.IGNORECASE)):
        return None
    by = re.sub(r"^each ", "by ", match["g"], flags=re.IGNORECASE)
    return Wording(f"{subject(match['x'])} {by}", Shape("share", grouped=True))


@rule(
    r"^(?:what (?:is|was) )?(?:the )?(?:average |avg |mean |total )?(?P<x>[a-z]+(?: [a-z]+)?) per (?P<y>[a-z]+)"
    r"(?P<rest>(?: (?:by|for|in|of|on|during|since)\b.+)?)$"
)
def ratio(match: re.Match[str], known: Known) -> Wording | None:
    """`average fare per passenger` as the ratio of `total fare and total passengers`, where a row has a number of
    passengers; `fare per crossing` is another question."""
    x, y = lemma(match["x"].lower().split()[-1]), lemma(match["y"].lower())
    counted = [c for c in known.figures() if c.words[0] == y and not AVERAGED & set(c.words) and not c.foreign]
    figures = [c for c in known.figures() if x in c.words and "per" not in c.words]
    if len(counted) != 1 or known.table(y) or not any(c.table == counted[0].table for c in figures):
        return None
    return Wording(f"total {match['x']} and total {match['y']}{match['rest']}", Shape("ratio"))


_GROWN = r"\b(?:growth|change)(?: rate)?\b(?: (?:of|in)(?= (?!\d)))?"


@rule(
    rf"^(?=.*{_GROWN})(?P<before>.*?)(?:\b(?P<unit>day|week|month|quarter|year)[- ](?:over|on|to|by)[- ](?P=unit)\b|"
    rf"\b{BY} {_PERIOD}s?\b|\b(?P<often>{'|'.join(OFTEN)})\b|\bover the (?P<years>year|month)s\b)(?P<after>.*)$"
)
def growth(match: re.Match[str], _: Known) -> Wording:
    """`monthly growth of revenue` as the growth of `revenue by month`."""
    period = match["unit"] or match["period"] or OFTEN.get((match["often"] or "").lower()) or match["years"] or ""
    what = re.sub(_GROWN, "", match["before"] + match["after"], flags=re.IGNORECASE)
    what = re.sub(rf"{_IN_PERCENT}$", "", " ".join(what.split()), flags=re.IGNORECASE)
    when = re.search(r" (?:in|for|since|during) \S.*$", what)
    kept, rest = (what[: when.start()], when.group()) if when else (what, "")
    return Wording(f"{subject(kept)} by {period}{rest}", Shape("growth", grouped=True))


@rule(
    r"^(?:how (?:much )?(?:did|has|have) (?:the |our )?(?P<x>.+?) (?:change|changed|grow|grown|increase|increased|"
    r"decrease|decreased|develop|drop)|(?:what (?:is|was) the )?(?P<x2>.+?) (?:growth|change|increase|decrease)|"
    r"(?:what (?:is|was) the )?(?:growth|change|increase|decrease) (?:of|in) (?P<x3>.+?)) "
    rf"(?:from |between )?(?P<a>{YEAR}) (?:to|and|vs\.?|until) (?P<b>{YEAR}){_IN_PERCENT}?$"
)
def change(match: re.Match[str], _: Known) -> Wording:
    """`how much did revenue grow from 2023 to 2024` as the change of `revenue by year`."""
    what = subject(match["x"] or match["x2"] or match["x3"] or "")
    return Wording(f"{what} by year", Shape("change", (int(match["a"]), int(match["b"])), grouped=True))


@rule(
    r"^(?:compare )?(?P<x>.+?) (?:vs\.?|versus|compared (?:to|with)) (?P<y>.+)$",
    r"^compare (?:the )?(?P<x>.+? (?:of|for|from|in) .+?(?<!\d)) (?:and|with|to) (?P<y>(?!\d).+)$",
)
def compare(match: re.Match[str], known: Known) -> Wording:
    """`revenue in Bern vs Basel` as the comparison of `revenue in Bern or Basel`."""
    rows = "number of " if known.plural_table(match["x"].split()[0]) else ""
    return Wording(f"{rows}{match['x'].rstrip(',:')} or {match['y']}", Shape("compare"))


_BEFORE = r"^(?P<before>(?:(?:what|show|give|tell)(?: is| was| me)? )?(?:the )?)"


@rule(rf"{_BEFORE}median (?:of )?(?:the )?(?P<x>.+)$")
def median(match: re.Match[str], known: Known) -> Wording:
    """`median price` as the median for `average price`."""
    inner = order_value(f"average {match['x']}", known)
    if inner is not None and inner.shape is None:
        return replace(inner, shape=Shape("median"))
    return Wording(f"{match['before']}average {match['x']}", Shape("median"))


_MEAN_OF = r"^(?:what(?: is|'s| was) (?:the |our )?)?"


@rule(
    rf"{_MEAN_OF}(?:average|avg|mean) (?:(?P<noun>order|invoice|sale|purchase|transaction|booking) "
    r"(?:value|size|amount)|basket(?: (?:value|size))?|ticket(?: (?:value|size))?|shopping cart|cart value)"
    r"(?P<rest>.*)$",
    rf"{_MEAN_OF}(?P<noun>)aov(?P<rest>.*)$",
)
def order_value(match: re.Match[str], known: Known) -> Wording | None:
    """`average order value` as `average order total`, or as the average of `revenue per order`."""
    noun = (match["noun"] or "order").lower()
    tables = {t.words: t for t in reversed(known.vocabulary.tables.values())}
    rows = next((tables[word,] for word in (noun, "order", "invoice", "sale") if (word,) in tables), None)
    if rows is None:
        return None
    held = {" ".join(c.words) for c in known.vocabulary.by_table[rows.name] if c.numeric}  # the amount of one row
    amounts = ("total amount", "order total", "total", "amount", "grand total", "total price")
    if amount := next((name for name in amounts if name in held), ""):
        return Wording(f"average {rows.words[-1]} {amount}{match['rest']}")
    if re.match(r" (?:by|per|for each)\b", match["rest"]):
        return None
    return Wording(f"revenue per {rows.words[-1]}{match['rest']}", Shape("average", grouped=True))


_MEASURED = re.compile(r"revenue|sales|spend(?:ing)?|spent|turnover", re.IGNORECASE)


@rule(
    r"^(?:(?:what|show|give)(?: is| was| me)? )?(?:the |our )?(?:average|avg|mean) (?P<x>(?:number|"
    r"count) of \w+(?: \w+)?|revenue|"
    r"sales|spend(?:ing)?|spent|items|quantity|turnover|[a-z]+s) (?:per|by|for each|in an?|of an?|for an?)"
    r" (?P<g>\w+(?: \w+)?)"
    r"(?P<rest>(?: (?:in|since|during|for) .+)?)$"
)
def average_per(match: re.Match[str], known: Known) -> Wording | None:
    """`average orders per customer` as the average of `number of orders per customer`."""
    if lemma(match["g"].lower()) != match["g"].lower():
        return None
    what = re.sub(r"^(?:items|quantity)$", "units sold", match["x"], flags=re.IGNORECASE)
    if known.plural_table(what) and lemma(what.lower()) not in MONEY_ROWS:
        what = f"number of {what}"
    elif what == match["x"] and re.fullmatch(r"[a-z]+s", what, re.IGNORECASE) and not _MEASURED.fullmatch(what):
        return None
    return Wording(f"{what} per {match['g']}{match['rest']}", Shape("average", grouped=True))


_UNIT_OF_TIME = r"(?P<period>day of the week|day|week|month|quarter|year|weekday|hour)"
_FIGURE = r"(?P<x>[a-z]+(?: [a-z]+)?)"
_WHEN = rf"(?P<rest>(?: (?:in|for|since|during|last|this|of(?= {YEAR})) .+)?)"
_LEAST = word_set("fewest least lowest worst quietest slowest")


@rule(
    rf"^(?:(?:what|which)(?: is| was)? )?(?:the |our )?(?P<most>busiest|quietest|slowest) {_UNIT_OF_TIME}"
    rf"(?: of the day)?(?: (?:for|by|in terms of|of) {_FIGURE})?{_WHEN}$",
    rf"^(?:(?:what|which)(?: is| was)? )?(?:the |our )?(?P<most>best|worst) {_UNIT_OF_TIME}"
    rf"(?: (?:for|by|in terms of) {_FIGURE})?{_WHEN}$",
    rf"^(?:on |in )?(?:which|what) {_UNIT_OF_TIME}(?: of (?:the )?year)? (?:has|had|have|saw|sees|"
    rf"brought(?: in)?|is|was|with|did we have|do we have|did we get|do we get|did we make|do we make)(?: the)? "
    rf"(?P<most>most|fewest|least|highest|lowest|largest|smallest|best|worst) (?:number of )?{_FIGURE}{_WHEN}$",
    r"^(?:(?:when|what) is (?:the |our )?)?(?P<most>rush|peak) (?P<period>hour)(?: (?:for|of) (?P<x>[a-z]+))?"
    r"(?P<rest>)$",
)
def busiest_time(match: re.Match[str], known: Known) -> Wording | None:
    """`the busiest month for orders`, `which weekday had the most trips`, `best month for sales`, `rush hour`."""
    period = re.sub(r"^day of the week$", "weekday", match["period"], flags=re.IGNORECASE)
    what, rest, most = (match["x"] or "").lower(), match["rest"], match["most"].lower() not in _LEAST
    if not what and match["most"].lower() in ("best", "worst"):
        what = "revenue"
    if not what:
        if not (events := known.events()):
            return None
        rows = events[0].plural
        shape = Shape("top", grouped=True, descending=most)
        note = f"“busiest” is taken as the most {rows}"
        return Wording(f"number of {rows} per {period}{rest}", shape, (note,), guessed=True)
    noun = what.split()[-1]
    one = lemma(noun)
    dates = [c for c in known.vocabulary.columns.values() if c.role == "date" and one in c.words]
    if one != noun and known.table(noun) is None and len(dates) == 1:  # `arrivals`, as one date column is called
        shape = Shape("top", grouped=True, descending=most, part=period)
        rows = known.vocabulary.tables[dates[0].table].plural
        return Wording(f"number of {rows} per {' '.join(dates[0].words)}{rest}", shape)
    if known.plural_table(noun) and not what.startswith("number of "):
        what = f"number of {what}"
    return Wording(f"{what} per {period}{rest}", Shape("top", grouped=True, descending=most))
