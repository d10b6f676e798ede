"""Amounts as newcomers ask for them: what is overdue, who paid most, who earns more than all in a department."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.knowledge.vocabulary import ColumnWord, TableWord
from agent.parser.persons import person_of, personal
from agent.parser.stored_states import holds_state
from agent.parser.wording.rules import ASKED, SINCE, Known, Wording, extreme, rule
from eval.language.inflection import lemma, root
from eval.language.lexicon import word_set

_AMOUNT_WORDS = (("total", "amount"), ("amount",), ("total",), ("grand", "total"), ("total", "price"), ("price",),
                 ("fee",), ("cost",), ("sum",), ("balance",))  # fmt: skip
_PEOPLE = ("customer", "client", "member", "owner", "patient", "buyer", "tenant", "guest", "student", "account", "user",
           "borrower", "subscriber", "company", "supplier", "rider", "person", "contact")  # fmt: skip
_STATE = "unpaid|overdue|outstanding|open|pending|unsettled|past due"


@rule(
    r"^(?:what is the |what's the )?(?:(?:how much(?: money)? (?:is|are|was)(?: still| currently)? "
    rf"(?P<state>{_STATE}))|(?:(?:total|sum of(?: all)?) (?P<state2>{_STATE}) (?:amount|money|total|balance|value)s?"
    r"|(?:total|sum of(?: all)?) (?P<state3>overdue|unpaid|outstanding))"
    rf"|(?:(?P<state4>{_STATE}) (?:amount|total|balance)s?))(?P<rest>(?: (?:by|per|for|in|from) .+)?)$"
)
def amount_in_state(match: re.Match[str], known: Known) -> Wording | None:
    """`how much is overdue` as `total amount of overdue invoices`, where one table has amounts in such a state."""
    state = (match["state"] or match["state2"] or match["state3"] or match["state4"]).lower()
    owed = list(_owed(state, known))
    if len(owed) != 1:
        return None
    table, amount = owed[0]
    words = " ".join(w for w in amount.words if w not in table.words)
    return Wording(f"sum of the {words} of {state} {table.plural}{match['rest'] or ''}")


@rule(
    r"^(?P<ask>(?:what (?:is|was) |what's |give me |show me |show )?(?:the |our )?)(?P<figure>total [a-z]+) of "
    r"(?P<rows>(?:(?:all|the|our|these) )*(?:[a-z]+ ){0,2}?(?P<x>[a-z]+s))\b(?P<rest>.*)$"
)
def total_of(match: re.Match[str], known: Known) -> Wording | None:
    """`total amount of cancelled orders` as `sum of total amount of …`, where each order has such a total."""
    table, words = known.table(match["x"]), tuple(match["figure"].lower().split())
    if table is None or not any(c.table == table.name and c.words == words for c in known.figures()):
        return None
    return Wording(f"{match['ask']}sum of {match['figure']} of {match['rows']}{match['rest']}")


@rule(
    r"\btotal (?:value|worth)(?: of)?(?: (?:the|all|our))* (?P<rows>(?:[a-z]+ ){0,2}?(?P<x>[a-z]+s))\b",
)
def total_value(match: re.Match[str], known: Known) -> Wording | None:
    """`total value of rejected quotes` as `total amount of rejected quotes`, where no column is called a value."""
    table = known.table(match["x"])
    amount = amount_of(known, table.name) if table is not None else None
    if amount is None or "value" in known.vocabulary.holders:
        return None
    return Wording(f"total {' '.join(amount.words)} of {match['rows']}")


@rule(r"^(?:who|which (?P<who>[a-z]+)s?) (?:still )?(?:owes?|has to pay)(?: us)?(?: any)?(?: money)?$")
def who_owes(match: re.Match[str], known: Known) -> Wording | None:
    """`who owes us money` as `different customers with unpaid invoices`."""
    owed = list(_owed("unpaid", known))
    people = known.table(match["who"] or known.noun(*_PEOPLE))
    if len(owed) != 1 or people is None:
        return None
    return Wording(f"different {people.plural} with unpaid {owed[0][0].plural}")


def _owed(state: str, known: Known) -> Iterator[tuple[TableWord, ColumnWord]]:
    """The tables with an amount and such a state."""
    for name, table in known.vocabulary.tables.items():
        amount = amount_of(known, name)
        if amount is not None and holds_state(state, name, known.vocabulary, known.values):
            yield table, amount


def amount_of(known: Known, table: str) -> ColumnWord | None:
    """The column with the amount of such a row."""
    numbers = [c for c in known.figures() if c.table == table]
    return next((c for words in _AMOUNT_WORDS for c in numbers if c.words[-len(words) :] == words), None)


_CASHED = frozenset(map(root, word_set("collect receive get")))
_BILLED = frozenset(map(root, word_set("bill charge invoice")))


@rule(r"^(?:what|how much)(?: money)? (?:did|have|do) we (?P<verb>[a-z]+)(?: in total)?(?: by| in)?" rf"{SINCE}$")
def what_we_did(match: re.Match[str], known: Known) -> Wording | None:
    """`what did we invoice last year` as `total amount of invoices last year`."""
    verb = root(match["verb"].lower())
    called = [t for t in known.vocabulary.tables.values() if len(t.words) == 1 and root(t.words[0]) == verb]
    table = known.table("payment") if verb in _CASHED else next(iter(called), None)
    if table is None and verb in _BILLED:
        table = known.table("invoice") or known.table("bill")
    amount = amount_of(known, table.name) if table is not None else None
    if table is None or amount is None:
        return None
    return Wording(f"sum of the {' '.join(amount.words)} of {table.plural}{match['rest']}")


@rule(r"\b(?:(?:that|which) )?(?:(?:were|was|are|is|have been) )?paid (?:by|with|via|using) (?!the most\b)(?:an? )?")
def paid_by(_: re.Match[str], known: Known) -> Wording | None:
    """`receipts that were paid by voucher` as `receipts with payment method voucher`, where one column is called so."""
    methods = {c.words for c in known.vocabulary.columns.values() if c.words[-1] == "method" and not c.numeric}
    return Wording(f"with {' '.join(methods.pop())} ") if len(methods) == 1 else None


@rule(r"\b(?P<word>overall|usual|typical)\b(?! (?:average|total|number))")
def of_all(match: re.Match[str], known: Known) -> Wording | None:
    """`overall cost` as its total, `the usual fee` as its average, unless a column is called so."""
    word = match["word"].lower()
    if word in known.vocabulary.holders:
        return None
    last = not match.string[match.end() :].strip(" ?.!")
    return Wording("average" if word != "overall" else "in total" if last else "total")


_WEIGHTS = word_set("weight mass pound lb load")


@rule(r"(?<=\d) ?(?:pounds?|quid|bucks|dollars?|euros?|gbp|usd|eur)\b(?! of\b)", everywhere=True)
def currency(_: re.Match[str], known: Known) -> Wording | None:
    """`under 3 pounds` as `under 3`, unless pounds may be weights."""
    return None if _WEIGHTS & known.vocabulary.holders.keys() else Wording("")


_MONEY = word_set("bill invoice order sale purchase payment receipt booking ticket fine donation expense claim")


@rule(
    rf"^(?P<before>{ASKED})"
    r"(?P<f>average|avg|mean|median|highest|lowest) (?P<x>[a-z]+)"
    r"(?P<rest>(?: (?:by|per|for each|of each|for|in|from|this|last) .+)?)$"
)
def amount_of_one(match: re.Match[str], known: Known) -> Wording | None:
    """`average bill per town` as `average bill amount per town`."""
    table = known.table(match["x"]) if match["x"].lower() in _MONEY else None
    amount = amount_of(known, table.name) if table is not None and len(table.words) == 1 else None
    if table is None or amount is None or amount.words[-1] in ("price", "fee", "cost"):
        return None
    words = " ".join(w for w in amount.words if w not in table.words)
    return Wording(f"{match['before']}{match['f']} {match['x']} {words}{match['rest']}")


@rule(
    r"^(?P<who>who|(?:(?:which|what) |the )?(?P<people>[a-z]+)) (?:placed|made|with|has|had|gave|paid|got) "
    r"(?:the |our )?(?P<end>highest|biggest|largest|lowest|smallest) (?:single |individual )?(?P<x>[a-z]+)"
    r"(?P<rest>(?: (?:in|of|this|last|ever|from|since) .+| ever)?)$"
)
def who_has_highest(match: re.Match[str], known: Known) -> Wording | None:
    """`who placed the biggest order` as `which customer has the order with the highest total amount`."""
    table = known.table(match["x"]) if match["x"].lower() in _MONEY else None
    amount = amount_of(known, table.name) if table is not None else None
    if table is None or amount is None:
        return None
    owners = {key.ref_table for key in table.table.foreign_keys}
    people = known.table(match["people"])
    named = {people.name} if people is not None else {x for x in owners if personal(known.vocabulary, x)}
    if len(named) != 1 or not named <= owners:
        return None
    who = " ".join(known.vocabulary.tables[named.pop()].words)
    end = "lowest" if match["end"].lower() in ("lowest", "smallest") else "highest"
    column = " ".join(w for w in amount.words if w not in table.words)
    rest = match["rest"].removesuffix(" ever")
    return Wording(f"which {who} has the {match['x']} with the {end} {column}{rest}")


@rule(r"\bwith (?:an? )?(?P<sign>negative|positive) (?P<x>[a-z]+(?: [a-z]+)?)\b(?!')")
def signed(match: re.Match[str], known: Known) -> Wording | None:
    """`with a negative balance` as `with balance less than 0`, where a number is called so."""
    called = lemma(match["x"].lower().split()[0])
    if not any(called in c.words and c.numeric for c in known.vocabulary.columns.values()):
        return None
    return Wording(f"with {match['x']} {'less' if match['sign'].lower() == 'negative' else 'more'} than 0")


@rule(
    r"\bby (?:what|how much)(?: money)? (?:they|it|he|she|each)(?: have| has)? (?P<verb>paid|spent|pay|spend|bought)"
    r"(?: us| in total)?(?=$|[?.! ]| in| since| this| last)"
)
def by_what_they_paid(match: re.Match[str], known: Known) -> Wording | None:
    """`top 5 members by what they paid` as `… by total amount of payments`, or by revenue where none are stored."""
    table = known.table("payment")
    amount = amount_of(known, table.name) if table is not None and match["verb"].startswith("pa") else None
    by = f"total {' '.join(amount.words)} of {table.plural}" if amount is not None and table is not None else "revenue"
    return Wording(f"by {by}", notes=(f"“{match[0][3:]}” is taken as the {by}",))


@rule(
    r"^(?:who|which (?P<who>[a-z]+)) (?:has |have )?(?:[a-z]+|put in|clocked up) "
    rf"(?:the )?(?P<most>most|fewest|least) (?P<x>[a-z]+(?: [a-z]+)?){SINCE}$"
)
def who_did_most(match: re.Match[str], known: Known) -> Wording | None:
    """`who put in the most hours this year` as `which volunteer has the highest total hours this year`, where one
    number is called so, in a table that refers to people; in one whose rows are people, as `… the highest hours`."""
    called = tuple(lemma(word) for word in match["x"].lower().split())
    numbers = [c for c in known.figures() if c.words[: len(called)] == called or called[-1:] == c.words]
    who = match["who"] or (person_of(known.vocabulary, numbers[0].table) if len(numbers) == 1 else "")
    if known.table(match["x"]) is not None or not who or len(numbers) != 1:
        return None
    if re.search(r"\b(?:any|one|single|once)\b", match["rest"], re.IGNORECASE):  # the most of one row
        return None
    several = known.vocabulary.tables[numbers[0].table].table.foreign_keys
    total = "total " if several and not {"total", "sum"} & set(numbers[0].words) else ""
    return Wording(f"which {who} has the {extreme(match['most'])} {total}{' '.join(numbers[0].words)}{match['rest']}")


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


_VERB_COLUMNS = {
    "earn": ("salary", "wage", "pay", "income", "earnings"), "make": ("salary", "wage", "pay", "income"),
    "cost": ("price", "cost", "fee"), "weigh": ("weight",),
}  # fmt: skip


@rule(
    r"(?P<what>^.*?)\s*\b(?:(?:who|that|which) (?P<verb>earns?|makes?|costs?|weighs?)|"
    r"(?:whose|with an?|have an?|has an?) (?P<of>[a-z]+(?: [a-z]+)?)(?: is| are)?) "
    r"(?P<cmp>more|less|higher|lower|greater|larger|smaller) than "
    r"(?:that of |those of )?(?:all|every|any|everyone|everybody|anyone|anybody)(?: other| of)?(?: the)?"
    r"(?P<rows> (?!in\b|from\b|at\b|of\b)[a-z]+)?(?P<where> (?:in|from|at|of|with) .+)$"
)
def more_than_all(match: re.Match[str], known: Known) -> Wording | None:
    """`employees who earn more than any in Sales` as `employees with a salary above the highest salary in Sales`."""
    names = _VERB_COLUMNS.get(lemma(match["verb"].lower()), ()) if match["verb"] else (match["of"].lower(),)
    column = next((c for name in names for c in known.figures() if " ".join(c.words) == name), None)
    column = column or next((c for name in names for c in known.figures() if name in c.words), None)
    if column is None:
        return None
    words, more = " ".join(column.words), match["cmp"].lower() in ("more", "higher", "greater", "larger")
    side, end = ("above", "highest") if more else ("below", "lowest")
    what = known.vocabulary.tables[column.table].plural if match["what"].lower() == "who" else match["what"]
    return Wording(
        f"{what} with a {words} {side} the {end} {words}{match['where']}",
        notes=(f"“than any” is taken as than the {end}",) if " any" in match[0] else (),
    )
