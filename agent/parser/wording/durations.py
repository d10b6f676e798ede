"""Durations: the two dates, or the column, that `repair time`, `days to pay` or `how long do trips last` is about.

They become the plain question, and a `Shape` that computes the time from one date to the other. Times of day give
hours, dates give days, unless the question names the unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from agent.parser.interpretation import Function, Operator, Shape, Unit
from agent.parser.stored_states import SAME_EVENT
from agent.parser.word_lists import word_list
from agent.parser.wording.rules import ASKED, Known, Wording, rule
from eval.language.inflection import lemma, plural, root
from eval.language.lexicon import word_set
from eval.language.numbers import quantity


def _roots(words: str) -> frozenset[str]:
    return frozenset(root(word) for word in word_set(words))


_STARTS = _roots(
    "order start open place request report rent loan invoice sale begin book issue check admit create borrow submit "
    "register file log raise receive begun departure pickup rental"
)
_ENDS = _roots(
    "end finish fix complete close resolve deliver return discharge leave pay settle ship dispatch collect checkout "
    "repair arrive arrival delivery payment completion finished fixed closed resolved due"
)
_PLANNED = word_set("due expected planned estimated promised required scheduled deadline")
_STAMPS = word_set("update updated modified changed")
_LENGTHS = word_set("duration length runtime time minutes hours")
_FUNCTIONS: dict[str, Function] = {
    "": "avg", "average": "avg", "avg": "avg", "mean": "avg", "typical": "avg", "longest": "max", "maximum": "max",
    "max": "max", "shortest": "min", "minimum": "min", "min": "min", "total": "sum",
}  # fmt: skip
_COMPARED: dict[str, Operator] = {
    "longer than": ">", "more than": ">", "over": ">", "less than": "<", "under": "<", "shorter than": "<",
    "at least": ">=", "at most": "<=",
}  # fmt: skip
_UNITS: dict[str, Unit] = {"day": "day", "hour": "hour", "minute": "minute", "min": "minute", "week": "week"}
_REST = (
    r"(?P<rest>(?: (?:by|per|that|which|whose|where|with|for each|for every|of each|in each|each|of|for|in|during|"
    r"since|last|this) .+)?)"
)
_FUNCTION = r"(?P<f>average|avg|mean|typical|longest|shortest|maximum|minimum|max|min|total)"
_IDLE = r"(?:lead|wait|waiting|turnaround|processing|handling|cycle|response|throughput|fulfil?lment|idle)"
_AN = r"(?:an? |the |our |all |each |every )?"
_COUNTED = r"(?:long|many (?P<unit>days|hours|minutes|weeks))"
_GROUPS = (
    r"(?P<rest>(?: (?:(?:by|per|for each|for every|of each|in each|each|during|this year|last year)\b|"
    r"in (?=(?:19|20)\d\d)).*)?)"
)
_Pairs = list[tuple[ColumnWord, ColumnWord]]


@rule(r"^(?:for (?:each|every) (?P<group>[^,]+), )?(?P<asked>.+?)(?:,? in (?P<unit>days|hours|minutes|weeks))?$")
def duration(match: re.Match[str], known: Known) -> Wording | None:
    """The plain question and the shape of a time that is asked for; None when no pair of dates holds it."""
    group = f" per {match['group']}" if match["group"] else ""
    text = " ".join((match["asked"] + group).split()).removesuffix(" on average")
    wording = next(filter(None, (form(text, known) for form in _FORMS)), None)
    unit = _unit_named(match["unit"] or "")
    if wording is None or wording.shape is None or wording.shape.kind != "days" or unit is None:
        return wording
    return replace(wording, shape=replace(wording.shape, unit=unit))


@rule(
    r"^(?P<what>.+?) (?:that |which )?(?:took|take|lasted|last|lasting|taking|needed|ran)(?: for)? "
    r"(?P<cmp>longer than|more than|less than|over|under|at least|at most|shorter than) (?P<n>[a-z]+|\d+(?:\.\d+)?) "
    r"(?P<unit>minute|hour|day|week|min)s?(?: to (?:be )?(?P<x>[a-z]+))?$"
)
def _took(match: re.Match[str], known: Known) -> Wording | None:
    """`trips that lasted more than 2 hours`: the rows, restricted by the time between their dates."""
    noun, number = match["what"].split()[-1], quantity(match["n"])
    table = known.table(noun)
    pairs = [p for p in _pairs(match["x"] or lemma(noun.lower()), known) if table and p[1].table == table.name]
    if len(pairs) != 1 or number is None:
        return None
    (start, end), unit = pairs[0], _UNITS[match["unit"].lower()]
    if unit in ("hour", "minute") and _unit(start, end, known) == "day":
        return None
    operator = _COMPARED[match["cmp"].lower()]
    return Wording(
        match["what"], Shape("took", span=(start.key, end.key), unit=unit, operator=operator, number=float(number))
    )


@rule(
    rf"^{ASKED}(?:{_FUNCTION} )?(?:number of )?(?P<unit>days|hours|minutes|weeks|{_IDLE} time|time|gap|delay|interval|"
    rf"turnaround|wait)s? (?:between|from) {_AN}"
    rf"(?P<a>[a-z]+)(?: date)? (?:and|to|until) {_AN}(?:its |their )?(?P<b>[a-z]+)(?: date)?"
    r"(?P<rest>(?: (?:by|per|for each|for every|of each|in each|each|in|during|for) .+)?)$"
)
def _between(match: re.Match[str], known: Known) -> Wording | None:
    """`days between order and delivery`."""
    return _passed(_dates_between(match["a"], match["b"], known), match, known, match["f"])


@rule(
    rf"^{ASKED}{_FUNCTION} (?P<x>[a-z]+(?: [a-z]+)?) (?:time|duration|length)s?"
    rf"(?: in (?P<unit>days|hours|minutes|weeks))?{_REST}$",
    rf"^{ASKED}(?:{_FUNCTION} )?(?:number of )?(?P<unit>days|hours|minutes|weeks|time) (?:it takes )?(?:to|until|for) "
    rf"(?:be |get )?(?P<x>(?!date\b|now\b|today\b)[a-z]+)(?: {_AN}(?P<o>(?!by\b|per\b|for\b|in\b)[a-z]+))?{_REST}$",
)
def _event_time(match: re.Match[str], known: Known) -> Wording | None:
    """`average repair time by model`, `average days to pay`."""
    function = (match["f"] or "").lower()
    if function and (stored := _stored(match["x"], function, match["rest"], known)) is not None:
        return stored
    # of the table that the question names, if it names one of theirs
    table = known.table((match.groupdict().get("o") or "").rpartition(" ")[2])
    pairs = _pairs(match["x"], known)
    own = [pair for pair in pairs if table is not None and pair[1].table == table.name]
    return _passed(own or pairs, match, known, function)


@rule(rf"^(?:on|in) average,? how {_COUNTED} (?P<said>.+?){_GROUPS}$", rf"^how {_COUNTED} (?P<said>.+?){_GROUPS}$")
def _asked(match: re.Match[str], known: Known) -> Wording | None:
    """`how long do trips last`, `how many days pass until an order is shipped`: the dates that the words are nearest
    to."""
    said = [w for w in re.findall("[a-z]+", match["said"].lower()) if w not in _IDLE_WORDS]
    if not _PASSING & set(match["said"].lower().split()):
        return None
    for event in said:
        if (stored := _stored(event, "average", match["rest"], known)) is not None:
            return stored
    worth: dict[tuple[ColumnWord, ColumnWord], int] = {}
    for start, end in (*_all_pairs(known), *_stays(known)):  # by what of them the words name; the end counts most
        kept = {root(w) for w in known.vocabulary.tables[end.table].words}
        rows_named = any(root(lemma(w)) in kept for w in said)
        begun, ended = (any(_called(w, date) for w in said) for date in (start, end))
        worth[start, end] = 3 * ended + 2 * rows_named + begun
    most = max(worth.values(), default=0)
    pairs = [pair for pair, near in worth.items() if near == most and (most or len(worth) == 1)]
    rows = _ROWS.search(match["said"])
    return _passed(pairs, match, known, of=rows[1] if rows and rows[1].endswith("s") else "")


_ROWS = re.compile(r"^(?:do|does|did) (?:the |our |an? )?([a-z]+(?: [a-z]+)?) (?:usually |normally |typically )?"
                   r"(?:take|last|run|stay)", re.IGNORECASE)  # fmt: skip
_PASSING = word_list("passing")
_IDLE_WORDS = word_list("idle_words")
_KIND_OF_DATE = word_set("date time at on day timestamp datetime")


def _called(word: str, column: ColumnWord) -> bool:
    words = [w for w in column.words if w not in _KIND_OF_DATE and w not in column.owner]
    same = (*SAME_EVENT.get(word, ()), *SAME_EVENT.get(f"{lemma(word)}d", ()))
    return any(_alike(said, w) for w in words for said in (word, *same))


_FORMS = (_took, _between, _event_time, _asked)


def _passed(
    pairs: _Pairs, match: re.Match[str], known: Known, function: str | None = "", *, of: str = ""
) -> Wording | None:
    """The time from the first to the second date of the one pair."""
    if len(pairs) != 1:
        return None
    start, end = pairs[0]
    unit = _unit_named(match.groupdict().get("unit") or "") or _unit(start, end, known)
    shape = Shape("days", span=(start.key, end.key), function=_FUNCTIONS[(function or "").lower()], unit=unit)
    table = known.table(of.split()[-1] if of else "")
    described = of if table is not None and table.name == end.table else ""
    rows = described or known.vocabulary.tables[end.table].plural
    return Wording(f"number of {rows}{match['rest'] or ''}", shape)


def _unit_named(word: str) -> Unit | None:
    return _UNITS.get(word.lower().rstrip("s"))


_COMES = _roots("arrival arrive checkin start begin admission admit")
_GOES = _roots("departure depart checkout leave discharge end")
_STAY_LENGTHS = word_set("night day hour minute duration length")


def _stays(known: Known) -> _Pairs:
    """The dates between which somebody is there: arrival and departure, check-in and check-out."""
    pairs = []
    for columns in known.vocabulary.by_table.values():
        dates = [c for c in columns if c.role == "date"]
        if any(c.role == "number" and c.words[-1] in _STAY_LENGTHS for c in columns):
            continue  # the length is stored
        comes = [c for c in dates if _is(c, _COMES) or {"check", "in"} <= set(c.words)]
        goes = [c for c in dates if _is(c, _GOES) or {"check", "out"} <= set(c.words)]
        if len(comes) == 1 and len(goes) == 1 and comes != goes:
            pairs.append((comes[0], goes[0]))
    return pairs


def _stored(event: str, function: str, rest: str, known: Known) -> Wording | None:
    """The wording for a table that stores the time itself (`duration_minutes`)."""
    for name, table in known.vocabulary.tables.items():
        if not _names(event, table.words):
            continue
        lengths = [
            c
            for c in known.vocabulary.by_table[name]
            if c.is_figure and _LENGTHS & {*c.words, *(plural(w) for w in c.words)}
        ]
        if len(lengths) == 1:
            aggregate_word = {"longest": "maximum", "shortest": "minimum"}.get(function.lower(), function)
            return Wording(f"{aggregate_word} {' '.join(lengths[0].words)} of {table.plural}{rest or ''}")
    return None


def _names(event: str, words: Sequence[str]) -> bool:
    """Whether the words of a question name the table with these words."""
    return {root(lemma(w)) for w in event.lower().split()} >= {root(w) for w in words}


def _pairs(event: str, known: Known) -> _Pairs:
    """The pairs of dates at the start and the end of an event: of a table of that name, otherwise of tables with a date
    of that name at the end."""
    verb = event.lower().split()[-1]
    named = [pair for pair in _all_pairs(known) if _names(event, known.vocabulary.tables[pair[1].table].words)]
    ended = [pair for pair in _all_pairs(known) if any(_alike(verb, w) for w in pair[1].words)]
    verbs = {root(w) for w in (verb, lemma(verb))}
    partly = [p for p in _all_pairs(known) if verbs & {root(w) for w in known.vocabulary.tables[p[1].table].words}]
    return ended or named or partly


def _alike(verb: str, word: str) -> bool:
    forms = (verb, lemma(verb), root(verb))
    return len(word) > 2 and any(form[:4] == word[:4] or (len(word) == 3 and form.startswith(word)) for form in forms)


def _all_pairs(known: Known) -> Iterator[tuple[ColumnWord, ColumnWord]]:
    for columns in known.vocabulary.by_table.values():
        dates = [c for c in columns if c.role == "date" and not (_PLANNED | _STAMPS) & set(c.words)]
        starts = [c for c in dates if _is(c, _STARTS) and not _is(c, _ENDS)]
        ends = [c for c in dates if _is(c, _ENDS)]
        starts = starts or [c for c in dates if c not in ends and not c.column.nullable]
        always = [c for c in ends if not c.column.nullable]
        if not starts and len(always) == 1:  # shipped, and later delivered
            starts = always
        first = min(starts, key=columns.index, default=None)
        if first is not None:
            yield from ((first, end) for end in ends if end != first)


def _is(column: ColumnWord, words: frozenset[str]) -> bool:
    return bool(words & {root(w) for w in column.words})


def _dates_between(first: str, last: str, known: Known) -> _Pairs:
    """The two dates of one table that the words name; the table's own name stands for its other date."""
    pairs = []
    for name, columns in known.vocabulary.by_table.items():
        dates = [c for c in columns if c.role == "date"]
        starts = [c for c in dates if any(_alike(first.lower(), w) for w in c.words)]
        ends = [c for c in dates if any(_alike(last.lower(), w) for w in c.words) and c not in starts]
        if not starts and _names(first, known.vocabulary.tables[name].words):
            starts = [c for c in dates if c not in ends and not _PLANNED & set(c.words) and not _is(c, _ENDS)]
        if not ends and _names(last, known.vocabulary.tables[name].words):
            ends = [c for c in dates if c not in starts]
        if len(starts) == 1 and len(ends) == 1:
            pairs.append((starts[0], ends[0]))
    return pairs


def _unit(start: ColumnWord, end: ColumnWord, known: Known) -> Unit:
    """Hours where both dates hold times of day, otherwise days."""
    return "hour" if _timed(start, known) and _timed(end, known) else "day"


def _timed(column: ColumnWord, known: Known) -> bool:
    stored = known.values.values(*column.key)[:5]
    if stored:
        return any(":" in v for v in stored)
    return bool(re.search("timestamp|datetime", column.column.type, re.IGNORECASE))
