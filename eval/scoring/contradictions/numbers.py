"""Numbers, years and periods: one that the query compares with and the question does not name, or the other way; and
comparisons turned round: `older than 45` against `age < 45`, `above the average` against `< (SELECT AVG(...))`.

In: a question read against its query. Out: sentences. A direction is looked at only where the question says its number
once, or the average, with a word for the direction beside it, and where nothing is denied.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.language.inflection import light_stem
from eval.language.numbers import NUMBER_WORDS
from eval.language.tokens import tokenize
from eval.scoring.contradictions.said import left_over
from eval.scoring.evidence.question_reading import Reading, Sentences
from eval.scoring.evidence.ranking import numbers_rows
from eval.scoring.intent import supposes
from eval.sql.traversal import every
from eval.sql.types import Constant

_YEAR = re.compile(r"(1[89]\d\d|20\d\d)(?=$|%|-\d\d)")
_DATE_KEY = re.compile(r"(?:1[89]|20)\d\d(?:[01]\d(?:[0-3]\d)?)?$")
"""A year, a month or a day written as one number."""
NAMED_YEAR = re.compile(r"(?<![\w.,$-])(1[89]\d\d|20\d\d)(?![\w.,]\d|\w)")
_RELATIVE = re.compile(
    r"\b(?:previous|prior|before|after|earlier|later|since|until|age|aged|old|older|younger|compared|change|growth|"
    r"grew|year over year|following|next|last|season|fiscal|between)\b"
)


def number_foreign(r: Reading) -> Sentences:
    """A number that is compared and that the question does not name, while it names another that the query lacks, or
    while all of its words have their part in the query."""
    named = set(r.intent.numbers) | {float(n) for n in _DIGITS.findall(f"{r.question} {r.case.taught}")}
    spelled = {float(n) for w, n in NUMBER_WORDS.items() if light_stem(w) in r.all_words}
    listed = float(sum(c.is_string for c in r.constants))  # `HAVING COUNT(DISTINCT name) = 2`: both that it lists
    known = named | spelled | ({listed} if listed > 1 else set())
    foreign = [c for c in r.constants if _compared_number(c) and not _near(float(c.value), known)]
    if foreign:  # `five hundred`, `40k`
        named |= {float(token.number) for token in tokenize(r.question) if token.number is not None}
        foreign = [c for c in foreign if not _near(float(c.value), named)]
    if not foreign:
        return
    used = {float(c.value) for c in r.constants if _is_number(c.value)}
    bounds = {1.0} if _MORE_THAN_ONE.search(r.question) else set()
    wanted = {n for n in named | spelled if n > 1} | bounds
    apart = [n for n in wanted if not _near(n, used)]
    lacking = [n for n in apart if not re.search(rf"(?<![\w.]){re.escape(f'{n:g}')}(?![\w.])", r.case.parsed.text)]
    if lacking or not left_over(r):
        number = foreign[0].value
        yield f"The query compares with {number}, which the question does not name."


_DIGITS = re.compile(r"(?<!\d)\d{1,9}(?!\d)")
_MORE_THAN_ONE = re.compile(r"\b(?:than|least|most|exactly) (?:one|1|once)\b")


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(?:\.\d+)?", text))


def _compared_number(c: Constant) -> bool:
    return (
        c.operator is not None
        and not c.is_string
        and not _DATE_KEY.match(c.value)
        and _is_number(c.value)
        and (abs(float(c.value)) > 1 or (c.operator in _BOUNDS and float(c.value) != 0))
    )


_BOUNDS = ("<", "<=", ">", ">=")
"""`= 1` is often a flag, and `> 0` leaves out what is not known."""


def _near(number: float, known: set[float]) -> bool:
    scales = (1, 100, 60, 1_000, 3_600, 60_000, 1_000_000)
    return any(abs(number - k) <= 1 or any(abs(number - k * s) < 1e-6 or abs(number * s - k) < 1e-6 for s in scales)
               for k in known)  # fmt: skip


def year_foreign(r: Reading) -> Sentences:
    """A year that is compared and that the question, which names years, does not name. The first day of the year after
    may end a period, the last day of the year before may begin one."""
    named = {int(y) for y in NAMED_YEAR.findall(r.question)}
    if not named:
        return
    computes = r.case.facts.window_functions or every(r.tree, exp.Case)
    if computes and len(named) == 1 and _RELATIVE.search(r.question.replace("between", "")):
        return
    for c in r.constants:
        found = _YEAR.match(c.value)
        if found is None or c.operator is None:
            continue
        year = int(found[1])
        inside = min(named) <= year <= max(named)
        if not (inside or _ends_period(c, year, named, r) or _begins_period(c, year, named, r)):
            yield f"The query looks at {c.value}; the question names {', '.join(map(str, sorted(named)))}."
            return


def _ends_period(c: Constant, year: int, named: set[int], r: Reading) -> bool:
    """The year after one that is named, as an end that does not belong; or the year before `before 2010`."""
    last = c.value[4:6] == "-0"
    if year - 1 in named and (c.operator == "<" or (c.operator in ("<=", "between") and last)):
        return not re.search(rf"(?<!or )\bbefore (?:the year )?{year - 1}\b", r.question)
    bounds = c.operator == "<=" or (c.operator == "<" and last)
    return year + 1 in named and bounds and _UNTIL.search(r.question) is not None


def _begins_period(c: Constant, year: int, named: set[int], r: Reading) -> bool:
    """The year before one that is named, as a beginning that does not belong; or the year after `after 2010`."""
    if year + 1 in named and c.operator == ">":
        return not re.search(rf"(?<!or )\bafter (?:the year )?{year + 1}\b", r.question)
    dated = len(c.value) > len("2024")
    bounds = c.operator == ">=" or (c.operator == ">" and dated)
    return year - 1 in named and bounds and _FROM.search(r.question) is not None


_UNTIL = re.compile(r"(?<!or )\b(?:before|until|prior)\b")
_FROM = re.compile(r"(?<!or )\bafter\b|\blater than\b")


_RANGE = re.compile(r"\b(?:between|from|through|until|to|decade|century|since|range|during)\b|(?:19|20)\d\ds\b|\d-\d")


def year_unused(r: Reading) -> Sentences:
    """One of two years that the question names side by side is in the query, the other is not."""
    named = list(dict.fromkeys(NAMED_YEAR.findall(r.question)))
    if len(named) != 2 or _RANGE.search(r.question) or supposes(r.case.question):
        return
    used = [y for y in named if y in r.case.parsed.text]
    if len(used) == 1:
        other = next(y for y in named if y not in used)
        near = {str(int(other) + 1), str(int(other) - 1)} - set(used)
        if not any(year in r.case.parsed.text for year in near):
            yield f"The question names {other}; the query looks at {used[0]} only."


_WITHIN = re.compile(r"\b(?:in|during|of|year) (?:the year )?(?:1[89]|20)\d\d\b(?! (?:or|and|to|through|until|onward))")
_ONWARD = re.compile(r"\b(?:since|after|before|until|later|earlier|onwards?|from|prior|by)\b")


def period_open(r: Reading) -> Sentences:
    """`In 2023`, and the query bounds the date on one side only."""
    named = {int(y) for y in NAMED_YEAR.findall(r.question)}
    if len(named) != 1 or not _WITHIN.search(r.question) or _ONWARD.search(r.question):
        return
    year = named.pop()
    dated = [c for c in r.constants if (m := _YEAR.match(c.value)) and int(m[1]) in (year - 1, year, year + 1)]
    sides = {"=" if c.operator == "<>" else (c.operator or "?")[0] for c in dated}
    if sides in ({">"}, {"<"}):
        yield f"The question names {year}; the query bounds it on one side only."


_MORE = (
    r"(?:more|greater|higher|larger|older|bigger|longer|heavier|later|taller|better|newer|richer|costlier|faster|hotter"
    r"|wider|stronger)"
)
_LESS = r"(?:less|fewer|smaller|lower|younger|shorter|lighter|earlier|worse|cheaper|poorer|slower|colder|weaker)"
_THAN = r"(?: [^\W\d_]+){0,3} than"
_BEFORE = re.compile(
    rf"(?P<least>\b(?:no|not) {_LESS}{_THAN}\b)|(?P<most>\b(?:no|not) {_MORE}{_THAN}\b)"
    rf"|(?P<more>\b(?:{_MORE}{_THAN}|over|above|exceed(?:s|ing|ed)?|after|since|at least|minimum of|beyond)\b)"
    rf"|(?P<less>\b(?:{_LESS}{_THAN}|under|below|before|at most|up to|until|prior to|maximum of)\b)"
)
_AFTER = re.compile(
    rf"^(?: [^\W\d_]+){{0,2}},? (?:or|and) (?:(?P<more>{_MORE}|above|over|after|up|on|onwards?|later)"
    rf"|(?P<less>{_LESS}|below|under|before|young|earlier))\b(?! than\b)(?! (?:the )?(?:year )?\d)"
)
_DENIED = re.compile(r"\b(?:not|never|nor|neither|without|except|excluding|[^\W\d_]+n't|don t|no one|none)\b")
_AGE = re.compile(r"\b(?:old|older|young|younger|age|aged|elder|senior)\b")
_DATED = re.compile(r"year|date|birth|born|dob", re.IGNORECASE)
_REACH = 45
"""Characters before a number in which the word for its direction stands."""
_BESIDE = 12
"""Characters between such a word and its number."""
_FLIPPED: dict[type[exp.Expr], bool] = {exp.GT: True, exp.GTE: True, exp.LT: False, exp.LTE: False}
_NEW_YEAR = re.compile(r"((?:1[89]|20)\d\d)-01-01")
_AVERAGE = re.compile(r"\b(?:average|avg|mean)\b")


def comparison_flipped(r: Reading) -> Sentences:
    """A comparison in the direction opposite to the one that the question gives for its number."""
    for node in every(r.tree, exp.GT, exp.GTE, exp.LT, exp.LTE):
        if _under_denial(node):
            continue
        grows = _FLIPPED[type(node)]
        column, bound = node.this, node.expression
        if _bound(column) is not None and _bound(bound) is None:
            column, bound, grows = bound, column, not grows
        asked = _asked(column, bound, r)
        # the same bound in the other direction as well tells two sides apart
        others = (o for o in every(r.tree, exp.GT, exp.GTE, exp.LT, exp.LTE) if o is not node)
        if asked is not None and asked != grows and not any(bound in (o.this, o.expression) for o in others):
            words = "more" if asked else "less"
            yield f"The question asks for {words} than the query's bound; the query compares the other way round."
            return


def _under_denial(node: exp.Expr) -> bool:
    """In a part of the query that is taken away, in a join, or in the condition of a value that is computed."""
    parent = node.parent
    while parent is not None:
        if isinstance(parent, exp.Not | exp.Case | exp.If | exp.Join):
            return True
        if isinstance(parent, exp.Except) and parent.expression is node:
            return True
        node, parent = parent, parent.parent
    return False


def _bound(side: exp.Expr) -> str | None:
    """The number that a side is, as a question writes it; `average` for a subquery that computes one."""
    plain = side.unnest()
    if isinstance(plain, exp.Literal):
        year = _NEW_YEAR.match(plain.name)
        if year is not None:
            return year[1]
        return plain.name if not plain.is_string or plain.name.isdecimal() else None
    select = plain.this if isinstance(plain, exp.Subquery) else plain
    if isinstance(select, exp.Select) and len(select.expressions) == 1:
        return "average" if isinstance(select.expressions[0].unalias(), exp.Avg) else None
    return None


def _asked(column: exp.Expr, bound: exp.Expr, r: Reading) -> bool | None:
    """Whether the question asks for more than the bound; None where it does not tell."""
    number = _bound(bound)
    if number is None or not every(column, exp.Column, exp.Count):
        return None
    names = [c.name for c in every(column, exp.Column)]
    if _AGE.search(r.question) and any(_DATED.search(n) for n in names):
        return None
    places = (_AVERAGE if number == "average" else _written(number)).finditer(r.question)
    found = {_direction(r.question[: place.start()], r.question[place.end() :]) for place in places}
    return found.pop() if len(found) == 1 else None


def _written(number: str) -> re.Pattern[str]:
    value = float(number)
    forms = {re.escape(number), re.escape(f"{value:g}"), re.escape(f"{value:,.0f}")} if value < 1e15 else {number}
    forms |= {word for word, n in NUMBER_WORDS.items() if n == value}
    return re.compile(rf"(?<![\w.,-])(?:{'|'.join(sorted(forms, key=len, reverse=True))})(?![\w]|[.,]\d)")


def _direction(before: str, after: str) -> bool | None:
    """Whether the words beside a number ask for more; None where they do not tell."""
    clause = re.split(r"[.;?!\d]", before[-_REACH:])[-1]
    found = list(_BEFORE.finditer(clause))
    later = None if found and len(clause) - found[-1].end() < _BESIDE else _AFTER.match(after)
    if later is not None:
        return None if _DENIED.search(clause) else later["more"] is not None
    if not found or _DENIED.search(clause[: found[-1].start()]):
        return None
    return found[-1]["more"] is not None or found[-1]["least"] is not None


def rank_from_behind(r: Reading) -> Sentences:
    """`The top 3 of each region`, and the query keeps what a ranking numbers from 3 on."""
    ranks = {w.parent.alias for w in every(r.tree, exp.Window) if isinstance(w.parent, exp.Alias) and numbers_rows(w)}
    for node in every(r.tree, exp.GT, exp.GTE):
        if isinstance(node.this, exp.Column) and node.this.name in ranks and _bound(node.expression) is not None:
            yield "The query keeps the rows behind the ranks asked for."
            return
