"""Slang, contractions and set phrases in full words, and names for things that the schema calls otherwise."""

from __future__ import annotations

import re

from agent.parser.wording.rules import MONTH, Known, Replacements, Wording, rule
from eval.language.inflection import lemma
from eval.language.numbers import SMALL_NUMBERS

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
plain = Replacements(
    (r"\b(?:actually|actualy|already) ", ""),
    (r"\b(more|less|fewer|greater|higher|lower|older|younger|larger|bigger|smaller|longer|shorter|later|earlier|"
     r"better|cheaper|heavier) then\b", r"\1 than"),
    (r"(?<=\w),? (?:i mean|lol|haha|hehe)\b(?=[ ,?.!]|$)", ""),
    (r"(?<=\w) (?:with us|on file|on record)(?=[?.!, ]*$)", ""),
    (r",? (?:so far|right now|at the moment|as of (?:now|today)|please|altogether|all together|(?<!n't )ever)"
     r"(?=[?.! ]*$)", ""),
    (r"^(how many .+?) (?:did we take in|(?:have )?c[ao]me in|were taken in|have we (?:written|made|had|got|taken "
     r"in))(?=[ ?.!]|$)", r"\1"),
    (r"\bw/o\b", "without"),
    (r"(?<=[a-z]) named (?=[\"'A-Z0-9])", " called "),
    (r"\bw/(?=\s)", "with"),
    (r"\bppl\b", "people"),
    (r"\bhow much (?:money|cash) (did|do|have|has|does)\b", r"how much \1"),
    (r"^how much (?:did|does|do) (?:each|every) (.+?) (?:take|make|earn|bring in)(?= |\?|$)", r"revenue per \1"),
    (r"^what did we (take|make|earn)(?= |\?|$)", r"how much did we \1"),
    (r"^(how much (?:did|do|does|has|have) .+?) (?:pay|paid)(?= |\?|$)", r"\1 spend"),
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
    (r"\bin %(?!\w)", "in percent"),
    (r"\b(first|last) ever\b", r"\1"),
    (r"^(?:what (?:is|was) |which (?:is|was) )?(?:the )?(day|week|month|quarter|year|weekday)(?: of the week)? "
     r"(?:with|that (?:had|has)) (?:the )?(most|fewest|highest|lowest|least)(?: number of)? ",
     r"which \1 has the \2 "),
    (r"\bout of (service|order|use|operation|action|business)\b", r"not in \1"),
    (r"^((?:which|what) (?!(?:share|part)\b).+?) is used (?:the )?(most|least)(?: often)?(?=[?.! ]*$)",
     r"\1 is the \2 common"),
    (r"\bworst first\b", "lowest first"),
    (r"\bbest (?:ones? )?first\b", "highest first"),
    (rf"\b(\d+|{SMALL_NUMBERS}) (best|top|worst) (?!selling|sold|rated|paid|scoring)(?=[a-z]+s\b)", r"\2 \1 "),
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
    (r"^((?:which|what) .+?) (?:is|are|was|were|gets?|got|has been|have been) (?:held|used|chosen|taken|seen|"
     r"found|made) (?=most often\b|the most often\b|most frequently\b|least often\b)", r"\1 is "),
    (r"\b(?:left|gave|given|submitted|posted)(?: us)? "
     r"(?=(?:(?:a|an|any|the|at least|more than|most|fewest|no)\b.{0,12} )?"
     r"(?:reviews?|ratings?|feedback|comments?)\b)", "wrote "),
    (r"\bmost of (?:the |our )?(?=[a-z]+s\b)", "most "),
    (rf"\b(?:the )?top (\d+|{SMALL_NUMBERS}) (?:most )?(expensive|cheap|costly|popular|recent|populous)\b",
     r"the \1 most \2"),
    (_MONEY_MADE + r" most (?:money|revenue|sales)\b", "has the highest revenue"),
    (_MONEY_MADE + r" least (?:money|revenue|sales)\b", "has the lowest revenue"),
    (r"\b(than|over|under|above|below|least|most) [$€£](?=\d)", r"\1 "),
    (r"\bmore than (\d+) (\w+) but (?:less|fewer) than (\d+)$", r"more than \1 \2 and less than \3 \2"),
    (r"\b((?:by|per) (?:day|week|month|quarter|year)) ((?:19|20)\d\d)\b", r"\1 in \2"),
    (r"\b(?:top|first) (\d+|three|five|ten) (?=(?:best|top)[- ]selling\b)", r"\1 "),
    (_YEAR_ALONE + r" ((?:19|20)\d\d)(?=\s*[?.!]?$)", r" in \1"),
    (r"^((?:show|list|who are|what are|which are)(?: me)? )?(?:the |our |my )?(top|best|bottom|worst) "
     r"([a-z]+(?:s|people)) by\b", r"\1\2 10 \3 by"),
    (rf"\b(?:between|from) ({MONTH}) (?:and|to|until|till|through) ({MONTH}) (?:of )?((?:19|20)\d\d)\b",
     r"between \1 \3 and \2 \3"),
    (r"\b(their|his|her) boss(?:es)?\b", r"\1 manager"),
)  # fmt: skip
"""The text with full words in place of slang, contractions and abbreviations."""


def set_phrases(text: str, _: Known) -> Wording | None:
    """`what'd u buy, pls` and the like, in full words."""
    new = plain(text)
    return Wording(new) if new != text else None


_NAMES = {"surname": "last name", "family name": "last name", "forename": "first name", "given name": "first name"}


@rule(rf"\b(?P<name>{'|'.join(_NAMES)})(?P<end>s?)\b", everywhere=True)
def person_names(match: re.Match[str], known: Known) -> Wording | None:
    """`surname` as `last name`, unless a column is called so."""
    name = match["name"].lower()
    if any(" ".join(c.words).endswith(name) for c in known.vocabulary.columns.values()):
        return None
    return Wording(f"{_NAMES[name]}{match['end']}")


@rule(
    r"\b(?P<kind>licen[cs]e|number) (?P<x>plates?)\b",
    r"\b(?P<x>e-?mails?) (?P<kind>add?ress)(?:es)?\b",
    r"\b(?P<x>(?:tele|mobile )?phone|mobile|fax) (?P<kind>number)s?\b",
)
def short_name(match: re.Match[str], known: Known) -> Wording | None:
    """`licence plate`, `email address`, `phone number` as `plate`, `email`, `phone`, where a column is called so."""
    said = match["x"].lower().replace("-", "").replace("telephone", "phone")
    name, kind = lemma(said), lemma(match["kind"].lower())
    called = [c.words for c in known.vocabulary.columns.values() if name in c.words]
    if all(kind in words for words in called) or (name == "plate" and any("license" in words for words in called)):
        return None
    if kind == "number" and (name,) not in called:
        return None
    return Wording(said, notes=(f"{match[0].lower()}: the {said}",))
