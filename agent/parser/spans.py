"""Spans of time: the two dates, or the column, that `repair time`, `days to pay` or `how long do trips last` is about.

In: a question's text, the vocabulary and the value index. Out: the plain question, and a `Shape` that computes the time
from one date to the other. Times of day give hours, dates give days,
unless the question names the unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.interpretation import Condition, Expression, Function, Operator, Query, Shape, Unit
from agent.parser.shape_wording import Wording
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
_LENGTHS = word_set("duration length runtime time minutes hours")
_FUNCTIONS: dict[str, Function] = {
    "": "avg", "average": "avg", "avg": "avg", "mean": "avg", "typical": "avg", "longest": "max", "maximum": "max",
    "max": "max", "shortest": "min", "minimum": "min", "min": "min", "total": "sum",
}  # fmt: skip
_UNITS: dict[str, Unit] = {"day": "day", "hour": "hour", "minute": "minute", "min": "minute", "week": "week"}
_REST = r"(?P<rest>(?: (?:by|per|for each|for every|of each|in each|each|of|for|in|during|since|last|this) .+)?)"
_FUNCTION = r"(?P<f>average|avg|mean|typical|longest|shortest|maximum|minimum|max|min|total)"
_ASKED = r"(?:(?:what|show|give|tell)(?: is|'s| was| me)? )?(?:the |our )?"
_NOUN = re.compile(
    rf"^{_ASKED}{_FUNCTION} (?P<x>[a-z]+(?: [a-z]+)?) (?:time|duration|length)s?"
    rf"(?: in (?P<unit>days|hours|minutes|weeks))?{_REST}$",
    re.IGNORECASE,
)
_AN = r"(?:an? |the |our |all |each |every )?"
_TO = re.compile(
    rf"^{_ASKED}(?:{_FUNCTION} )?(?:number of )?(?P<unit>days|hours|minutes|weeks|time) (?:it takes )?(?:to|until|for) "
    rf"(?:be |get )?(?P<x>(?!date\b|now\b|today\b)[a-z]+)(?: {_AN}(?P<o>(?!by\b|per\b|for\b|in\b)[a-z]+))?{_REST}$",
    re.IGNORECASE,
)
_IDLE = r"(?:lead|wait|waiting|turnaround|processing|handling|cycle|response|throughput|fulfil?lment|idle)"
_BETWEEN = re.compile(
    rf"^{_ASKED}(?:{_FUNCTION} )?(?:number of )?(?P<unit>days|hours|minutes|weeks|{_IDLE} time|time|gap|delay|interval|"
    rf"turnaround|wait)s? (?:between|from) {_AN}"
    rf"(?P<a>[a-z]+)(?: date)? (?:and|to|until) {_AN}(?:its |their )?(?P<b>[a-z]+)(?: date)?"
    rf"(?P<rest>(?: (?:by|per|for each|for every|of each|in each|each|in|during|for) .+)?)$",
    re.IGNORECASE,
)
_WAIT = re.compile(
    rf"^{_ASKED}(?:{_FUNCTION} )?(?P<idle>{_IDLE}[- ]times?|turnarounds?|waits?)"
    rf"(?: (?:of|for|on) {_AN}(?P<x>(?!each\b)[a-z]+))?{_REST}$",
    re.IGNORECASE,
)
_OFTEN = r"(?: (?:on average|usually|normally|typically|in general))?"
_UNTIL = re.compile(
    rf"^(?:on average )?how (?:long|many (?P<unit>days|hours|minutes|weeks))(?: does it (?:usually )?take|"
    rf" is it| on average)?{_OFTEN} (?:until|till|before|for) {_AN}(?P<o>[a-z]+(?: [a-z]+)?) "
    rf"(?:(?:is|are|was|were|gets?|got|has been|have been|to be|to get) )?(?P<x>[a-z]+){_OFTEN}{_REST}$",
    re.IGNORECASE,
)
_TAKES = re.compile(
    rf"^(?:on average )?how (?:long|many (?P<unit>days|hours|minutes|weeks)) (?:does|did) it (?:usually |normally |"
    rf"typically )?take(?: (?!to\b)[a-z]+)?{_OFTEN} to (?:get |have |be )?(?P<x>[a-z]+)"
    rf"(?: {_AN}(?P<o>(?!by\b|per\b|for\b|in\b|on\b)[a-z]+))?(?: [a-z]+ed)?{_OFTEN}{_REST}$",
    re.IGNORECASE,
)
_STAY = re.compile(
    rf"^(?:{_ASKED}(?:{_FUNCTION} )?(?:length|duration) of (?:a |the )?stays?|"
    r"how (?:long|many (?P<unit>days|hours|minutes|weeks)) do (?:the |our )?(?P<o>[a-z]+(?: [a-z]+)?) "
    rf"(?:usually )?stay(?: (?P<open>open))?(?: with us)?|"
    rf"{_ASKED}{_FUNCTION.replace('<f>', '<f2>')} stay){_OFTEN}{_REST}$",
    re.IGNORECASE,
)
_IN_UNIT = re.compile(r",? in (?P<unit>days|hours|minutes|weeks)$", re.IGNORECASE)
_LATE = re.compile(
    rf"^(?:how late (?:do|did|are|were|is|was) {_AN}(?P<o>[a-z]+)(?: (?P<x>[a-z]+))?|"
    rf"{_ASKED}(?:average|avg|mean) (?:delay|lateness|days late)(?: (?:of|in|for) {_AN}(?P<o2>[a-z]+))?)"
    rf"{_OFTEN}{_REST}$",
    re.IGNORECASE,
)
_LONG = re.compile(
    r"^how (?:long|many (?P<unit>days|hours|minutes|weeks)) (?:do|does|did) (?:the |an? |our |it |people |we )?"
    r"(?:(?P<x>[a-z]+) )?(?:usually |normally |typically )?(?:take|last|run)(?: to (?:be |get )?(?P<y>[a-z]+))?"
    rf"(?: on average)?{_REST}$",
    re.IGNORECASE,
)
_TOOK = re.compile(
    r"^(?P<what>.+?) (?:that |which )?(?:took|take|lasted|last|lasting|taking|needed|ran)(?: for)? "
    r"(?P<cmp>longer than|more than|less than|over|under|at least|at most|shorter than) (?P<n>[a-z]+|\d+(?:\.\d+)?) "
    r"(?P<unit>minute|hour|day|week|min)s?(?: to (?:be )?(?P<x>[a-z]+))?$",
    re.IGNORECASE,
)
_COMPARED: dict[str, Operator] = {
    "longer than": ">", "more than": ">", "over": ">", "less than": "<", "under": "<", "shorter than": "<",
    "at least": ">=", "at most": "<=",
}  # fmt: skip


def spanned(text: str, vocabulary: Vocabulary, values: ValueIndex) -> Wording | None:
    """The plain question and the shape of a time that is asked for; None when no pair of dates holds it."""
    text = " ".join(text.strip().rstrip("?!. ").split())
    asked = _IN_UNIT.search(text)
    text = text[: asked.start()] if asked else text
    if match := _TOOK.match(text):
        return _took(match, vocabulary, values)
    if match := _LATE.match(text):
        return _late(match, vocabulary)
    doubt, of = "", ""
    if match := _BETWEEN.match(text):
        pairs = _dates_between(match["a"], match["b"], vocabulary)
        function = _FUNCTIONS[(match["f"] or "").lower()]
    elif match := _STAY.match(text):
        pairs = _pairs("closed", vocabulary) if match["open"] else _stays(vocabulary)
        function, of = _FUNCTIONS[(match["f"] or match["f2"] or "").lower()], match["o"] or ""
    elif match := _UNTIL.match(text) or _TAKES.match(text):
        pairs, function = _of_rows(_pairs(match["x"], vocabulary), match["o"], vocabulary), "avg"
    elif match := _WAIT.match(text):
        pairs, doubt = _longest(match["x"] or "", vocabulary)
        function = _FUNCTIONS[(match["f"] or "").lower()]
    elif match := _NOUN.match(text) or _TO.match(text):
        given = (match["f"] or "").lower()
        if given and (plain := _own_column(match["x"], given, match["rest"], vocabulary)) is not None:
            return plain
        pairs, function = _pairs(match["x"], vocabulary), _FUNCTIONS[given]
        pairs = _of_rows(pairs, match.groupdict().get("o"), vocabulary)
    elif match := _LONG.match(text):
        event = match["y"] or match["x"] or ""
        if match["x"] and (plain := _own_column(match["x"], "average", match["rest"], vocabulary)) is not None:
            return plain
        pairs, function = _pairs(event, vocabulary) if event else [], "avg"
    else:
        return None
    if len(pairs) != 1:
        return None
    start, end = pairs[0]
    named = asked["unit"] if asked else match.groupdict().get("unit") or ""
    unit = _UNITS.get(named.lower().rstrip("s")) or _unit(start, end, values)
    kind = Shape("days", span=(start.key, end.key), function=function, unit=unit)
    rows = _described(of, vocabulary, end) or vocabulary.tables[end.table].plural
    doubt = doubt and f"“{doubt}” is taken as from {start.name} to {end.name}; name the two dates if others are meant"
    return Wording(f"number of {rows}{match['rest'] or ''}", kind, doubt=doubt)


def _described(words: str, vocabulary: Vocabulary, end: ColumnWord) -> str:
    """The rows as the question describes them (`urgent tickets`); empty where it names other rows (`guests`)."""
    table = vocabulary.table_named(words.split()[-1]) if words else None
    return words if table is not None and table.name == end.table else ""


def _of_rows(
    pairs: list[tuple[ColumnWord, ColumnWord]], rows: str | None, vocabulary: Vocabulary
) -> list[tuple[ColumnWord, ColumnWord]]:
    """The pairs of the table that the question names, if it names one of them."""
    table = vocabulary.table_named(rows.split()[-1]) if rows else None
    own = [p for p in pairs if table is not None and p[1].table == table.name]
    return own or pairs


_COMES = _roots("arrival arrive checkin start begin admission admit")
_GOES = _roots("departure depart checkout leave discharge end")


_LENGTHS = word_set("night day hour minute duration length")


def _stays(vocabulary: Vocabulary) -> list[tuple[ColumnWord, ColumnWord]]:
    """The dates between which somebody is there: arrival and departure, check-in and check-out."""
    pairs = []
    for columns in vocabulary.by_table.values():
        dates = [c for c in columns if c.role == "date"]
        if any(c.role == "number" and c.words[-1] in _LENGTHS for c in columns):
            continue  # the length is stored
        comes = [c for c in dates if _is(c, _COMES) or {"check", "in"} <= set(c.words)]
        goes = [c for c in dates if _is(c, _GOES) or {"check", "out"} <= set(c.words)]
        if len(comes) == 1 and len(goes) == 1 and comes != goes:
            pairs.append((comes[0], goes[0]))
    return pairs


def _longest(rows: str, vocabulary: Vocabulary) -> tuple[list[tuple[ColumnWord, ColumnWord]], str]:
    """The first and the last date of the events that may be meant by `lead time`, and the words to doubt when more than
    one pair is possible."""
    table = vocabulary.table_named(rows) if rows else None
    pairs = [p for p in _all_pairs(vocabulary) if table is None or p[1].table == table.name]
    if len(pairs) <= 1:
        return pairs, ""
    return (pairs[-1:], "the time") if len({p[1].table for p in pairs}) == 1 else ([], "")


def _late(match: re.Match[str], vocabulary: Vocabulary) -> Wording | None:
    """`how late were deliveries on average`: the time from the planned date to the date of the event, of late rows."""
    word = match["x"] or match["o"] or match["o2"] or ""
    named = vocabulary.table_named(match["o"] or match["o2"] or "")
    pairs = []
    for name, columns in vocabulary.by_table.items():
        dates = [c for c in columns if c.role == "date"]
        due = [c for c in dates if _PLANNED & set(c.words)]
        done = [c for c in dates if c not in due and c.column.nullable and _is(c, _ENDS)]
        done = [c for c in done if any(_alike(word.lower(), w) for w in c.words)] or done
        if len(due) == 1 and done and (named is None or named.name == name or len(done) == 1):
            pairs.append((due[0], done[-1]))
    own = [p for p in pairs if named is not None and p[1].table == named.name]
    pairs = own or pairs
    if len(pairs) != 1:
        return None
    due_date, happened = pairs[0]
    shape = Shape("days", span=(due_date.key, happened.key), late=True)
    note = "only those that were late are averaged"
    return Wording(f"number of {vocabulary.tables[happened.table].plural}{match['rest'] or ''}", shape, (note,))


def _took(match: re.Match[str], vocabulary: Vocabulary, values: ValueIndex) -> Wording | None:
    """`trips that lasted more than 2 hours`: the rows, restricted by the time between their dates."""
    noun = match["what"].split()[-1]
    table = vocabulary.table_named(noun)
    number = quantity(match["n"])
    pairs = [p for p in _pairs(match["x"] or lemma(noun.lower()), vocabulary) if table and p[1].table == table.name]
    if len(pairs) != 1 or number is None:
        return None
    start, end = pairs[0]
    unit = _UNITS[match["unit"].lower()]
    if unit in ("hour", "minute") and _unit(start, end, values) == "day":
        return None
    shape = Shape(
        "took", span=(start.key, end.key), unit=unit, operator=_COMPARED[match["cmp"].lower()], number=float(number)
    )
    return Wording(match["what"], shape)


def _own_column(event: str, function: str, rest: str, vocabulary: Vocabulary) -> Wording | None:
    """The wording for a table that stores the time itself (`duration_minutes`)."""
    for name, table in vocabulary.tables.items():
        if not _names(event, table.words):
            continue
        lengths = [
            c
            for c in vocabulary.by_table[name]
            if c.numeric and c.role == "number" and _LENGTHS & {*c.words, *(plural(w) for w in c.words)}
        ]
        if len(lengths) == 1:
            aggregate_word = {"longest": "maximum", "shortest": "minimum"}.get(function.lower(), function)
            return Wording(f"{aggregate_word} {' '.join(lengths[0].words)} of {table.plural}{rest or ''}")
    return None


def _names(event: str, words: Sequence[str]) -> bool:
    """Whether the words of a question name the table with these words."""
    return {root(lemma(w)) for w in event.lower().split()} >= {root(w) for w in words}


def _pairs(event: str, vocabulary: Vocabulary) -> list[tuple[ColumnWord, ColumnWord]]:
    """The pairs of dates at the start and the end of an event: of a table of that name, otherwise of tables with a date
    of that name at the end."""
    verb = event.lower().split()[-1]
    named = [pair for pair in _all_pairs(vocabulary) if _names(event, vocabulary.tables[pair[1].table].words)]
    ended = [pair for pair in _all_pairs(vocabulary) if any(_alike(verb, w) for w in pair[1].words)]
    verbs = {root(w) for w in (verb, lemma(verb))}
    partly = [p for p in _all_pairs(vocabulary) if verbs & {root(w) for w in vocabulary.tables[p[1].table].words}]
    return ended or named or partly


def _alike(verb: str, word: str) -> bool:
    forms = (verb, lemma(verb), root(verb))
    return len(word) > 2 and any(form[:4] == word[:4] or (len(word) == 3 and form.startswith(word)) for form in forms)


def _all_pairs(vocabulary: Vocabulary) -> Iterator[tuple[ColumnWord, ColumnWord]]:
    for columns in vocabulary.by_table.values():
        dates = [c for c in columns if c.role == "date" and not _PLANNED & set(c.words)]
        starts = [c for c in dates if _is(c, _STARTS) and not _is(c, _ENDS)]
        ends = [c for c in dates if _is(c, _ENDS)]
        starts = starts or [c for c in dates if c not in ends and not c.column.nullable]
        for end in ends:
            if len(starts) == 1:
                yield starts[0], end
            elif starts:
                yield min(starts, key=lambda c: columns.index(c)), end


def _is(column: ColumnWord, words: frozenset[str]) -> bool:
    return bool(words & {root(w) for w in column.words})


def _dates_between(first: str, last: str, vocabulary: Vocabulary) -> list[tuple[ColumnWord, ColumnWord]]:
    """The two dates of one table that the words name; the table's own name stands for its other date."""
    pairs = []
    for name, columns in vocabulary.by_table.items():
        dates = [c for c in columns if c.role == "date"]
        starts = [c for c in dates if any(_alike(first.lower(), w) for w in c.words)]
        ends = [c for c in dates if any(_alike(last.lower(), w) for w in c.words) and c not in starts]
        if not starts and _names(first, vocabulary.tables[name].words):
            starts = [c for c in dates if c not in ends and not _PLANNED & set(c.words) and not _is(c, _ENDS)]
        if not ends and _names(last, vocabulary.tables[name].words):
            ends = [c for c in dates if c not in starts]
        if len(starts) == 1 and len(ends) == 1:
            pairs.append((starts[0], ends[0]))
    return pairs


def _unit(start: ColumnWord, end: ColumnWord, values: ValueIndex) -> Unit:
    """Hours where both dates hold times of day, otherwise days."""
    return "hour" if _timed(start, values) and _timed(end, values) else "day"


def _timed(column: ColumnWord, values: ValueIndex) -> bool:
    stored = values.values(*column.key)[:5]
    if stored:
        return any(":" in v for v in stored)
    return bool(re.search("timestamp|datetime", column.column.type, re.IGNORECASE))


# --- queries ---


def completed(query: Query, shape: Shape) -> bool:
    """Put the time into the query, in place; False when the query does not count or list the rows that have it."""
    assert shape.span is not None
    start, end = shape.span
    if shape.kind == "took":
        passed = Expression(column=end, since=start, unit=shape.unit)
        if end[0] not in query.tables and not any(end[0] in e.tables for e in query.select):
            return False
        query.where.append((Condition(passed, shape.operator, (shape.number,)),))
        return True
    figures = [e for e in query.select if e.function]
    if len(figures) != 1 or figures[0].function != "count" or figures[0].share:
        return False
    figure = Expression(shape.function, end, since=start, unit=shape.unit)
    if shape.late:
        query.where.append((Condition(Expression(column=end), ">", (Expression(column=start),)),))
    query.select = [figure if e == figures[0] else e for e in query.select]
    query.order = [(figure if e == figures[0] else e, down) for e, down in query.order]
    query.default_order = [(figure if e == figures[0] else e, down) for e, down in query.default_order]
    if query.group and not query.order and not any(e.part for e in query.group):
        query.order = [(figure, True)]
    query.shape = shape
    return True
