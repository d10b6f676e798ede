"""Grain: what one row of the result, of a group or of a count stands for, against what the question means.

Each check reads query, keys and column types: a condition that is counted instead of applied, an average of averages,
months of different years in one group, a group that the question names and the query lacks, an extreme taken over more
rows than it is compared with, pairs that come twice.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.language.inflection import light_stem
from eval.language.words import name_words
from eval.schema import Schema, kept_with_schema
from eval.scoring.evidence.question_reading import Observation, Observations, Reading
from eval.sql.traversal import every

_GROUP = re.compile(r"\b(?:each|every|per)\s+((?:[^\W\d_]+\s+){0,2}[^\W\d_]+)")
_RUNNING = re.compile(r"\b(?:running|cumulative|cumulated|year[- ]to[- ]date|so far)\b")
_PAIRS = re.compile(r"\bpairs?\b")
_ONCE = re.compile(
    r"\b(?:each|every)(?: [^\W\d_]+){0,3} (?:comes )?(?:only )?once\b(?! for)|\bonly once\b|\bonce each\b"
    r"|\bwithout (?:repeats|repetitions|duplicates)\b|\bcomes once\b"
)
_SUPERLATIVES = re.compile(
    r"\b(?:most|highest|largest|biggest|greatest|longest|latest|newest|best|oldest|least|lowest|smallest|shortest"
    r"|earliest|fewest|worst|cheapest)\b"
)
_LEVELS = re.compile(
    r"\b(?:at|on|over|across) (?:any|all|every) levels?\b|\bdirectly or (?:indirectly|through)\b"
    r"|\bhow many levels\b|\ball the way (?:up|down)\b|\bwhole (?:chain|hierarchy|tree)\b|\bup to the (?:head|top)\b"
)
_YEARLY = re.compile(r"\b(?:seasonal\w*|(?:any|all|which|every) years?|regardless of (?:the )?year|calendar months?)\b")
_MONTH_ONLY = re.compile(r"%m'|\bmonth\b|, ?6, ?2\)", re.IGNORECASE)
_YEAR_TOO = re.compile(r"%Y|\byear\b|, 1, [47]\)|, 1, 10\)|date_trunc|yyyy", re.IGNORECASE)
_DAY_NUMBER = re.compile(r"date|day", re.IGNORECASE)
_MOMENT = re.compile("timestamp|datetime", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d$")


def observe(reading: Reading) -> Observations:
    yield from _counts(reading.tree)
    yield from _averages(reading)
    yield from _groups(reading)
    yield from _months(reading)
    yield from _extremes(reading)
    yield from _pairs(reading)
    yield from _days(reading)
    yield from _once(reading)
    yield from _levels(reading)
    yield from _side_by_side(reading)
    if _RUNNING.search(reading.question):
        windows = every(reading.tree, exp.Window)
        if windows and not any(w.args.get("order") for w in windows):
            yield Observation("running_unordered", 1, "The question asks for a running figure; no window has an order.")


def _counts(tree: exp.Expr) -> Observations:
    """COUNT of a condition counts the rows where it is false as well."""
    for call in every(tree, exp.Count):
        inside = call.this.unnest() if isinstance(call.this, exp.Expression) else None
        if isinstance(inside, exp.Distinct) and len(inside.expressions) == 1:
            inside = inside.expressions[0].unnest()
            if not isinstance(inside, exp.Case):
                continue
        default = inside.args.get("default") if isinstance(inside, exp.Case) else None
        never_null = default is not None and not isinstance(default, exp.Null | exp.Column)
        if never_null or isinstance(inside, exp.Predicate | exp.Not | exp.And | exp.Or):
            yield Observation("count_of_condition", 1, "COUNT counts the rows where its condition is false as well.")
            return


def _averages(r: Reading) -> Observations:
    """An average over groups' averages weighs a small group as much as a large one."""
    averaged = {
        e.alias.casefold()
        for s in r.selects[1:]
        for e in s.expressions
        if isinstance(e, exp.Alias) and isinstance(e.this, exp.Avg)
    }
    for call in every(r.tree, exp.Avg) if averaged else ():
        if isinstance(call.this, exp.Column) and call.this.name.casefold() in averaged:
            text = "The query averages averages, so that a small group weighs as much as a large one."
            yield Observation("average_of_averages", 1, text)
            return


def _groups(r: Reading) -> Observations:
    """A group that the question names and the schema knows, by which nothing is grouped, ordered or returned."""
    facts = r.case.facts
    if not facts.aggregates or len(r.tables) == 0:
        return
    used = {w for _, c in r.case.references.columns for w in name_words(c)} | {
        w for t in r.tables for w in name_words(t)
    }
    known = _head_words(r.case.schema)
    for found in _GROUP.finditer(r.question):
        said = [light_stem(w) for w in found[1].split()][:2]
        if said and said[0] in known and not any(w in used for w in said):
            text = f"The question asks per {found[1].split()[0]}, which the query does not use."
            yield Observation("group_key_unused", 1, text)
            return
    grouped = (
        bool(facts.group_by) or facts.distinct or any(w.args.get("partition_by") for w in every(r.tree, exp.Window))
    )
    several = facts.subqueries or "with" in r.tree.args or "with_" in r.tree.args
    if not grouped and not several and facts.output_aggregates and _GROUP.search(r.question) and len(r.rows) == 1:
        named = next((f for f in _GROUP.finditer(r.question) if light_stem(f[1].split()[0]) in known), None)
        if named is not None and not r.intent.average:
            text = f"The question asks per {named[1].split()[0]}, and one row comes back for all."
            yield Observation("group_not_kept", 1, text)


@kept_with_schema
def _head_words(schema: Schema) -> frozenset[str]:
    """The head words of the schema's tables and columns."""
    names = [t.name for t in schema.tables] + [c.name for t in schema.tables for c in t.columns]
    return frozenset(words[-1] for name in names if (words := name_words(name)))


def _months(r: Reading) -> Observations:
    if not _MONTH_ONLY.search(r.case.parsed.text):
        return
    for group in every(r.tree, exp.Group):
        keys = " ".join(e.sql(r.case.parsed.dialect) for e in group.expressions)
        whole = group.parent.sql(r.case.parsed.dialect) if group.parent is not None else ""
        one_year = bool(r.intent.numbers) or _YEAR_TOO.search(whole) or re.search(r"\b(?:19|20)\d\d", whole)
        if _MONTH_ONLY.search(keys) and not one_year and not _YEARLY.search(r.question):
            text = "The query groups by the month alone, so the same months of all years fall together."
            yield Observation("months_of_all_years", 1, text)
            return


def _extremes(r: Reading) -> Observations:
    """`WHERE city = 'X' AND age = (SELECT MIN(age) FROM t)`: the least of all, which may not be among those of X."""
    for select in r.selects:
        where = select.args.get("where")
        if where is None or not isinstance(where.this, exp.And) or where.find(exp.Or):
            continue
        sides = list(where.this.flatten())
        compared = [s for s in sides if isinstance(s, exp.EQ) and isinstance(s.right, exp.Subquery)]
        for side in compared:
            inner = side.right.find(exp.Select)
            call = inner.expressions[0].unalias() if inner is not None and len(inner.expressions) == 1 else None
            free = inner is not None and not any(inner.args.get(n) for n in ("where", "joins", "group", "with_"))
            others = [s for s in sides if s is not side and not _joins(s)]
            if free and isinstance(call, exp.Max | exp.Min) and others:
                text = "The extreme is taken over all rows, and the query then keeps only some of them."
                yield Observation("extreme_of_all_rows", 1, text)
                return


def _joins(side: exp.Expr) -> bool:
    return isinstance(side, exp.EQ) and isinstance(side.left, exp.Column) and isinstance(side.right, exp.Column)


def _pairs(r: Reading) -> Observations:
    if not _PAIRS.search(r.question):
        return
    for select in r.selects:
        tables = [t for t in every(select, exp.Table) if t.find_ancestor(exp.Select) is select]
        names = [t.name.casefold() for t in tables]
        if len(set(names)) < len(names) and not _orders_two(select):
            text = "A table is joined with itself and nothing orders the two: each pair comes twice."
            yield Observation("pairs_twice", 1, text)
            return


def _side_by_side(r: Reading) -> Observations:
    """`MAX(month), MAX(sales)` for the best month: the latest month beside the highest sales, of two different rows."""
    if len(_SUPERLATIVES.findall(r.question)) != 1 or r.intent.maximum or r.intent.minimum:
        return
    for select in r.selects:
        if select.args.get("group") is None:
            continue
        calls = [e.unalias() for e in select.expressions]
        for kind in (exp.Max, exp.Min):
            of = {c.this.sql() for c in calls if isinstance(c, kind) and isinstance(c.this, exp.Column)}
            if len(of) > 1:
                text = (
                    f"The extremes of {' and '.join(sorted(of)[:2])} stand side by side, and may be of different rows."
                )
                yield Observation("extremes_side_by_side", 1, text)
                return


def _orders_two(select: exp.Select) -> bool:
    """Whether a column of one row is less than that of the other: `a.id < b.id`."""
    return any(
        isinstance(c.left, exp.Column) and isinstance(c.right, exp.Column) and c.left.table != c.right.table
        for c in every(select, exp.LT, exp.GT)
    )


def _once(r: Reading) -> Observations:
    """What should come once and comes again."""
    if _ONCE.search(r.question) and r.rows and len(set(map(repr, r.rows))) < len(r.rows):
        yield Observation("repeated_though_once", 1, "The question wants each once, and the query returns some twice.")


def _levels(r: Reading) -> Observations:
    """All levels of a hierarchy without a recursion."""
    if _LEVELS.search(r.question) and not any(w.args.get("recursive") for w in every(r.tree, exp.With)):
        yield Observation(
            "levels_not_followed", 1, "The question asks for all levels; the query follows one step only."
        )


def _days(r: Reading) -> Observations:
    for node in every(r.tree, exp.Sub):
        sides = [s for s in (node.left, node.right) if isinstance(s, exp.Column)]
        if len(sides) == 2 and all(_DAY_NUMBER.search(s.name) and _written_as_number(r, s) for s in sides):
            text = f"{sides[0].name} and {sides[1].name} are dates written as numbers; their difference is not in days."
            yield Observation("day_numbers_subtracted", 1, text)
            break
    for bounded in every(r.tree, exp.Between, exp.LTE):
        bound = bounded.args.get("high") or bounded.args.get("expression")
        text = bound.name if isinstance(bound, exp.Literal) and bound.is_string else ""
        if _DAY.match(text) and isinstance(bounded.this, exp.Column) and _MOMENT.search(_type(r, bounded.this)):
            said = f"{bounded.this.name} has a time of day: of {text} only midnight is kept."
            yield Observation("last_day_cut", 1, said)
            break


def _written_as_number(r: Reading, column: exp.Column) -> bool:
    return re.search(r"\bint|number|numeric", _type(r, column), re.IGNORECASE) is not None


def _type(r: Reading, column: exp.Column) -> str:
    types = {found.type for t in r.case.tables_read if (found := t.column(column.name)) is not None}
    return types.pop() if len(types) == 1 else ""
