"""Pitfalls: SQL that means something else than it seems to, whatever the question's style.

Each check reads query, types and keys. `observe`: rows that a join multiplies under a sum or a count, NULLs that empty
a result, whole numbers that divide to whole numbers, versions counted as things, zeros that enter an average.
`observe_joins`: conditions that follow no key, tables that are only joined, groups that merge what differs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from sqlglot import exp

from eval.language.inflection import light_stem
from eval.language.words import akin, name_words
from eval.schema import Column, Table
from eval.scoring.evidence.question_reading import Observation, Observations, Reading, is_key_name
from eval.sql.traversal import every, from_items

_COUNTED = re.compile(
    r"\b(?:how many|number of)\s+(?:(?:different|distinct|unique|total|other|current|active|new)\s+)*"
    r"([^\W\d_]+)(?:\s+([^\W\d_]+))?"
)
_CURRENT = frozenset({"current", "latest", "live", "valid"})
_SHARE_NAMES = re.compile(r"percent|pct|ratio|share|proportion|rate|average|avg", re.IGNORECASE)
_RANKS = frozenset({"row_number", "rank", "dense_rank", "ntile"})
_SHARE_NAMED = re.compile(r"\d ?(?:%|percent\b|per cent\b)")
"""A share that the question names and does not ask for."""
_DAY = re.compile("date|time", re.IGNORECASE)
_MEASURES = (exp.Sum, exp.Avg)


def observe(reading: Reading) -> Observations:
    yield from _multiplied(reading)
    yield from _wrong_operands(reading)
    yield from _nulls(reading)
    yield from _divisions(reading)
    yield from _versions(reading)
    yield from _conditions(reading)
    yield from _windows(reading)


def _multiplies(r: Reading, select: exp.Select) -> dict[str, set[str]]:
    """For each table that a SELECT itself joins, those in reach of it that hold several rows for one of its own."""
    steps: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    names = [
        t.name
        for s in from_items(select)
        if isinstance(s, exp.Table) and (t := r.case.schema.table(s.name)) is not None
    ]
    beside = set(names) if len(set(names)) == len(names) else set()
    for (one, one_column), (other, other_column) in r.case.facts.join_columns if len(beside) > 1 else ():
        if one != other and one in beside and other in beside:
            steps[one].append((other, not _unique(r.case.schema.table(other), other_column)))
            steps[other].append((one, not _unique(r.case.schema.table(one), one_column)))
    reached: dict[str, set[str]] = {}
    for start in steps:
        many: set[str] = set()
        seen, left = {start}, [(start, False)]
        while left:
            place, multiplied = left.pop()
            for table, several in steps[place]:
                if table not in seen:
                    seen.add(table)
                    if multiplied or several:
                        many.add(table)
                    left.append((table, multiplied or several))
        reached[start] = many
    return reached


def _anti_join(select: exp.Select) -> bool:
    """`LEFT JOIN ... WHERE other.key IS NULL` keeps what has no match: nothing is repeated."""
    where = select.args.get("where")
    return where is not None and any(j.side == "LEFT" for j in select.args["joins"]) and bool(every(where, exp.Is))


def _unique(table: Table | None, column: str) -> bool:
    """Whether one value of the column is in one row at most, as far as keys say; unknown counts as unique."""
    if table is None or (not table.primary_key and not table.foreign_keys):
        return True
    folded = column.casefold()
    keys = [table.primary_key, *(i.columns for i in table.indexes if i.unique)]
    if any(tuple(c.casefold() for c in key) == (folded,) for key in keys):
        return True
    references = any(folded in {c.casefold() for c in key.columns} for key in table.foreign_keys)
    return not references and folded not in {c.casefold() for c in table.primary_key}


def _multiplied(r: Reading) -> Observations:
    """A sum or an average over one table's rows while a join repeats them."""
    if not r.case.facts.joins or any(
        isinstance(s.args.get("from_"), exp.From) and s.find(exp.Lateral) for s in r.selects
    ):
        return
    for call in every(r.tree, *_MEASURES):
        select = call.find_ancestor(exp.Select)
        if select is None or isinstance(call.this, exp.Distinct) or isinstance(call.parent, exp.Window):
            continue
        if _counts(call):
            continue
        reached = _multiplies(r, select)
        owners = {place[0].name for c in every(call, exp.Column) if (place := r.stored(c)) is not None}
        if len(owners) == 1:
            table = owners.pop()
            if reached.get(table):
                other = min(reached[table])
                name = "sum_multiplied" if isinstance(call, exp.Sum) else "average_multiplied"
                text = (
                    f"The join repeats each row of {table} for every row of {other}, and the aggregate counts them all."
                )
                yield Observation(name, 1, text)
                break


def _counted_table(r: Reading) -> str | None:
    counted = _COUNTED.search(r.question)
    if counted is None:
        return None
    stems = {light_stem(word) for word in counted.groups() if word}
    named = [
        t.name
        for t in r.case.schema.tables
        if (words := name_words(t.name)) and (words[-1] in stems) and len(words) <= 2
    ]
    among = [name for name in named if name in r.tables] or named
    return among[0] if len(among) == 1 else None


_TEXT = re.compile("char|text|string|clob|date|time|bool|json|blob", re.IGNORECASE)


def _counts(call: exp.Expr) -> bool:
    """Whether a sum counts rows: each adds one where a condition holds."""
    inside = call.this.unnest()
    if isinstance(inside, exp.Case | exp.If):
        ifs = [inside] if isinstance(inside, exp.If) else inside.args.get("ifs") or ()
        return all(isinstance(i.args.get("true"), exp.Literal) for i in ifs)
    return isinstance(inside, exp.Predicate)


def _wrong_operands(r: Reading) -> Observations:
    """A sum or average of what is no amount: a text, a date, a key."""
    for call in every(r.tree, *_MEASURES):
        if not isinstance(call.this, exp.Column):
            continue
        known = r.stored(call.this)
        if known is None:
            continue
        table, column = known
        word = "adds up" if isinstance(call, exp.Sum) else "averages"
        key = {column.name.casefold()} == {c.casefold() for c in table.primary_key}
        refers = any(column.name.casefold() in {c.casefold() for c in k.columns} for k in table.foreign_keys)
        if key or refers:
            yield Observation("aggregate_of_key", 1, f"The query {word} {column.name}, which identifies rows.")
        elif (
            not _adds_up(r, column.type)
            and _TEXT.search(column.type)
            and not re.search("num|dec|int", column.type, re.IGNORECASE)
        ):
            text = f"The query {word} {column.name}, which holds {column.type.lower()}."
            yield Observation("aggregate_of_text", 1, text)


def _adds_up(r: Reading, kind: str) -> bool:
    """Whether figures came back: a text may hold numbers, a day is none."""
    return not _DAY.search(kind) and any(isinstance(cell, int | float) and cell for row in r.rows[:1] for cell in row)


def _nulls(r: Reading) -> Observations:
    if any(isinstance(e.left, exp.Null) or isinstance(e.right, exp.Null) for e in every(r.tree, exp.EQ, exp.NEQ)):
        yield Observation("compared_with_null", 1, "A comparison with NULL is never true.")
    empty = r.case.ran and (not r.rows or r.rows == ((0,),))
    for node in every(r.tree, exp.Not):
        query = node.this.args.get("query") if isinstance(node.this, exp.In) else None
        inner = query.find(exp.Select) if query is not None else None
        if empty and inner is not None and len(inner.expressions) == 1 and isinstance(inner.expressions[0], exp.Column):
            known = r.stored(inner.expressions[0])
            if known and known[1].nullable and not known[1].primary_key and not every(inner, exp.Is):
                text = f"NOT IN finds nothing where {known[1].name} holds a NULL, and the query finds nothing."
                yield Observation("not_in_nulls", 1, text)
                break
    for case in (c for call in every(r.tree, exp.Avg, exp.Min) for c in every(call, exp.Case)):
        default, values = case.args.get("default"), [i.args.get("true") for i in case.args.get("ifs") or ()]
        if (
            default is not None
            and default.sql() in ("0", "0.0")
            and any(v is not None and v.find(exp.Column) for v in values)
        ):
            yield Observation("zero_in_average", 1, "Rows outside the condition enter the average or minimum as zeros.")
            break


def _divisions(r: Reading) -> Observations:
    divisions = every(r.tree, exp.Div)
    if r.case.parsed.dialect in ("sqlite", "postgres") and any(
        _whole(r, d.left) and _whole(r, d.right) for d in divisions
    ):
        yield Observation("whole_number_division", 1, "Whole numbers are divided, and the fraction is cut off.")
    named = any(_SHARE_NAMES.search(c) for _, c in r.case.references.columns)
    if (
        r.intent.share
        and not _SHARE_NAMED.search(r.question)
        and not divisions
        and not named
        and not every(r.tree, exp.Avg, exp.CumeDist, exp.PercentRank)
    ):
        yield Observation("share_not_divided", 1, "The question asks for a share, and the query divides nothing.")


def _whole(r: Reading, node: exp.Expr) -> bool:
    """Whether an operand is sure to be a whole number."""
    node = node.unnest()
    if isinstance(node, exp.Literal):
        return not node.is_string and "." not in node.name
    if isinstance(node, exp.Count):
        return True
    if isinstance(node, exp.Sum | exp.Min | exp.Max | exp.Coalesce | exp.Nullif):
        return _whole(r, node.this)
    if isinstance(node, exp.Mul | exp.Add | exp.Sub):
        return _whole(r, node.left) and _whole(r, node.right)
    if isinstance(node, exp.Case):
        values = [i.args.get("true") for i in node.args.get("ifs") or ()]
        return all(v is not None and _whole(r, v) for v in values)
    if isinstance(node, exp.Column):
        known = r.stored(node)
        return known is not None and re.search(r"\bint", known[1].type, re.IGNORECASE) is not None
    return False


def _versions(r: Reading) -> Observations:
    """Rows of a table that marks its current versions, counted without looking at the mark."""
    used = {(t.casefold(), c.casefold()) for t, c in r.case.references.columns}
    counts = [c for c in every(r.tree, exp.Count) if not isinstance(c.this, exp.Distinct)]
    if not counts:
        return
    for name in r.tables if len(r.tables) == 1 else filter(None, (_counted_table(r),)):
        if name not in r.tables or not any(c.find_ancestor(exp.Select) is r.select for c in counts):
            continue
        sources = from_items(r.select) if r.select else ()
        own = any(isinstance(s, exp.Table) and s.name.casefold() == name.casefold() for s in sources)
        if len(r.tables) > 1 and not own:
            continue
        table = r.case.schema.table(name)
        marks = [c.name for c in table.columns if _marks_version(c)] if table is not None else []
        if marks and not any((name.casefold(), m.casefold()) in used for m in marks):
            text = (
                f"{name} holds several versions of a thing; the query counts them all and does not look at {marks[0]}."
            )
            yield Observation("versions_counted", 1, text)


def _marks_version(column: Column) -> bool:
    words = set(name_words(column.name))
    marked = words & _CURRENT and words & {"is", "flag", "from", "to", "row", "record", "version"}
    return bool(marked) or words >= {"valid", "to"}


def _conditions(r: Reading) -> Observations:
    for node in every(r.tree, exp.Or):
        if node.find_ancestor(exp.Where) and any(isinstance(side, exp.And) for side in (node.left, node.right)):
            yield Observation("and_before_or", 1, "AND binds closer than OR, and no parentheses say otherwise.")
            break
    for select in r.selects:
        sides = {
            j.this.alias_or_name.casefold()
            for j in select.args.get("joins") or ()
            if j.side == "LEFT" and isinstance(j.this, exp.Table)
        }
        where = select.args.get("where")
        if sides and where is not None and not where.find(exp.Or):
            tested = every(where, exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between, exp.Like, exp.Not)
            bare = where.this.flatten() if isinstance(where.this, exp.And) else (where.this,)
            columns = [b.this for b in tested if not b.find_ancestor(exp.Subquery)] + [*bare]
            undone = [c.table for c in columns if isinstance(c, exp.Column) and c.table.casefold() in sides]
            if undone:
                text = f"A condition on {undone[0]} removes the rows that the outer join keeps."
                yield Observation("outer_join_undone", 1, text)
                break
        group = select.args.get("group")
        if (
            sides
            and group is not None
            and not _anti_join(select)
            and {type(c.this) for e in select.expressions for c in every(e, exp.Count)} == {exp.Star}
        ):
            yield Observation("count_of_outer_rows", 1, "COUNT(*) counts one row where the outer join finds none.")
            break


def _windows(r: Reading) -> Observations:
    windows = every(r.tree, exp.Window)
    ranks = _RANKS & {name.casefold() for name in r.case.facts.window_functions}
    if ranks and r.intent.per_group and not any(w.args.get("partition_by") for w in windows):
        text = "The question asks per group, and the window runs over all rows."
        yield Observation("window_not_partitioned", 1, text)
    if r.case.facts.limit is not None and not r.case.facts.order_by and r.intent.superlative:
        yield Observation("limit_without_order", 1, "The query keeps some rows without an order to choose them by.")


_TELLING = 3
"""Letters that a word needs to say what a column is about."""


def observe_joins(reading: Reading) -> Observations:
    facts = reading.case.facts
    if reading.case.multiplied:
        yield Observation("cartesian", 1, "Two sources are combined without a condition between them.")
    if facts.outer_joins and not reading.intent.negation:
        yield Observation("outer_join", 1)
    if off_keys := _off_keys(reading):
        yield Observation("join_off_keys", 1, f"The join of {off_keys[0]} and {off_keys[1]} follows no key.")
    if idle := only_joined(reading):
        yield Observation("table_only_joined", float(min(len(idle), 2)))
    if facts.group_by and reading.select is not None:
        yield from _groups(reading)
    if facts.joins and not facts.group_by and "count" in facts.output_aggregates and not facts.count_distinct:
        yield Observation("count_over_join", 1)


def _off_keys(r: Reading) -> tuple[str, str] | None:
    """The first pair of columns equated between two tables of one FROM that no key of either names. A subquery that
    looks for a row outside its own tables (`NOT EXISTS`) may well compare what no key ties."""
    together = [{s.name.casefold() for s in from_items(one) if isinstance(s, exp.Table)} for one in r.selects]
    for (first, left), (second, right) in r.case.facts.join_columns:
        if not any({first.casefold(), second.casefold()} <= names for names in together):
            continue
        one, two = r.case.schema.table(first), r.case.schema.table(second)
        if one is None or two is None or one is two:
            continue
        if not (one.foreign_keys or two.foreign_keys):
            continue  # neither declares what it refers to, so nothing is known against this join
        follows = _meant(one, left) & _meant(two, right)
        if not (follows or _named_after(one, left, two, right) or _named_after(two, right, one, left)):
            return f"{one.name}.{left}", f"{two.name}.{right}"
    return None


def only_joined(r: Reading) -> list[str]:
    """The names, as the query has them, of tables of which the outermost query uses join columns and nothing else, and
    that end a chain of joins."""
    if r.select is None or not r.select.args.get("joins"):
        return []
    inside = {id(c) for j in r.select.args["joins"] for c in every(j, exp.Column)}
    used = {c.table.casefold() for c in every(r.select, exp.Column) if id(c) not in inside}
    where = r.select.args.get("where")
    equalities = every(where, exp.EQ) if where is not None else ()
    if "" in used or any(isinstance(e.left, exp.Column) and isinstance(e.right, exp.Column) for e in equalities):
        return []
    joined = ({c.table.casefold() for c in every(join, exp.Column)} for join in r.select.args["joins"])
    places = Counter(name for names in joined for name in names)
    return [name for name, count in places.items() if count == 1 and name not in used]


def _meant(table: Table, column: str) -> set[tuple[str, str]]:
    """The column itself and what it refers to, as (table, column): what two columns share they hold both."""
    column = column.casefold()
    return {(table.name.casefold(), column)} | {
        (key.ref_table.casefold(), to.casefold())
        for key in table.foreign_keys
        for own, to in zip(key.columns, key.ref_columns, strict=False)
        if own.casefold() == column
    }


def _named_after(table: Table, column: str, other: Table, key: str) -> bool:
    """Whether a column that no declared key starts from is called like the primary key, or the table, that it meets."""
    if [c.casefold() for c in other.primary_key] != [key.casefold()] or len(_meant(table, column)) > 1:
        return False
    names = {w for name in (other.name, key) for w in name_words(name) if w not in ("id", "code", "key", "name", "no")}
    return any(akin(word, name) for word in name_words(column) for name in names if len(name) >= _TELLING)


def _groups(r: Reading) -> Observations:
    assert r.select is not None
    group = r.select.args.get("group")
    keys = group.expressions if group is not None else ()
    grouped = {e.name.casefold() for e in (key.unnest() for key in keys) if isinstance(e, exp.Column)}
    loose = [c for c in r.output_columns if c.casefold() not in grouped]
    keyed = any(is_key_name(c) for c in grouped)
    if loose and not keyed:
        yield Observation("ungrouped_output", 1, f"{loose[0]} is returned but is neither grouped by nor aggregated.")
    elif not loose and r.case.facts.joins and not keyed:
        yield Observation("grouped_by_value", 1)
