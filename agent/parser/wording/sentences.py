"""Full sentences: courtesy before the question, a second sentence that says what to show.

The rules leave one plain sentence.
"""

from __future__ import annotations

import re

from agent.parser.wording.rules import MONTH, YEAR, Known, Replacements, Wording, rule
from eval.language.inflection import lemma

_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_NAMED = rf"(?:{YEAR}\b|{MONTH}\b|(?:last|this|next) (?:year|month|quarter|week)\b)"
_PLAIN = Replacements(
    (r"^(?:(?:(?:haha|hehe|lol|hm+)\b[,.! ]+|(?:ok|okay|right|well|so|oh|alright)[,.!]+ *))+(?=[a-z])", ""),
    (r"\s*[:;]-?[)(DP](?=\s|[.?!]|$)", ""),
    (r"^(?:would|do) you mind (?:telling|showing|giving|listing)(?: me)? ", "show "),
    (r"^i (?:was|am) (?:just )?wondering[,:]? (?:if you could tell me )?", ""),
    (r"^for (?:the |all |all the )?([a-z]+s (?!and\b)[^,]+), (what|how|which|who|when)\b(.+)$", r"\2\3 for \1"),
    (r"\b(?:the )?average number of (days|hours|weeks|minutes)\b", r"average \1"),
    (r"\b(paid|shipped|delivered|returned|completed|finished|closed|arrived) (?:after|past|later than) "
     r"(?:their|its|the) (?:due|promised|expected|required|planned|scheduled|agreed) (?:dates?|days?|times?)\b",
     r"\1 late"),
    (r",? and when (?:did|do|does|were|was) (?:they|he|she|it) ([a-z]+)[?.! ]*$", r" and their \1 date"),
    (r"[.?!,] (?:many )?thank(?:s| you)(?: so| very)?(?: much| a lot| in advance)?[.?! ]*$", ""),
    (r"^(?:kindly |please )?(?:report|provide|state|supply|indicate)(?: us| me)?(?: with)? (?=(?:the|all|our|a)\b)",
     "show "),
    (r",? and (?:in |on |at )?(?:which|what) ([a-z]+) (?:are|is|do|does|did|were|was|has|have) (?:they|it|he|she|each)"
     r"(?: [a-z]+){0,2}[?.! ]*$", r" and their \1"),
    (r",? and what (?:is|are|was|were) (?:the|their|its) ([a-z]+(?: [a-z]+)?)(?: of each(?: one)?| for each)?[?.! ]*$",
     r" and their \1"),
    (r"\b(?:the )?(?P<every>dai|week|month|quarter|year)ly ([a-z]+) (?:totals?|figures?|numbers?)\b(.*)",
     lambda m: f"{m[2]} per {'day' if m[1].lower() == 'dai' else m[1]}{m[3]}"),
    (r"\bno\.? of (?=[a-z]+s\b)", "number of "),
    (r"^i(?:'d| would)? (?:need|want|like|require)(?: to (?:see|know|have|get))? (?=(?:the|our|all|a list)\b)",
     "show "),
    (r"^(?:hello|hiya|hi|hey|good (?:morning|afternoon|evening))\b(?: there| all| team)?[,.! ]+", ""),
    (r"^(?:please|kindly|excuse me|sorry|pardon(?: me)?)[,.!]? (?!for\b)", ""),
    (r"^(?:maybe |perhaps )?(?:can|could|would|will) you (?:please |kindly )?(?:say|tell)(?: to)? me,? "
     r"(?=(?:what|which|who|how|when|where)\b)", ""),
    (r"^(?:can|could|would|will) you (?:please |kindly )?(?=(?:list|show|give|find|tell|break)\b)", ""),
    (r"(?<=,) please (?=(?:list|show|give|tell)\b)", " "),
    (r"[.?!] (?:please )?(?:also )?(?:include|add|mention|state) (.+)$", r" and show \1"),
    (r"(?<=[.?!]) please (?=(?:list|show|give|tell)\b)", " "),
    (r"^(?:on|at) (?:what|which) (?:date|day) (do|does|did|is|was|were|has|have)\b", r"when \1"),
    (r"^((?:which|what|who) .+?\b(?:most|fewest|least) ([a-z]+s)\b.*?),? and how many(?: \2)?(?: (?:is|are|was|were) "
     r"(?:it|there|they|those|that)| (?:does|do|did|has|have|had) (?:it|they|he|she)(?: (?:have|get|place|make))?)?$",
     r"\1 and show the number of \2"),
    (r",? (?:over the years|in (?:our|the) (?:records|system|database|files|data))(?=[.?! ]*$)", ""),
    (r"^on average,? (.+?)[.?! ]*$", r"\1 on average"),
    (rf"\b(?:since|from) (?:the )?(?:very )?(?:start|beginning) of (?={_NAMED})", "since "),
    (rf"\b(?:until|till|up to|by|before) (?:the )?(?:very )?end of (?={_NAMED})", "until "),
    (rf"\bafter (?:the )?end of (?={_NAMED})", "after "),
    (rf"\bbefore (?:the )?(?:start|beginning) of (?={_NAMED})", "before "),
    (rf"\b(in|for|during|of) (?:the )?year (?={YEAR}\b)", r"\1 "),
    (rf"\b({_DAY}(?: of)? {MONTH}) (and|to|until|till|through) ({_DAY}(?: of)? {MONTH})(?:,| of)? ((?:19|20)\d\d)\b",
     r"\1 \4 \2 \3 \4"),
    (rf"\b({MONTH} {_DAY}) (and|to|until|till|through) ({MONTH} {_DAY}),? ((?:19|20)\d\d)\b", r"\1 \4 \2 \3 \4"),
)  # fmt: skip


def courtesy(text: str, _: Known) -> Wording | None:
    """`Could you please list the clients? Please include the city.` as `list the clients and show the city`."""
    new = _PLAIN(text)
    return Wording(new) if new != text else None


@rule(r"\b(?:a|one) single\b")
def not_a_single(_: re.Match[str], known: Known) -> Wording | None:
    """`never sold a single car` as `never sold any car`, unless rooms are single."""
    return None if known.stored("single") else Wording("any")


@rule(r"\bthe (?:largest|highest|greatest|biggest) number of (?P<x>[a-z]+s)\b")
def largest_number(match: re.Match[str], known: Known) -> Wording | None:
    """`the largest number of products` as `the most products`, unless a column holds that number."""
    stored = {"number", "count", lemma(match["x"].lower())}
    held = any(len(stored & set(c.words)) > 1 for c in known.figures())
    return None if held else Wording(f"the most {match['x']}")


@rule(r"\b(?:(?:currently|still) )?(?:out )?on (?P<x>loan|hire|rental|lease)\b")
def still_out(match: re.Match[str], known: Known) -> Wording | None:
    """`works out on loan` as `works with open loans`, where loans are rows that end."""
    table = known.table(match["x"])
    if table is None or known.values.find(match[0]) or len(known.dates(table)) < 2:
        return None
    return Wording(f"with open {table.plural}")


@rule(r"\b(?P<end>last|first)(?P<few> \d+)? (?P<x>[a-z]+)\b(?! name)(?!.*\b(?:by|order)\b)")
def last_rows(match: re.Match[str], known: Known) -> Wording | None:
    """`the last 3 orders` as `the latest 3 orders`, where orders have a date."""
    table = known.table(match["x"])
    if table is None or not known.dates(table):
        return None
    return Wording(f"{'latest' if match['end'] == 'last' else 'earliest'}{match['few'] or ''} {match['x']}")


@rule(r"\b(?P<many>(?:how many|number of|count of)(?: [a-z]+)??) (?P<x>rows|records|entries|lines)\b")
def rows_of_file(match: re.Match[str], known: Known) -> Wording | None:
    """`how many rows are active` as `how many members are active`, in a database of one table."""
    table, one = known.only_table, lemma(match["x"].lower())
    if table is None or one in known.vocabulary.holders or known.values.find(one):
        return None
    return Wording(f"{match['many']} {table.plural}")


@rule(
    r"^(?P<listed>(?:(?P<ask>list|show|give)\b)?.+?) with (?:(?:the|its|their) )?"
    r"(?P<what>[a-z]+(?:,? [a-z]+)*?)"
    r"(?P<rest>,? (?:sorted|ordered) by .+)?$"
)
def listed_with(match: re.Match[str], known: Known) -> Wording | None:
    """`list of all products with the price` as `… and their price`, where columns are called so."""
    parts = [part for part in re.split(r", and |,| and ", match["what"].lower()) if part.strip()]
    names = [re.sub(r"^(?:the|its|their) ", "", part.strip()) for part in parts]
    named = [known.called(name) for name in names]
    always = all(any(not c.column.nullable for c in columns) for columns in named)
    if not all(named) or not (match["ask"] or (always and len(names) > 1)):
        return None
    return Wording(f"{match['listed']} and their {', '.join(names[:-1])}{' and ' * (len(names) > 1)}{names[-1]}"
                   f"{match['rest'] or ''}")  # fmt: skip
