"""One row of a table, by its number or name: what it says, what belongs to it, who it is of."""

from __future__ import annotations

import re

from agent.parser.persons import personal
from agent.parser.wording.amounts import amount_of
from agent.parser.wording.rules import THINGS, Known, Wording, rule
from eval.language.inflection import lemma
from eval.language.lexicon import word_set

_NUMBER = r"(?:(?:number |no\.? ?|id |#)?(?P<n>\d+))"


@rule(
    r"^(?P<ask>(?:what (?:is|are|was) |show(?: me)? |list |give me )?)(?:the )?(?P<x>[a-z]+) (?P<n>(?:#|no\.? ?)?\d+)"
    r"(?:'s)? (?P<what>[a-z]+(?: [a-z]+)?)$"
)
def of_row(match: re.Match[str], known: Known) -> Wording | None:
    """`order 17 status`, `client 4 orders` as `status of order 17`, `orders of client 4`."""
    table, what = known.table(match["x"]), tuple(lemma(w) for w in match["what"].lower().split())
    if table is None or table.plural == match["x"].lower():
        return None
    own = any(set(what) <= set(c.words) for c in known.vocabulary.by_table[table.name])
    if not own and known.table(match["what"]) is None:
        return None
    return Wording(f"{match['ask']}{match['what']} of {match['x']} {match['n']}")


@rule(
    r"^(?:(?:show|give|tell|find|get|look up|pull up|open)(?: me)? |i need )?(?:all |the |some |more |full )*"
    r"(?P<all>(?:details?|info|information|data|record|row|everything)(?: (?:of|for|about|on|regarding|we have on) ))?"
    rf"(?:the |our )?(?P<x>[a-z]+) {_NUMBER}$"
)
def whole_row(match: re.Match[str], known: Known) -> Wording | None:
    """`details of order 17`, or only `order 17`, as `all information about order 17`."""
    table = known.table(match["x"])
    if table is None or table.plural == match["x"].lower():
        return None
    if not match["all"] and known.vocabulary.name_columns(table.name):  # which says who or what it is
        return None
    return Wording(f"all information about {match['x']} {match['n']}")


@rule(rf"^what(?:'s| is| was| does| did)(?: in)? (?:the |our )?(?P<x>[a-z]+) {_NUMBER}(?: contain(?:ed|s)?)?$")
def contents(match: re.Match[str], known: Known) -> Wording | None:
    """`what was in order 17` as `products in order 17`."""
    things, table = known.rows(*THINGS), known.table(match["x"])
    inside = " in " in match[0] or "contain" in match[0]
    if not things or table is None or not inside or things == table.plural:
        return None
    return Wording(f"{things} in {match['x']} {match['n']}")


@rule(rf"^how much (?:is|was|did) (?:the |our )?(?P<x>[a-z]+) {_NUMBER}(?: (?:cost|come to|worth|for))?$")
def amount_of_row(match: re.Match[str], known: Known) -> Wording | None:
    """`how much was order 17` as `total amount of order 17`."""
    table = known.table(match["x"])
    amount = amount_of(known, table.name) if table is not None else None
    if table is None or amount is None:
        return None
    name = " ".join(w for w in (*table.words, *amount.words) if len(amount.words) == 1 or w in amount.words)
    return Wording(f"{name} of {match['x']} {match['n']}")


_DID = word_set("placed made ordered paid booked wrote took bought submitted signed opened raised")


@rule(
    rf"^(?:who|which (?P<who>[a-z]+)) (?P<did>[a-z]+) (?:the |our )?(?P<x>[a-z]+) {_NUMBER}$",
    r"^(?:who|which (?P<who>[a-z]+)) (?P<did>[a-z]+) (?:the |our )"
    r"(?P<n>latest|newest|most recent|last|first|earliest|oldest) (?P<x>[a-z]+)$",
)
def person_of_row(match: re.Match[str], known: Known) -> Wording | None:
    """`who placed order 17` as `customer of order 17`: the one table of people that it refers to."""
    table = known.table(match["x"]) if match["did"].lower() in _DID else None
    owners = {key.ref_table for key in table.table.foreign_keys} if table is not None else set()
    named = known.table(match["who"])
    people = {named.name} & owners if named is not None else {x for x in owners if personal(known.vocabulary, x)}
    if len(people) != 1:
        return None
    who = " ".join(known.vocabulary.tables[people.pop()].words)
    row = f"{match['x']} {match['n']}" if match["n"].isdecimal() else f"the {match['n']} {match['x']}"
    return Wording(f"{who} of {row}", notes=(f"{match['did']}: the {who}",))


@rule(
    r"^who (?P<verb>[a-z]+s) (?!the (?:most|fewest|least)\b|more\b|fewer\b|at\b|no\b|to\b|for\b|in\b|\d)(?P<rest>.+)$"
)
def agent_noun(match: re.Match[str], known: Known) -> Wording | None:
    """`who supplies the kettle` as `supplier of the kettle`, where a table is called so."""
    verb = lemma(match["verb"].lower())
    nouns = (f"{verb}er", f"{verb}r", f"{verb}or", f"{verb[:-1]}ier", f"{verb[:-1]}or")
    noun = next((noun for noun in nouns if known.table(noun) is not None), "")
    return Wording(f"{noun} of {match['rest']}", notes=(f"{match['verb']}: the {noun}",)) if noun else None
