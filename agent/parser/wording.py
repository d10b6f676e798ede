"""Wording: rewrite everyday phrasings of business questions in words that the reader knows.

In: a question's text and the schema's vocabulary. Out: the plain question to read, the shape of the computation on its
figures (`Shape`: a share, growth, a median), and notes on the assumptions made. No rule depends on a particular schema:
a phrase that needs a table, such as `repeat customers`, is changed only if the schema has such a table.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from itertools import pairwise

from agent.knowledge.values import EMPTY, ValueIndex
from agent.knowledge.vocabulary import Vocabulary
from agent.parser.ages import with_ages, with_birth_date
from agent.parser.everyday_wording import everyday
from agent.parser.interpretation import Shape
from agent.parser.period_comparison import compared_periods
from agent.parser.rates import rated
from agent.parser.repeat_events import repeated
from agent.parser.shape_wording import Wording, shaped_wording
from agent.parser.spans import spanned
from eval.language.inflection import lemma, plural
from eval.language.numbers import SMALL_NUMBERS


def worded(text: str, vocabulary: Vocabulary, today: dt.date, values: ValueIndex = EMPTY) -> Wording:
    """The plain question and its shape; the text itself when no rewrite is necessary."""
    text = _kinds(_person_names(_every_period(text, vocabulary), vocabulary), vocabulary)
    plain = _plain(text)
    again = repeated(plain.strip().rstrip("?!. "), vocabulary, today)
    if again.shape is not None or again.doubt:
        return Wording(again.text, again.shape, doubt=again.doubt)
    if again.text != plain.strip().rstrip("?!. "):
        plain = again.text
    plain, notes = everyday(plain, vocabulary, values, today)
    plain, staged = with_ages(plain, vocabulary, values)
    notes = (*notes, *filter(None, (staged,)))
    if (timed := spanned(plain, vocabulary, values)) is not None:
        return replace(timed, notes=(*notes, *timed.notes))
    plain = rated(_reported(plain, vocabulary), vocabulary, values)
    born, exchanged = with_birth_date(plain, vocabulary)
    if exchanged:
        return Wording(born, Shape("age"), (*notes, "ages are counted in full years until today"))
    plain = born
    plain = _counted(_events(_earliest(plain, vocabulary), vocabulary), vocabulary)
    wording = Wording(_ranked(plain, vocabulary), notes=notes)
    if wording.text != plain:
        wording = replace(wording, guessed=True, notes=(*notes, "“best” and “top” are taken as the highest revenue"))
    asked = wording.text.strip().rstrip("?!. ")
    shaped = compared_periods(asked, vocabulary, today) or shaped_wording(asked, vocabulary, today)
    if shaped is not None:
        return replace(
            shaped,
            text=_plain(shaped.text),
            notes=(*wording.notes, *shaped.notes),
            guessed=wording.guessed or shaped.guessed,
        )
    return wording


# --- slang and contractions ---

_YEAR_ALONE = (
    r"(?<!\bin)(?<!\bof)(?<!\bfor)(?<!\bto)(?<!\bby)(?<!\band)(?<!\bor)(?<!\bvs)(?<!\bfrom)(?<!\bsince)(?<!\bbefore)"
    r"(?<!\bafter)(?<!\byear)(?<!\bthan)(?<!\bversus)(?<!\bover)(?<!\bis)(?<!\bthe)(?<!\buntil)(?<!\bduring)(?<!\bid)"
    r"(?<!january)(?<!february)(?<!march)(?<!april)(?<!\bmay)(?<!june)(?<!july)(?<!august)(?<!september)(?<!october)"
    r"(?<!november)(?<!december)(?<!\bq[1-4])(?<!\bjan)(?<!\bfeb)(?<!\bmar)(?<!\bapr)(?<!\bjun)(?<!\bjul)(?<!\baug)"
    r"(?<!\bsep)(?<!\boct)(?<!\bnov)(?<!\bdec)(?<!quarter)(?<!number)(?<!code)(?<!equals)"
)
_MONEY_MADE = r"(?:makes?|made|brings?(?: in)?|brought(?: in)?|generates?|generated|earns?|earned)(?: us)?(?: the)?"
_PART = r"(?:(?:any |some )?part of )?"
_TEXT = r"((?:first |last |full |family )?(?:name|title|description|subject|address|email))"
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_REPLACED = tuple(
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in (
        (r"\bw/o\b", "without"),
        (r"\bw/(?=\s)", "with"),
        (r"\bppl\b", "people"),
        (r"\bhow much (?:money|cash) (did|do|have|has|does)\b", r"how much \1"),
        (r"\b(have|has|had|do|does|did|is|are|was|were|would|could|should)nt\b", r"\1 not"),
        (r"^what'?s\b", "what is"),
        (r"\bwhos\b", "who is"),
        (r"\bgimme\b", "give me"),
        (r"\b(?:pls|plz)\b", "please"),
        (r"\bbucks\b", "dollars"),
        (r"\bhalf an hour\b", "30 minutes"),
        (r"\ban hour and a half\b", "90 minutes"),
        (r"\b(than|over|under|least|most) an hour\b", r"\1 1 hour"),
        (r"(?:\bwhat %|(?<![\d.])(?<!\d )%(?= of\b))", "what percentage"),
        (r"\b(?:time spent|spent time)\b", "hours"),
        (r"\bin %(?!\w)", "in percent"),
        (r"\bsigned up\b", "registered"),
        (r"\bout of (service|order|use|operation|action|business)\b", r"not in \1"),
        (r"^who (?:runs|heads|leads|is in charge of|is responsible for|looks after) "
         r"(?!the (?:most|fewest|least|largest|biggest)\b|more\b|fewer\b|at\b|no\b|\d)(.+)$",
         r"who is the manager of \1"),
        (r"\b(first|last) ever\b", r"\1"),
        (r"^(?:on average,? )?(?:how many |number of )?([a-z]+s)(?: (?:do|did) we "
         r"(?:get|have|make|receive|sell|do)| are there| come in)? "
         r"(?:per|a|each|every) (day|week|month|quarter|year) on average$",
         r"average \1 per \2"),
        (r"^(?:what (?:is|was) |which (?:is|was) )?(?:the )?(day|week|month|quarter|year|weekday)(?: of the week)? "
         r"(?:with|that (?:had|has)) (?:the )?(most|fewest|highest|lowest|least)(?: number of)? ",
         r"which \1 has the \2 "),
        (r"\bworst first\b", "lowest first"),
        (r"\bbest first\b", "highest first"),
        (r"\b(?:days? of (?:the )?week|week days?)\b", "weekday"),
        (r"\bquarterly (?=\w)(.+)", r"\1 per quarter"),
        (r"\b(\d)[- ]?stars? (reviews?|ratings?)\b", r"\2 with rating \1"),
        (
            r"\bwith (?:the word )?[\"']?([a-z]{3,})[\"']? in (?:the|their|its) (title|name|description|subject)s?\b",
            r"whose \2 contains '\1'",
        ),
        (r"\b(?:(?:who|that|which) )?(?:with|have|has|having) (?:the )?letter [\"']?([a-z])[\"']? in "
         rf"{_PART}(?:the|their|its|his|her) {_TEXT}s?\b", r"whose \2 contains '\1'"),
        (r"\b(?:(?:who|that|which) )?(?:with|have|has|having) (?:the (?:word|substring|string|text|phrase) )?"
         rf"[\"']([^\"']+)[\"'] in {_PART}(?:the|their|its|his|her) {_TEXT}s?\b", r"whose \2 contains '\1'"),
        (r"\bwithout (?:the )?letter [\"']?([a-z])[\"']? in "
         rf"{_PART}(?:the|their|its|his|her) {_TEXT}s?\b", r"whose \2 does not contain '\1'"),
        (r"^how old (?:is|are|was|were) (?:the |our )?(.+?),? on average\b", r"what is the average age of \1"),
        (r"^how old,? on average,? (?:is|are|was|were) (?:the |our )?", "what is the average age of "),
        (r"\b(?:have|has|had) (?:not|n't)(?: yet)? turned (\d+)(?: yet)?\b", r"are younger than \1"),
        (r"\b(?:have|has|had)(?: already)? turned (\d+)\b", r"are at least \1 years old"),
        (r"\bthan the average one\b", "than the average"),
        (r"^((?:which|what) .+?) (?:is|are|was|were|gets?|got|has been|have been) (?:held|used|chosen|taken|seen|"
         r"found|made) (?=most often\b|the most often\b|most frequently\b|least often\b)", r"\1 is "),
        (r"^what (?:is|are|was|were) (the .+?) called[?.! ]*$", r"what is the name of \1"),
        (r"\b(?:called|broke|broken) off\b", "cancelled"),
        (r"\b(left|leaving|joined) (?:the|our) (?:company|firm|business|practice|organi[sz]ation)\b", r"\1"),
        (r"\bwhat (?:the )?([a-z]+s) are called\b", r"the names of the \1"),
        (r"[,.;] (?:and )?(?:give|show|say|tell|list)(?: me)? what (?:they|those|these) are called[.?! ]*$",
         "; show their names"),
        (r"\bwhat (?:they|these|those) are called\b", "their names"),
        (r"\bwhat (?:it|he|she) is called\b", "its name"),
        (r"^((?:what|which) (?:share|percentage|percent|proportion) of .+?) in percent "
         r"(?=[a-z]+ (?:on |in |to )?each\b)", r"\1 "),
        (r"^how long (?:do|does|did) (?:we|it|they) (?:usually )?take to (?:be )?([a-z]+) (?:an? |the |our )?([a-z]+)"
         r",? (?=by |per |for )", r"how long does \2 take to \1 "),
        (r"^how long are (?:the |our )?([a-z]+s)(?: on average)?\b", r"how long do \1 last"),
        (r"\bmost of (?:the |our )?(?=[a-z]+s\b)", "most "),
        (rf"\b(?:the )?top (\d+|{SMALL_NUMBERS}) (?:most )?(expensive|cheap|costly|popular|recent|populous)\b",
         r"the \1 most \2"),
        (r"\b(?:the )?number and (?:the )?(average|total|maximum|minimum|mean) ([a-z ]+?) of (?:all |the )?([a-z]+s)\b",
         r"the number of \3 and the \1 \2 of \3"),
        (_MONEY_MADE + r" most (?:money|revenue|sales)\b", "has the highest revenue"),
        (_MONEY_MADE + r" least (?:money|revenue|sales)\b", "has the lowest revenue"),
        (r"^((?:which|what) (?:employee|sales \w+|rep|seller|agent|store|shop|branch|region|country|city|"
         r"team)s?) sold the"
         r" most\b", r"\1 has the highest revenue"),
        (r"\b(than|over|under|above|below|least|most) [$€£](?=\d)", r"\1 "),
        (r"\bmore than (\d+) (\w+) but (?:less|fewer) than (\d+)$", r"more than \1 \2 and less than \3 \2"),
        (r"\b((?:by|per) (?:day|week|month|quarter|year)) ((?:19|20)\d\d)\b", r"\1 in \2"),
        (r"^(?:(?:what|which)(?: is| are| was)? )?(?:the |our )?(best|worst)[- ]selling"
         r" ([a-z]+)(?=\s*[?.!]?$)", r"top 1 \1 selling \2"),
        (_YEAR_ALONE + r" ((?:19|20)\d\d)(?=\s*[?.!]?$)", r" in \1"),
        (r"^((?:all |the |our )?(?!median|average|avg|mean)[a-z]+ [a-z]+s) (?:in )?total$", r"total \1"),
        (r"^((?:show|list|who are|what are|which are)(?: me)? )?(?:the |our )?(top|best|bottom|worst) ([a-z]+s) by\b",
         r"\1\2 10 \3 by"),
        (rf"\b(?:between|from) {_MONTH} (?:and|to|until|till|through) {_MONTH} (?:of )?((?:19|20)\d\d)\b",
         r"between \1 \3 and \2 \3"),
        (r"^(?:who is |who are )?(?:the )?(highest|lowest)[- ]paid ([a-z]+)$", r"\2 with the \1 salary"),
        (r"\bthe boss of\b", "the manager of"),
        (r"^who (?:manages|supervises) "
         r"(?!the (?:most|fewest|least|largest|biggest)\b|more\b|fewer\b|at\b|no\b|\d)(.+)$",
         r"who is the manager of \1"),
        (r"^whom? (?:does|do|did) (.+?) (?:manage|supervise)\b", r"who reports to \1"),
        (r"\b(their|his|her) boss(?:es)?\b", r"\1 manager"),
    )
)  # fmt: skip


_PERSON_NAMES = tuple(
    (re.compile(rf"\b{named}(s?)\b", re.IGNORECASE), named, place)
    for named, place in (
        ("surname", "last"),
        ("family name", "last"),
        ("forename", "first"),
        ("given name", "first"),
    )
)


def _person_names(text: str, vocabulary: Vocabulary) -> str:
    """`surname` as `last name`, unless a column is called so."""
    for pattern, named, place in _PERSON_NAMES:
        if not any(" ".join(c.words).endswith(named) for c in vocabulary.columns.values()):
            text = pattern.sub(rf"{place} name\1", text)
    return text


_KIND = re.compile(r"\bkind(?P<end>s?)\b|\bsort(?P<of>s?)(?= of\b)", re.IGNORECASE)


def _kinds(text: str, vocabulary: Vocabulary) -> str:
    """`kinds of ships` as `types of ships`, where only a type is in the schema."""
    if "type" not in vocabulary.holders or {"kind", "sort"} & vocabulary.holders.keys():
        return text
    return _KIND.sub(lambda match: f"type{match['end'] or match['of'] or ''}", text)


_COUNTS = re.compile(r"\b(?P<before>(?:and|with|plus) (?:their |its |the )?)(?P<what>[a-z]+) counts?\b(?! of)", re.I)


def _counted(text: str, vocabulary: Vocabulary) -> str:
    """`employees and their order counts` as `employees and number of orders`."""

    def number(match: re.Match[str]) -> str:
        things = _rows(vocabulary, match["what"].lower())
        return f"{match['before'].split()[0]} number of {things}" if things else match[0]

    return _COUNTS.sub(number, text)


def _plain(text: str) -> str:
    """Replace slang, contractions and abbreviations with full words."""
    for pattern, words in _REPLACED:
        text = pattern.sub(words, text)
    return text


_FIRST_THING = re.compile(r"\b(?:very )?(?P<end>first|last) (?P<what>[a-z]+)\b(?! by\b)", re.IGNORECASE)


def _earliest(text: str, vocabulary: Vocabulary) -> str:
    """`the first order` as `the earliest order`, if a table of orders has a date and no column is called so."""

    def exchanged(match: re.Match[str]) -> str:
        end, what = match["end"].lower(), match["what"].lower()
        named = any((end, what) == pair for c in vocabulary.columns.values() for pair in pairwise(c.words))
        dated = any(
            table.words == (what,) and any(c.role in ("date", "year") for c in vocabulary.by_table.get(name, ()))
            for name, table in vocabulary.tables.items()
        )
        return f"{'earliest' if end == 'first' else 'latest'} {what}" if dated and not named else match[0]

    return _FIRST_THING.sub(exchanged, text)


# --- adjectives of periods ---

_PERIODIC = re.compile(
    r"^(?P<before>(?:(?:what|show|list|give)(?: is| are| was| me)? )?(?:the |our )?)"
    r"(?P<often>daily|weekly|monthly|yearly|annual) (?P<what>(?P<first>[a-z]+)(?: [a-z]+)?)"
    r"(?P<rest>(?: (?:in|for|since) .+)?)$",
    re.IGNORECASE,
)
_OFTEN = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annual": "year"}


def _every_period(text: str, vocabulary: Vocabulary) -> str:
    """`monthly revenue` as `revenue per month`, unless a column is called so (`monthly_fee`)."""
    match = _PERIODIC.match(text.strip().rstrip("?!. "))
    if match is None or re.search(r"\b(?:growth|change|trend)", text, re.IGNORECASE):
        return text
    often, first = match["often"].lower(), lemma(match["first"].lower())
    names = [set(c.words) for c in vocabulary.columns.values()]
    if any({often, first} <= words or {_OFTEN[often], first} <= words for words in names):
        return text
    return f"{match['before']}{match['what']} per {_OFTEN[often]}{match['rest']}"


# --- rows that refer to rows of their own table ---

_REPORT = r"report(?:s|ed|ing)? (?:directly )?to"
_WHO_REPORTS = re.compile(rf"^(?:who|which \w+|list who|show who) {_REPORT} (?P<who>.+)$", re.IGNORECASE)
_REPORTS = re.compile(rf"\b(?:(?:who|that|which) )?{_REPORT} (?!the (?:same|most))(?P<who>.+)$", re.IGNORECASE)
_THEIR_BOSS = re.compile(r"\b(their|his|her) (?:manager|boss|supervisor|superior)s?\b", re.IGNORECASE)
_WHOM = re.compile(r"^(?:who|whom|to whom) (?:does|do|did) (?P<who>.+?) report(?: to)?[?.! ]*$", re.IGNORECASE)


def _reported(text: str, vocabulary: Vocabulary) -> str:
    """`employees who report to Ada` as `employees whose manager is Ada`, if a column is called so."""
    for name, table in vocabulary.tables.items():
        for key in table.table.foreign_keys:
            column = vocabulary.columns.get((name, key.columns[0])) if key.ref_table == name else None
            words = " ".join(w for w in column.words if w not in ("id", "key", "code")) if column is not None else ""
            if not words or "report" in words or len(key.columns) != 1:
                continue
            text = _THEIR_BOSS.sub(rf"\1 {words}", text)
            text = _WHOM.sub(rf"who is the {words} of \g<who>", text)
            text = _WHO_REPORTS.sub(rf"{table.plural} whose {words} is \g<who>", text)
            return _REPORTS.sub(rf"whose {words} is \g<who>", text)
    return text


# --- events recorded in a table ---

_EVENTS = {
    "order": ("order", "purchase", "sale", "invoice"),
    "ordered": ("order", "purchase", "sale", "invoice"),
    "buy": ("order", "purchase", "sale", "invoice"),
    "bought": ("order", "purchase", "sale", "invoice"),
    "purchased": ("purchase", "order", "sale", "invoice"),
    "purchase": ("purchase", "order", "sale", "invoice"),
    "rented": ("rental", "loan"),
    "rent": ("rental", "loan"),
    "borrowed": ("loan", "checkout", "borrowing"),
    "borrow": ("loan", "checkout", "borrowing"),
    "booked": ("booking", "reservation"),
    "book": ("booking", "reservation"),
    "paid": ("payment",),
    "pay": ("payment",),
    "came": ("visit", "appointment", "booking"),
    "come": ("visit", "appointment", "booking"),
    "attended": ("attendance", "booking", "registration"),
    "donated": ("donation",),
    "visited": ("visit", "appointment"),
    "visit": ("visit", "appointment"),
}
_EVENT = "(?P<verb>" + "|".join(sorted(_EVENTS, key=len, reverse=True)) + ")"
_ANYTHING = r"(?: any ?thing| something| any)?"
_WHO = r"\b(?:who|that|which) "
_HOW_OFTEN = re.compile(rf"(?:{_WHO})?(?:have |has |had )?\b{_EVENT}{_ANYTHING} (?P<cmp>(?:more|less|"
                    rf"fewer) than|at least|over) "
                    r"(?P<n>\d+|once|twice)(?: times)?\b(?! [a-z]+s\b)", re.I)  # fmt: skip
_NEVER = re.compile(rf"{_WHO}(?:(?:have|has|had|did|do|does) not|(?:have |has )?never)(?: ever)?(?: placed| made)? "
                    rf"{_EVENT}{_ANYTHING}(?= in \d| since| last| this|[?.! ]*$)", re.I)  # fmt: skip
_THEN_NOT = re.compile(rf"{_WHO}{_EVENT}{_ANYTHING} (?P<when>in \S+(?: \d{{4}})?) but (?:nothing|not|"
                       rf"never)(?: any ?thing)?"
                       r"(?: again)? (?P<then>in .+)", re.I)  # fmt: skip
_REPEAT = re.compile(r"\b(?:repeat|returning|recurring) (?P<who>customer|client|buyer|shopper|member|guest)s?\b", re.I)
_SPENT = re.compile(rf"{_WHO}(?:have |has )?(?:spent|spend|paid) (?P<cmp>more than|less than|over|under|at least) "
                    r"(?P<n>[\d.,]+)(?: \w+)?(?P<rest>.*)", re.I)  # fmt: skip
_BOUGHT = re.compile(
    r"^what (?:did|has|have) (?P<who>.+?) (?:buy|bought|order|ordered|purchase|purchased)[?.! ]*$", re.I
)

_SELLS = re.compile(
    r"^(?:what(?: things?| stuff)? (?:sells?|sold)(?: the)? (?:best|most)"
    r"|(?:what(?:'s| is| are) )?(?:the |our )?(?P<end2>best|worst)[- ]?sellers?)[?.! ]*$",
    re.I,
)
_SPENDS = re.compile(r"^who (?:spends|spent|buys|bought|paid|pays)(?: us)? (?:the )?most(?: money)?(?P<rest>.*)$", re.I)
_THINGS = ("product", "item", "track", "book", "article")
_BUYING = ("customer", "client", "buyer", "member")


def _named(vocabulary: Vocabulary, *nouns: str) -> str:
    """The first of the nouns that names a table."""
    return next((noun for noun in nouns if vocabulary.table_named(noun)), "")


def _rows(vocabulary: Vocabulary, *nouns: str) -> str:
    """The first of the nouns that names a table, in the plural."""
    noun = _named(vocabulary, *nouns)
    return plural(noun) if noun else ""


def _events(text: str, vocabulary: Vocabulary) -> str:
    """`ordered more than 3 times` as `with more than 3 orders`, if a table holds the orders."""

    def noun(match: re.Match[str]) -> str:
        return _rows(vocabulary, *_EVENTS[match["verb"].lower()])

    if (match := _REPEAT.search(text)) and (orders := _rows(vocabulary, "order", "purchase", "invoice", "booking")):
        text = f"{text[: match.start()]}{match['who']}s with more than 1 {orders}{text[match.end() :]}"
    if (match := _THEN_NOT.search(text)) and (orders := noun(match)):
        return f"{text[: match.start()]}with {orders} {match['when']} but without {orders} {match['then']}"
    if (match := _NEVER.search(text)) and (orders := noun(match)):
        return f"{text[: match.start()]}without {orders}{text[match.end() :]}"
    if (match := _HOW_OFTEN.search(text)) and (orders := noun(match)):
        count = {"once": "1", "twice": "2"}.get(match["n"].lower(), match["n"])
        return f"{text[: match.start()]}with {match['cmp']} {count} {orders}{text[match.end() :]}"
    if match := _SPENT.search(text):
        return f"{text[: match.start()]}with revenue {match['cmp']} {match['n']}{match['rest']}"
    if (match := _SELLS.match(text)) and (thing := _named(vocabulary, *_THINGS)):
        return f"which {thing} sells best"
    if (match := _SPENDS.match(text)) and (buyer := _named(vocabulary, *_BUYING)) and _earns(vocabulary):
        return f"which {buyer} has the highest revenue{match['rest']}"
    if (match := _BOUGHT.match(text)) and (things := _rows(vocabulary, *_THINGS)):
        orders = _rows(vocabulary, "order", "invoice", "sale", "purchase")
        return f"{things} in {orders} of {match['who']}" if orders else text
    return text


# --- rankings without a measure ---

_BEST = re.compile(
    r"^(?:(?:who|what|which|show|list|give)(?: (?:is|are|were|was|me))? )?(?:our |the |my |all )*"
    r"(?P<rank>top|best|biggest|most valuable|most important)(?: (?P<n>\d+|three|five|ten))?(?P<selling>[- ]selling)? "
    r"(?P<what>\w+)[?.! ]*$",
    re.IGNORECASE,
)
_BUYERS = ("customer", "client", "buyer", "supplier", "employee", "category", "store", "seller", "country")


def _ranked(text: str, vocabulary: Vocabulary) -> str:
    """`best customers` as `top 10 customers by revenue`."""
    match = _BEST.match(text)
    if match is None:
        return text
    what = lemma(match["what"].lower())
    if vocabulary.table_named(what) is None or not _earns(vocabulary):
        return text
    if match["selling"] and match["rank"].lower() == "best":
        return text
    if not match["selling"] and what not in _BUYERS and match["rank"].lower() == "biggest":
        return text
    number = match["n"] or ("1" if what == match["what"].lower() else "10")
    return f"top {number} {match['what']} by revenue"


def _earns(vocabulary: Vocabulary) -> bool:
    """Whether the schema holds amounts of money."""
    amounts = {"price", "amount", "total", "revenue", "sale"}
    return any(c.numeric and c.role == "number" and amounts & set(c.words) for c in vocabulary.columns.values())
