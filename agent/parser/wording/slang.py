"""Slang, contractions and set phrases in full words, and names for things that the schema calls otherwise."""

from __future__ import annotations

import re

from agent.knowledge.vocabulary import TableWord
from agent.parser.wording.rules import MONTH, Known, Replacements, Wording, file_rule, rule
from eval.language.inflection import lemma, plural
from eval.language.lexicon import word_set
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
    (r"\bav(?:rage|erge|arage|rg)\b", "average"),
    (r"\badress(es)?\b", r"address\1"),
    (r"\bquater(s|ly)?\b", r"quarter\1"),
    (r"\b(?:reveneu|revenu|revanue)\b", "revenue"),
    (r"\b(?:actually|actualy|already) ", ""),
    (r"\b(more|less|fewer|greater|higher|lower|older|younger|larger|bigger|smaller|longer|shorter|later|earlier|"
     r"better|cheaper|heavier) then\b", r"\1 than"),
    (r"\b(they|you)re\b", r"\1 are"),
    (r"\b(day|week|month|quarter|year) (?:by|after) \1\b", r"per \1"),
    (r"^how much (?:money |cash )?is (?:still )?(?:stuck|tied up|sitting) in (.+)", r"total amount of \1"),
    (r"(?<=\w),? (?:i mean|lol|haha|hehe)\b(?=[ ,?.!]|$)", ""),
    (r"(?<=[a-z]s) (?:that )?(?:do |did )?we (?:look after|take care of|deal with)(?=[?.! ]*$)", ""),
    (r"(?<=\w) (?:with us|on file|on record)(?=[?.!, ]*$)", ""),
    (r" (?:on|in) our books\b", ""),
    (r",? (?:so far|right now|at the moment|as of (?:now|today)|please|altogether|all together|(?<!n't )ever)"
     r"(?=[?.! ]*$)", ""),
    (r"\b(do we have|working|work|works|employed) here(?=[?.! ]*$)", r"\1"),
    (r"^(how many .+?) (?:did we take in|(?:have )?c[ao]me in|were taken in|have we (?:written|made|had|got|taken "
     r"in))(?=[ ?.!]|$)", r"\1"),
    (r"\bprice lists? (?:of|for) (?:all |the |our )*([a-z]+s)\b", r"names and prices of \1"),
    (r"\b(active|running|ongoing|valid) (?:today|now|nowadays|currently|any ?more|any longer)\b", r"\1"),
    (r"\bw/o\b", "without"),
    (r"(?<=[a-z]) named (?=[\"'A-Z0-9])", " called "),
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
    (r"^((?:which|what) (?!(?:share|part)\b).+?) is used (?:the )?(most|least)(?: often)?(?=[?.! ]*$)",
     r"\1 is the \2 common"),
    (r"\bworst first\b", "lowest first"),
    (r"\bbest (?:ones? )?first\b", "highest first"),
    (r"\b(?:going by|judging by|measured (?:by|in)|in terms of|by) (?:the )?(?:money|euros?|dollars?|pounds)\b",
     "by revenue"),
    (rf"\b(\d+|{SMALL_NUMBERS}) (best|top|worst) (?!selling|sold|rated|paid|scoring)(?=[a-z]+s\b)", r"\2 \1 "),
    (r"\b(?:days? of (?:the )?week|week days?)\b", "weekday"),
    (r"^((?:on |in )?(?:which|what) (?:day|week|month|quarter|year|weekday|hour)) do we (?:usually )?sell (?:the )?"
     r"(most|least)\b", r"\1 has the \2 sales"),
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
    (r"\b(?:left|gave|given|submitted|posted)(?: us)? "
     r"(?=(?:(?:a|an|any|the|at least|more than|most|fewest|no)\b.{0,12} )?"
     r"(?:reviews?|ratings?|feedback|comments?)\b)", "wrote "),
    (r"\b(left|leaving|joined) (?:the|our) (?:company|firm|business|practice|organi[sz]ation)\b", r"\1"),
    (r"\bwhat (?:the )?([a-z]+s) are called\b", r"the names of the \1"),
    (r"[,.;] (?:and )?(?:give|show|say|tell|list)(?: me)? what (?:they|those|these) are called[.?! ]*$",
     "; show their names"),
    (r"\bwhat (?:they|these|those) are called\b", "their names"),
    (r"\bwhat (?:it|he|she) is called\b", "its name"),
    (r"^((?:what|which) (?:share|percentage|percent|proportion) of .+?) in percent "
     r"(?=[a-z]+ (?:on |in |to )?each\b)", r"\1 "),
    (r"^how long are (?:the |our )?([a-z]+s)(?: on average)?\b", r"how long do \1 last"),
    (r"\bmost of (?:the |our )?(?=[a-z]+s\b)", "most "),
    (rf"\b(?:the )?top (\d+|{SMALL_NUMBERS}) (?:most )?(expensive|cheap|costly|popular|recent|populous)\b",
     r"the \1 most \2"),
    (r"\b(?:the )?number and (?:the )?(average|total|maximum|minimum|mean) ([a-z ]+?) of (?:all |the )?"
     r"((?:[a-z]+ed |open |overdue )?[a-z]+s)\b", r"the number of \3 and the \1 \2 of \3"),
    (_MONEY_MADE + r" most (?:money|revenue|sales)\b", "has the highest revenue"),
    (_MONEY_MADE + r" least (?:money|revenue|sales)\b", "has the lowest revenue"),
    (r"^((?:which|what) (?:employee|sales \w+|rep|seller|agent|store|shop|branch|region|country|city|"
     r"team)s?) sold the"
     r" most\b", r"\1 has the highest revenue"),
    (r"\b(than|over|under|above|below|least|most) [$€£](?=\d)", r"\1 "),
    (r"\bmore than (\d+) (\w+) but (?:less|fewer) than (\d+)$", r"more than \1 \2 and less than \3 \2"),
    (r"\b((?:by|per) (?:day|week|month|quarter|year)) ((?:19|20)\d\d)\b", r"\1 in \2"),
    (r"\b(?:top|first) (\d+|three|five|ten) (?=(?:best|top)[- ]selling\b)", r"\1 "),
    (_YEAR_ALONE + r" ((?:19|20)\d\d)(?=\s*[?.!]?$)", r" in \1"),
    (_YEAR_ALONE + r"(?<=s) ((?:19|20)\d\d)"
     r"(?= (?:still |yet )?(?:without|with|no|by|per|that|which|who|where|sorted)\b)", r" in \1"),
    (r"^((?:all |the |our )?[a-z]+s(?: in (?:19|20)\d\d)?) (?:still |yet )?(?:with )?no (?=[a-z]+(?: [a-z]+)?[?.! ]*$)",
     r"\1 without "),
    (r"\bdid we (?:have|need) to (?=[a-z]+\b)", "did we "),
    (r"\bset(?:s|ting)? (?:off|out)\b", "start"),
    (r"^((?:all |the |our )?(?!median|average|avg|mean)[a-z]+ [a-z]+s) (?:in )?total$", r"total \1"),
    (r"^((?:show|list|who are|what are|which are)(?: me)? )?(?:the |our |my )?(top|best|bottom|worst) "
     r"([a-z]+(?:s|people)) by\b", r"\1\2 10 \3 by"),
    (r"^(?:(?:who|what|which) are |(?:show|list|give)(?: me)? )?(?:our |my )?(newest|latest|most recent) ([a-z]+s)"
     r"(?=[?.! ]*$)", r"the 10 \1 \2"),
    (rf"\b(?:between|from) ({MONTH}) (?:and|to|until|till|through) ({MONTH}) (?:of )?((?:19|20)\d\d)\b",
     r"between \1 \3 and \2 \3"),
    (r"^(?:who is |who are )?(?:the |our )?(?:highest|best)[- ]paid ([a-z]+)( (?:in|at|of|from) .+)?$",
     r"\1\2 with the highest salary"),
    (r"^(?:who is |who are )?(?:the |our )?(?:lowest|worst)[- ]paid ([a-z]+)( (?:in|at|of|from) .+)?$",
     r"\1\2 with the lowest salary"),
    (r"\bthe boss of\b", "the manager of"),
    (r"^who (?:manages|supervises) "
     r"(?!the (?:most|fewest|least|largest|biggest)\b|more\b|fewer\b|at\b|no\b|\d)(.+)$",
     r"who is the manager of \1"),
    (r"^whom? (?:does|do|did) (.+?) (?:manage|supervise)\b", r"who reports to \1"),
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


@rule(r"\bsigned[- ]up\b", everywhere=True)
def signed_up(_: re.Match[str], known: Known) -> Wording | None:
    """`signed up` as `registered`, unless a column is called so."""
    return None if "signed" in known.vocabulary.holders else Wording("registered")


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


@rule(
    r"\b(?P<x>[a-z]+s) (?:(?:that|which) )?"
    r"(?:mention(?:s|ing|ed)?|contain(?:s|ing)?|talk(?:s|ing)? about|say(?:s|ing)?) "
    r"(?:the (?:word|phrase|term) )?(?P<quote>[\"']?)(?P<text>[a-z][\w' -]*?)(?P=quote)(?=$|[?.!])"
)
def mentioning(match: re.Match[str], known: Known) -> Wording | None:
    """`reviews that mention broken` as `reviews whose comment contains 'broken'`: the prose of such rows."""
    table, text = known.table(match["x"]), match["text"]
    if table is None or "'" in text or (not match["quote"] and len(text.split()) > 3):
        return None
    if not match["quote"] and known.table(text.split()[-1]) is not None:  # `orders that contain products`
        return None
    columns = known.vocabulary.by_table[table.name]
    prose = [c for c in columns if c.words[-1] in _PROSE and not c.numeric]
    if len(prose) > 1:
        return None
    names = known.vocabulary.name_columns(table.name)
    column = prose[0] if prose else names[0] if len(names) == 1 else None
    if column is None:
        return None
    name, looked = " ".join(column.words), f"“{text}” is looked for in the"
    doubt = "" if prose else f"{looked} {' '.join(column.words)}s only"
    new = f"{match['x']} whose {name} contains '{text}'"
    return Wording(new, notes=(f"{looked} {name}",), doubt=doubt)


_PROSE = word_set("comment text body content message note remark description feedback detail complaint summary")


@rule(
    r"^(?P<ask>(?:show|list|give|tell)(?: me)?|find|get) (?:every|each) (?P<x>[a-z]+) "
    r"(?P<rest>(?:that|which|who|whose)\b.+)"
)
def every_one(match: re.Match[str], known: Known) -> Wording | None:
    """`show every treatment that costs …` as `show all treatments that …`: no groups are asked for."""
    if known.table(match["x"]) is None:
        return None
    return Wording(f"{match['ask']} all {plural(match['x'])} {match['rest']}")


@file_rule(
    r"(?P<before>(?:how many|number of|count(?: of)?|of|which|what|average|list|show(?: me)?|per|are)"
    r"(?: (?:the|all|all the|these|those|[a-z]+))?) (?P<x>rows|records|entries|lines)(?!['’\w])",
    r"^(?P<before>)(?P<x>rows|records|entries|lines)(?= (?:that|which|with|without|where|whose|are|per|by|in|of)\b)",
)
def rows_of_file(match: re.Match[str], known: Known, table: TableWord) -> Wording | None:
    """`how many rows are active` as `how many members are active`, in a database of one table."""
    word, said = lemma(match["x"].lower()), match["before"].lower().split()
    if word in known.vocabulary.holders or known.values.find(word):
        return None
    whole = not match.string[match.end() :].strip() and (not said or said[-1] in _WHOLE)
    if whole and not set(said) & _COUNTED:  # `show all rows`: their columns, too
        return None
    if known.table(said[-1] if said else "") is not None or "distinct" in said or "different" in said:
        return None
    known_plural = lemma(table.plural.split()[-1]) == table.words[-1]  # not of `t.csv`
    return Wording(f"{match['before']} {table.plural if known_plural else ' '.join(table.words)}".strip())


_COUNTED = word_set("many number count average of per")
_WHOLE = word_set("all the these those show list me of which what")


@rule(r"\b(?P<what>[a-z]+) (?P<level>levels?)\b", everywhere=True)
def levels(match: re.Match[str], known: Known) -> Wording | None:
    """`priority level` as `priority`, `difficulty level` as `level`: whichever of the two is a column."""
    holders, what = known.vocabulary.holders, match["what"].lower()
    if "level" in holders:
        return Wording(match["level"]) if what in _GRADES - holders.keys() else None
    return Wording(what) if what in holders else None


_GRADES = word_set("difficulty skill priority urgency severity risk experience seniority")


@rule(r"\b(?:kind(?P<end>s?)\b|sort(?P<of>s?)(?= of\b))", everywhere=True)
def kinds(match: re.Match[str], known: Known) -> Wording | None:
    """`kinds of ships` as `types of ships`, where only a type is in the schema."""
    holders = known.vocabulary.holders
    if "type" not in holders or {"kind", "sort"} & holders.keys():
        return None
    return Wording(f"type{match['end'] or match['of'] or ''}")


@rule(
    r"\b(?P<x>[a-z]+) (?P<number>numbers?|nos?\.?)(?! of\b)(?=[ ,.?]|$)",
    everywhere=True,
)
def row_numbers(match: re.Match[str], known: Known) -> Wording | None:
    """`department number` as `department id`, where the table has such a key and no column is called a number."""
    table = known.table(match["x"])
    if table is None:
        return None
    numbers = [c for c in known.vocabulary.columns.values() if c.words[-1] == "number"]
    called_so = any(
        c.words[:-1] in (table.words, table.words[-1:]) or (c.words == ("number",) and c.table == table.name)
        for c in numbers
    )
    shortened = any(c.table == table.name and table.words[-1].startswith(c.words[0][:3]) for c in numbers)
    key = known.vocabulary.key_column(table.name)
    if called_so or shortened or key is None or key.words[-1] != "id":
        return None
    return Wording(f"{match['x']} id{'s' if match['number'].endswith('s') else ''}")
