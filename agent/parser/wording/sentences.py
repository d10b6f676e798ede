"""Full sentences: courtesy before the question, a second sentence that says what to show, compounds of number and noun.

The rules leave one plain sentence.
"""

from __future__ import annotations

import re

from agent.parser.flags import is_flag
from agent.parser.wording.computations import MONEY_ROWS
from agent.parser.wording.rules import MONTH, YEAR, Known, Replacements, Wording, rule
from eval.language.inflection import lemma, plural
from eval.language.lexicon import measures, word_set

_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_SHOW = r"(?:please )?(?:also )?(?:show|include|give|list|add|state)(?: me)?"
_BOTH = (
    r"(?:for )?(?:both|each)(?: of)?(?: the)?(?: two)?(?: (?:years|months|quarters|periods|totals|figures|numbers))?"
)
_NAMED = rf"(?:{YEAR}\b|{MONTH}\b|(?:last|this|next) (?:year|month|quarter|week)\b)"
_PERSONS = r"(?:boss|manager|colleague|friend|wife|husband|teacher|accountant|supervisor|director|team)"
_DONE_WITH = r"(?:send|write|call|thank|invite|contact|phone|email|mail|congratulate|reward|remind|prepare|plan|give)"
_PLAIN = Replacements(
    (r"^(?:(?:(?:haha|hehe|lol|hm+)\b[,.! ]+|(?:ok|okay|right|well|so|oh|alright)[,.!]+ *))+(?=[a-z])", ""),
    (r"\s*[:;]-?[)(DP](?=\s|[.?!]|$)", ""),
    (r",? if (?:that's|that is|it's|it is) (?:ok|okay|alright|all right|possible|fine)(?: with you)?(?=[.?! ]*$)", ""),
    (r"^(?:sorry,? |oh,? |and )?(?:just )?one (?:more|last|other) (?:thing|question)[:,] ", ""),
    (r"^(?:would|do) you mind (?:telling|showing|giving|listing)(?: me)? ", "show "),
    (r"^i (?:was|am) (?:just )?wondering[,:]? (?:if you could tell me )?", ""),
    (r"[.?!] (?:the |just the )?(?:number|count|total|name)s?(?: of [a-z]+)? (?:is|are|will be|would be) "
     r"(?:enough|sufficient|fine|ok|okay)[.?! ]*$", ""),
    (r"^(?:out )?of (?:all )?(?:the |our )?([^,]+), what (percent|percentage|share|proportion) ", r"what \2 of \1 "),
    (r"^for (?:the |all |all the )?([a-z]+s (?!and\b)[^,]+), (what|how|which|who|when)\b(.+)$", r"\2\3 for \1"),
    (r"\b(?:the )?average number of (days|hours|weeks|minutes)\b", r"average \1"),
    (r"\b(paid|shipped|delivered|returned|completed|finished|closed|arrived) (?:after|past|later than) "
     r"(?:their|its|the) (?:due|promised|expected|required|planned|scheduled|agreed) (?:dates?|days?|times?)\b",
     r"\1 late"),
    (r",? and when (?:did|do|does|were|was) (?:they|he|she|it) ([a-z]+)[?.! ]*$", r" and their \1 date"),
    (r",? (?:with )?(?:the )?(?:oldest|earliest|lowest|smallest|cheapest) ([a-z]+(?: [a-z]+)?) (?:first|at the top)"
     r"(?:,? please)?[.?! ]*$", r", sorted by \1 ascending"),
    (r",? (?:with )?(?:the )?(?:newest|latest|most recent) ([a-z]+(?: [a-z]+)?) (?:first|at the top)"
     r"(?:,? please)?[.?! ]*$", r", sorted by \1 descending"),
    (r"^sorry if [^,]+, (?:but )?", ""),
    (r"[.?!,] (?:many )?thank(?:s| you)(?: so| very)?(?: much| a lot| in advance)?[.?! ]*$", ""),
    (r"\s*\([^()]*(?:and so (?:on|forth)|etc\.?)\)", ""),
    (r"^(?:kindly |please )?(?:report|provide|state|supply|indicate)(?: us| me)?(?: with)? (?=(?:the|all|our|a)\b)",
     "show "),
    (r",? and (?:in |on |at )?(?:which|what) ([a-z]+) (?:are|is|do|does|did|were|was|has|have) (?:they|it|he|she|each)"
     r"(?: [a-z]+){0,2}[?.! ]*$", r" and their \1"),
    (r",? and what (?:is|are|was|were) (?:the|their|its) ([a-z]+(?: [a-z]+)?)(?: of each(?: one)?| for each)?[?.! ]*$",
     r" and their \1"),
    (r"\b(?:the )?(?P<every>dai|week|month|quarter|year)ly ([a-z]+) (?:totals?|figures?|numbers?)\b(.*)",
     lambda m: f"{m[2]} per {'day' if m[1].lower() == 'dai' else m[1]}{m[3]}"),
    (r"\bno\.? of (?=[a-z]+s\b)", "number of "),
    (r"\b(?:brought|handed|given|taken|sent) back\b", "returned"),
    (r"\boutstanding (?=(?:[a-z]+ )?(?:fees|invoices|dues|bills|rents?|premiums|subscriptions)\b)", "unpaid "),
    (r"\b((?:[a-z]+ )?(?:fees|dues|invoices|bills|rents|premiums|subscriptions)) (?:received|collected)\b", r"paid \1"),
    (r"[.,] (?:and )?(?:please )?(?:also )?(?:include|keep|show|list) (?:the |those )?(?:[a-z]+s|ones) "
     r"(?:that have |who have |with |without )(?:nobody|none|no one|nothing|any|no [a-z]+)(?: (?:in|at|on) "
     r"(?:them|it|the list))*[?.! ]*$", ", even those without"),
    (rf"^(how many .+?) (?:in|during) ({YEAR}),? and how many (?:in|during) ({YEAR})[?.! ]*$", r"\1 in \2 vs \3"),
    (r"^(?:just |purely )?out of (?:pure |sheer |interest|curiosity)(?: ?curiosity)?[,:]? ", ""),
    (rf"^(?:my|our|the) {_PERSONS} (?:has |just )?(?:asked|told|wants?|wanted|needs?) me to "
     r"(?:find out|figure out|work out|know|check|see|look up|list|get)(?: about)? ", ""),
    (r",? (?:(?:do|would|might) you (?:happen to )?know|(?:can|could|would) you (?:please )?help(?: me)?"
     r"(?: with (?:that|this|it))?|any idea)[?.! ]*$", ""),
    (rf"[.?!;] (?:i(?:'d| would)? (?:like|want|need|have|plan)|we(?:'d| would)? (?:like|want|need|have|plan)) to "
     rf"{_DONE_WITH}\b[^.?!]*[.?! ]*$", ""),
    (r"^i(?:'d| would)? (?:need|want|like|require)(?: to (?:see|know|have|get))? (?=(?:the|our|all|a list)\b)",
     "show "),
    (r"^(?:compare|check|tell|show|work out|find out) for (?:me|us)[:,] ", ""),
    (r"\b(?:end|ends|ended|ending) up (?:being |as )?(?=[a-z]+(?:ed|en)\b)", "are "),
    (rf"\b(?:in|over|during|throughout) the course of (?:the year )?(?={_NAMED})", "in "),
    (rf"\bin the ({YEAR}) calendar year\b", r"in \1"),
    (r"\bmethods? of payment\b", "payment method"),
    (r"\bin terms of (?:what|how much) (?:they|he|she) (?:have |has )?spen[dt]s?(?: with us| here)?\b",
     "by total spend"),
    (r"[.?!,;] (?:with )?(?:the )?(?:biggest|largest|highest|best|top)"
     r"(?: (?:spender|amount|figure|value|number|total|one|payer|seller|earner)s?) (?:first|on top|at the top)"
     r"(?:,? please)?[.?! ]*$", ""),
    (r"^(.+?) ?[-–—:] ?(?:which|what|whose) ([a-z]+s)[?.! ]*$", r"\2 with \1"),
    (r"^(?:hello|hiya|hi|hey|good (?:morning|afternoon|evening))\b(?: there| all| team)?[,.! ]+", ""),
    (r"^(?:please|kindly|excuse me|sorry|pardon(?: me)?)[,.!]? (?!for\b)", ""),
    (r"^(?:sorry to bother(?: you)?|i(?:'m| am) (?:new here|not (?:quite )?sure how to (?:ask|put) (?:this|it))|"
     r"may i ask|just wondering|quick question)[,:]?(?: but)?,? (?=[a-z])", ""),
    (r"^(?:maybe |perhaps )?(?:can|could|would|will) you (?:please |kindly )?(?:say|tell)(?: to)? me,? "
     r"(?=(?:what|which|who|how|when|where)\b)", ""),
    (r"^(?:maybe|perhaps) you can (?:say|tell)(?: to)? me,? ", ""),
    (r",? i (?:would|'d) like to know (?:them|it|that|this)(?:,? please)?[.?! ]*$", ""),
    (r"\bcalendar (?=(?:day|week|month|quarter|year)s?\b)", ""),
    (r"^how (?:do|does|did) (?:the |our )?(.+?) compare (?:with|to) (?:those|that|the ones?)(?: [a-z]+){0,2}? "
     r"(?:in|for|at|of|from|on|during) (.+)$", r"\1 vs \2"),
    (r"^(?:can|could|would|will) you (?:please |kindly )?(?=(?:list|show|give|find|tell|break)\b)", ""),
    (r"(?<=,) please (?=(?:list|show|give|tell)\b)", " "),
    (rf"[.?!] {_SHOW} (?:the )?(?:numbers?|totals?|figures?|counts?) {_BOTH}[.?! ]*$", ""),
    (rf"[.?!] i(?: would|'d)? (?:like|want) to see {_BOTH}[.?! ]*$", ""),
    (r"[.?!] (?:please )?(?:also )?(?:include|add|mention|state) (.+)$", r" and show \1"),
    (r"(?<=[.?!]) please (?=(?:list|show|give|tell)\b)", " "),
    (r"^are there (?:any )?(.+?)\? (?:if so,? )?which (?:ones|are they)[.?! ]*$", r"which \1"),
    (r"^(?:on|at) (?:what|which) (?:date|day) (do|does|did|is|was|were|has|have)\b", r"when \1"),
    (r"\bcome to an end\b", "end"),
    (r"\b(?:that|which) (are|were|is|was) (?:marked|flagged|labell?ed|classified) as\b", r"that \1"),
    (r"\b(are|were|is|was) (?:marked|flagged|labell?ed|classified) as\b", r"\1"),
    (r"\b(?:runs?|ran) out (?=(?:in|on|before|after|between|by|this|next|during)\b)", "ends "),
    (r"^((?:which|what|who) .+?\b(?:most|fewest|least) ([a-z]+s)\b.*?),? and how many(?: \2)?(?: (?:is|are|was|were) "
     r"(?:it|there|they|those|that)| (?:does|do|did|has|have|had) (?:it|they|he|she)(?: (?:have|get|place|make))?)?$",
     r"\1 and show the number of \2"),
    (rf"\b(?:to|till|until|through) (?:the )?end of (?={MONTH})", "to "),
    (rf"\b(since|from) (?:the )?(?:very )?(?:start|beginning) of (?={_NAMED})", "since "),
    (rf"\b(?:until|till|up to|by|before) (?:the )?(?:very )?end of (?={_NAMED})", "until "),
    (rf"\b(after) (?:the )?end of (?={_NAMED})", r"\1 "),
    (rf"\b(before) (?:the )?(?:start|beginning) of (?={_NAMED})", r"\1 "),
    (r"\bcarry out\b", "do"),
    (r"\bcarried out\b", "done"),
    (r",? (?:over the years|in (?:our|the) (?:records|system|database|files|data))(?=[.?! ]*$)", ""),
    (r"^on average,? (.+?)[.?! ]*$", r"\1 on average"),
    (r"^(who|what) (the [a-z].+?) (is|are|was|were)(?:,? please)?[.?! ]*$", r"\1 \3 \2"),
    (r"[.;] (?:the |their )?names?(?: only| please| it)?[.?! ]*$", ""),
    (r"(?:,? together)?,? (?:with|and) the dates? (?:on which|when|that) (?:they|it|each)(?: (?:was|were|is|are))? "
     r"([a-z]+)\b", r" and their \1 date"),
    (rf"\b(in|for|during|of) (?:the )?year (?={YEAR}\b)", r"\1 "),
    (rf"\b({_DAY}(?: of)? {MONTH}) (and|to|until|till|through) ({_DAY}(?: of)? {MONTH})(?:,| of)? ((?:19|20)\d\d)\b",
     r"\1 \4 \2 \3 \4"),
    (rf"\b({MONTH} {_DAY}) (and|to|until|till|through) ({MONTH} {_DAY}),? ((?:19|20)\d\d)\b", r"\1 \4 \2 \3 \4"),
)  # fmt: skip


def courtesy(text: str, _: Known) -> Wording | None:
    """`Could you please list the clients? Please include the city.` as `list the clients and show the city`."""
    new = _PLAIN(text)
    return Wording(new) if new != text else None


@rule(
    r"\b(?:who|that)? ?(?:has |have |had )?(?:signed up|subscribed|registered|opted in|enrolled) (?:for|to|into) "
    r"(?:the |our )?(?P<x>[a-z]+)\b"
)
def signed_up_for(match: re.Match[str], known: Known) -> Wording | None:
    """`who have signed up for the newsletter` as `with newsletter`, where a yes-or-no column is called so."""
    flags = [c for c in known.vocabulary.columns.values() if match["x"].lower() in c.words and is_flag(known.values, c)]
    return Wording(f" with {match['x']}") if len(flags) == 1 else None


_PREMISES = (
    "company|firm|business|shop|store|workshop|practice|clinic|agency|dealership|school|gym|hotel|restaurant|studio|"
    "salon|garage|yard|premises|house|club|association|brewery|farm|museum|library|charity"
)


@rule(
    rf"\b(?P<does>does) (?:the|our|this) (?P<x>{_PREMISES}) (?P<verb>have|employ|own|sell|offer|make|run|get)\b",
    rf"\b(?P<verb>joined|left|joining|leaving) (?:the|our) (?P<x>{_PREMISES})\b",
)
def the_business(match: re.Match[str], known: Known) -> Wording | None:
    """`how many members does the club have` as `how many members do we have`, where the data names no club."""
    if known.stored(match["x"]):
        return None
    return Wording(f"{'do we ' * ('does' in match[0].lower().split())}{match['verb']}")


@rule(rf" (?:in|at|around) (?:the|our) (?P<x>{_PREMISES})(?=[.?!, ]*$)")
def on_the_premises(match: re.Match[str], known: Known) -> Wording | None:
    """`which job do we do most often in the workshop` without the workshop, where the data names none."""
    return None if known.stored(match["x"]) else Wording("")


@rule(
    r"\b(?P<been>(?:has|have) (?:been|worked)) (?:with|at|for|in) (?:the|our|this) "
    r"(?P<x>company|firm|business|agency|team)\b"
)
def with_us(match: re.Match[str], known: Known) -> Wording | None:
    """`who has been with the company the longest` as `who has been with us the longest`."""
    return Wording(f"{match['been'].split()[0]} been with us") if match["x"] not in known.vocabulary.holders else None


@rule(r"\b(?:a|one) single\b")
def not_a_single(_: re.Match[str], known: Known) -> Wording | None:
    """`never sold a single car` as `never sold any car`, unless rooms are single."""
    return None if known.stored("single") else Wording("any")


@rule(
    r",? for (?:the|my|our|a|this|tomorrow's) (?:[a-z]+ )?(?P<x>meeting|report|presentation|board|newsletter|audit|"
    r"mailing|review meeting|tax return|budget)(?=[,.?! ]|$)"
)
def purpose(match: re.Match[str], known: Known) -> Wording | None:
    """`sales per year for the board meeting` as `sales per year`, unless a table is called so."""
    return Wording("") if lemma(match["x"].lower()) not in known.vocabulary.holders else None


@rule(
    r"^(?:(?:show|give)(?: me)? )?(?:an? |the )?(?:breakdown of|break down|split up|split of|split) (?:the |our )?"
    r"(?P<x>(?P<first>[a-z]+).*?) (?:by|per|into) (?P<y>[a-z ]+)$"
)
def broken_down(match: re.Match[str], known: Known) -> Wording | None:
    """`break down the tickets of 2025 by category` as `number of tickets of 2025 by category`."""
    number = "number of " if _rows(match["first"], known) else ""
    return Wording(f"{number}{match['x']} by {match['y']}")


_LISTED = r"^(?P<ask>(?:show|list|give)(?: me)? )?(?:all |the |our )?(?P<x>[a-z]+(?: [a-z]+)?s)"
_OF_ROWS = "in|for|during|since|from|last|this|of|between|before|after|until|where|with|without"


@rule(
    rf"{_LISTED} (?P<when>(?:(?:in|for|of|during|from) )?(?:{MONTH} )?{YEAR}) (?:by|per) (?P<y>[a-z ]+)$",
    rf"{_LISTED} by (?P<y>(?!the\b)[a-z]+(?: [a-z]+)?) (?P<when>(?:{_OF_ROWS})\b.+)$",
)
def rows_by(match: re.Match[str], known: Known) -> Wording | None:
    """`tickets 2025 by category`, `tickets by category in 2025` as `number of tickets per category in 2025`."""
    words, group = known.vocabulary, match["y"].lower().split()
    named = [item for item in words.holders.get(lemma(group[-1]), ()) if set(map(lemma, group)) <= set(item.words)]
    summed = {match["x"].lower(), lemma(match["x"].lower())} & measures().keys()  # `sales by category in 2024`
    if known.table_of_rows(match["x"]) is None or not named or summed or lemma(group[-1]) in _SORTED_BY:
        return None
    number = "number of " if _rows(match["x"], known) else ""
    when = re.sub(rf"^(?=(?:{MONTH} )?{YEAR}$)", "in ", match["when"])
    return Wording(f"{match['ask'] or ''}{number}{match['x']} per {match['y']} {when}")


@rule(
    rf"{_LISTED} by (?:the |their )?"
    r"(?P<y>(?:number of|total|average|overall) [a-z]+(?: [a-z]+)??|(?:money |amount )?(?:spent|spend|spending))"
    rf"(?P<when> (?:{_OF_ROWS})\b.+)?$"
)
def figures_by(match: re.Match[str], known: Known) -> Wording | None:
    """`customers by number of orders` as `number of orders per customer`, `by total spend` as `total spend per …`."""
    figure, table = match["y"].lower(), known.table_of_rows(match["x"])
    if table is None or any(" ".join(c.words) == figure for c in known.vocabulary.by_table[table.name]):
        return None
    figure = "total spend" if figure.split()[-1] in ("spent", "spend", "spending") else figure
    return Wording(f"{figure} per {' '.join(table.words)}{match['when'] or ''}")


@rule(rf"{_LISTED} by (?P<y>(?:[a-z]+ )?[a-z]+)$")
def sorted_by(match: re.Match[str], known: Known) -> Wording | None:
    """`products by price` as `products sorted by price`, with the price."""
    one, table = match["y"].lower().split()[-1], known.table_of_rows(match["x"])
    if table is None:
        return None
    own = [c for c in known.figures() if c.table == table.name and c.words[-1] == one]
    own = [c for c in own if one in _SORTED_BY or re.search("real|float|doub|dec|money", c.column.type, re.IGNORECASE)]
    new = f"{match['x']} and their {match['y']}, highest {match['y']} first"
    return Wording(new, notes=(f"{match[0]}: {new}",)) if own else None


_SORTED_BY = word_set("price cost amount total salary wage weight length height size distance duration population area "
                      "revenue balance turnover income profit value age mileage")  # fmt: skip


def _rows(word: str, known: Known) -> bool:
    """Whether a plural means rows to count, and neither a figure nor sums of money."""
    one, figures = lemma(word.lower().split()[-1]), {*measures(), *(w for c in known.figures() for w in c.words)}
    return one != word.lower().split()[-1] and one not in figures | MONEY_ROWS


@rule(r"\bthe (?:largest|highest|greatest|biggest) number of (?P<x>[a-z]+s)\b")
def largest_number(match: re.Match[str], known: Known) -> Wording | None:
    """`the largest number of products` as `the most products`, unless a column holds that number."""
    stored = {"number", "count", lemma(match["x"].lower())}
    held = any(len(stored & set(c.words)) > 1 for c in known.figures())
    return None if held else Wording(f"the most {match['x']}")


@rule(r"\b(?P<n>\d+|one|two|three|four|five|six)-(?P<c>[a-z]+) (?P<x>[a-z]+s)\b")
def counted_before(match: re.Match[str], known: Known) -> Wording | None:
    """`two-bedroom flats` as `flats with two bedrooms`, where a number is called so."""
    one = lemma(match["c"].lower())
    if not any(c.words == (one,) for c in known.figures()):
        return None
    new = f"{match['x']} with {match['n']} {plural(one)}"
    return Wording(new, notes=(f"{match[0]}: {new}",))
