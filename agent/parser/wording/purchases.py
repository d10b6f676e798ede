"""Sales: what sells best, who spends most, who bought in a year, how many were sold, the best customers."""

from __future__ import annotations

import re

from agent.parser.persons import personal
from agent.parser.wording.rules import BUYERS, MONTH, SALES, SINCE, THINGS, UNIT, WHO, Known, Wording, extreme, rule
from eval.language.inflection import lemma, plural


@rule(rf"^(?:which|what) (?P<x>[a-z]+) (?:earns?|earned)(?: us)? (?:the )?(?P<most>most|least){SINCE}$")
def earns_most(match: re.Match[str], known: Known) -> Wording | None:
    """`which category earns the most` as `which category has the highest revenue`; people earn a salary."""
    table = known.table(match["x"])
    if table is None or personal(known.vocabulary, table.name):
        return None
    return Wording(f"which {match['x']} has the {extreme(match['most'])} revenue{match['rest']}")


@rule(
    rf"{WHO}(?:have |has )?(?:spent|spend|paid) (?P<cmp>more than|less than|over|under|at least) "
    r"(?P<n>[\d.,]+)(?: (?!in\b|since\b|last\b|this\b|during\b|on\b|per\b)\w+)?(?P<rest>.*)"
)
def spent(match: re.Match[str], _: Known) -> Wording:
    """`who spent more than 100 euros` as `with revenue more than 100`."""
    return Wording(f"with revenue {match['cmp']} {match['n']}{match['rest']}")


@rule(
    r"^(?:what(?: things?| stuff)? (?:sells?|sold)(?: the)? (?:best|most)"
    r"|(?:what(?:'s| is| are) |(?:show|list)(?: me)? )?(?:the |our )?(?P<end>best|worst)[- ]?seller(?P<many>s?))"
    r"(?P<rest>(?: (?:in|since|this|last) .+)?)[?.! ]*$"
)
def what_sells(match: re.Match[str], known: Known) -> Wording | None:
    """`what sells best` as `which product sold best`."""
    thing = known.noun(*THINGS)
    if not thing:
        return None
    end, rest = (match["end"] or "best").lower(), match["rest"]
    return Wording(f"{end} selling {plural(thing)}{rest}" if match["many"] else f"which {thing} sold {end}{rest}")


@rule(
    r"^(?:(?:show|list|give)(?: me)? )?(?:all |the |our |each )*(?P<x>[a-z]+) (?:and|with|along with) how much"
    r"(?: money)? (?:they|he|she|it|each)(?: of them)?(?: each)?(?: have| has)? "
    r"(?:spent|spend|spends|paid us|brought in|made)(?: with us| in total)?(?P<rest>.*)$"
)
def people_and_spent(match: re.Match[str], known: Known) -> Wording | None:
    """`customers and how much they spent in 2025` as `revenue per customer in 2025`."""
    table = known.table(match["x"])
    return Wording(f"revenue per {lemma(match['x'].lower())}{match['rest']}") if table and _earns(known) else None


@rule(
    r"^(?P<top>(?:the )?top \d+ [a-z]+s?)(?: by)?(?: (?:money|amount|total|total amount))? (?:spent|spending|spend)"
    rf"{SINCE}$"
)
def top_spenders(match: re.Match[str], known: Known) -> Wording | None:
    """`top 5 customers money spent` as `top 5 customers by revenue`."""
    return Wording(f"{match['top']} by revenue{match['rest']}") if _earns(known) else None


@rule(r"\b(?P<what>things?|stuff) (?:that )?we (?:sell|offer|make|bake|stock)\b")
def things_we_sell(match: re.Match[str], known: Known) -> Wording | None:
    """`most expensive thing we sell` as `most expensive product`."""
    thing = known.noun(*THINGS, "part", "service", "treatment")
    return Wording(thing if match["what"].lower() == "thing" else plural(thing)) if thing else None


@rule(r"\b(?P<rows>[a-z]+) (?:that )?we (?:sell|offer|stock|carry)\b")
def rows_we_sell(match: re.Match[str], known: Known) -> Wording | None:
    """`dearest parts we sell` as `dearest parts`."""
    return Wording(match["rows"]) if known.table(match["rows"]) is not None else None


@rule(r"^who (?:spends|spent|buys|bought|paid|pays)(?: us)? (?:the )?most(?: money)?(?: (?:with|at) us)?(?P<rest>.*)$")
def who_spends(match: re.Match[str], known: Known) -> Wording | None:
    """`who spends most` as `which customer has the highest revenue`."""
    buyer = known.noun(*BUYERS)
    return Wording(f"which {buyer} has the highest revenue{match['rest']}") if buyer and _earns(known) else None


@rule(r"^what (?:did|has|have) (?P<who>.+?) (?:buy|bought|order|ordered|purchase|purchased)[?.! ]*$")
def what_they_bought(match: re.Match[str], known: Known) -> Wording | None:
    """`what did Ada buy` as `products in orders of Ada`."""
    things, orders = known.rows(*THINGS), known.rows(*SALES)
    return Wording(f"{things} in {orders} of {match['who']}") if things and orders else None


@rule(
    r"\b(?P<x>[a-z]+s)(?: (?:who|that|which))?(?: have| had)? (?:ordered|bought(?: something| anything)?|purchased) "
    r"(?P<when>(?!.* but\b)(?:(?:in|during|since|before|after|on|between) "
    rf"(?=(?:the )?(?:\d|{MONTH}|q[1-4]\b|h[12]\b|first\b|last\b|this\b|second\b|week\b))|(?:last|this) {UNIT}|"
    r"yesterday|today).*)$"
)
def ordered_when(match: re.Match[str], known: Known) -> Wording | None:
    """`how many customers ordered in 2025` as `how many customers with orders in 2025`: nothing is sorted."""
    people, rows = known.table(match["x"]), next(filter(None, map(known.table, SALES)), None)
    if people is None or rows is None or people.name not in {key.ref_table for key in rows.table.foreign_keys}:
        return None
    return Wording(f"{match['x']} with {rows.plural} {match['when']}")


@rule(
    r"^(?:(?:what|which)(?: is| are| was| were)? |(?:show|list|give)(?: me)? )?(?:the |our )?(?P<end>best|worst|top)"
    r"[- ]selling (?P<x>[a-z]+)(?: (?P<by>by|per|(?:in|of|for) (?:each|every)) (?P<group>[a-z]+))?(?P<rest>.*)$"
)
def selling(match: re.Match[str], known: Known) -> Wording | None:
    """`best selling products by category` as `best selling product of each category`; without groups, the first ten of
    several."""
    one = lemma(match["x"].lower())
    if known.table(match["group"]) is not None:
        return Wording(f"{match['end']} selling {one} of each {lemma(match['group'].lower())}{match['rest']}")
    if one == match["x"].lower():
        return None
    by = f" by {match['group']}" if match["group"] else ""
    return Wording(f"10 {match['end']} selling {match['x']}{by}{match['rest']}")


@rule(
    r"^how many (?!different\b|distinct\b|times\b)(?P<x>.+?) (?:were sold|have been sold|did we sell|have we sold|sold)"
    rf"{SINCE}$"
)
def units_sold(match: re.Match[str], known: Known) -> Wording | None:
    """`how many kettles did we sell` as `total quantity sold of kettles`, where sales have a quantity."""
    counted = (c.table for c in known.figures() if c.words[-1] in ("quantity", "qty", "unit"))
    if not any(_SOLD_IN & set(known.vocabulary.tables[name].words) for name in counted):
        return None
    table, rest = known.table(match["x"]), match["rest"]
    if table is None and match["x"].lower() not in ("units", "pieces", "items", "things"):
        return Wording(f"total quantity sold of {match['x']}{rest}")
    kinds = "pieces are counted; ask for different ones if kinds are meant"
    return Wording(f"total quantity sold{rest}", doubt=kinds)


_SOLD_IN = frozenset((*SALES, "item", "line", "detail", "booking"))
_RANKED = ("customer", "client", "buyer", "supplier", "employee", "category", "store", "seller", "country")


@rule(
    r"^(?:(?:who|what|which|show|list|give)(?: (?:is|are|were|was|me))? )?(?:our |the |my |all )*"
    r"(?P<rank>top|best|biggest|most valuable|most important)(?: (?P<n>\d+|three|five|ten))?(?P<selling>[- ]selling)? "
    rf"(?P<what>\w+){SINCE}$"
)
def best(match: re.Match[str], known: Known) -> Wording | None:
    """`best customers last year` as `top 10 customers by revenue last year`."""
    what, rank = lemma(match["what"].lower()), match["rank"].lower()
    if known.table(what) is None or not _earns(known):
        return None
    if rank == "best" if match["selling"] else (rank == "biggest" and what not in _RANKED):
        return None
    number = match["n"] or ("1" if what == match["what"].lower() else "10")
    return Wording(
        f"top {number} {match['what']} by revenue{match['rest']}",
        notes=("“best” and “top” are taken as the highest revenue",),
        guessed=True,
    )


def _earns(known: Known) -> bool:
    """Whether the schema holds amounts of money."""
    return any({"price", "amount", "total", "revenue", "sale"} & set(c.words) for c in known.figures())
