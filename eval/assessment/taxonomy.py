"""Classify a wrong answer by the error taxonomy: compare its tree, facts and references with gold's.

In: both queries as parsed, checked, resolved and run. Out: `Mistake` values, the most serious first, each with one line
of reason. They are differences from gold, not proofs. A right query may use other tables, but these answers are known
to be wrong, and where they differ from gold is the best guess at the cause.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from sqlglot import exp

from eval.assessment.records import Category, Mistake
from eval.databases import ExecutionResult
from eval.schema import Schema
from eval.sql import Constant, ParsedQuery, QueryFacts, References, Verdict, facts, resolve

_MAX = 6
"""Mistakes reported for one answer."""
_BY_MESSAGE: dict[str, Category] = {
    r"out of memory|MemoryError": "incorrect_planning",
    r"aggregate|group by": "incorrect_data_calculation",
    r"function|argument": "incorrect_dialect_function_usage",
    r"\bcolumn|referenced column": "wrong_column",
    r"\b(?:table|relation)\b": "wrong_table",
}
"""What a database's message speaks of; the first that fits counts."""


def mistakes(
    parsed: ParsedQuery,
    verdict: Verdict,
    references: References,
    result: ExecutionResult,
    gold: ParsedQuery,
    wanted: ExecutionResult,
    schema: Schema,
) -> tuple[Mistake, ...]:
    """The mistakes of an answer whose result differs from gold's; never empty."""
    if parsed.tree is None:
        return (Mistake("syntax", f"It does not parse: {_line(parsed.error)}."),)
    if verdict.statement is None:
        function = references.named("function") or "not on the list" in (verdict.reason or "")
        category: Category = "incorrect_dialect_function_usage" if function else "incorrect_planning"
        return (Mistake(category, f"It may not run: {_line(verdict.reason)}."),)
    if not result.ok:
        return tuple(_not_run(parsed, references, result, schema))
    gold_references = resolve(gold, schema)
    mine, theirs = facts(parsed, schema), facts(gold, schema)
    # Schema first, then joins, calculation, conditions, and the overall form
    differences = [
        *_tables(set(references.tables), set(gold_references.tables)),
        *_joins(mine, theirs),
        *_columns(references, gold_references),
        *_calculation(parsed, gold, mine, theirs),
        *_conditions(mine, theirs),
        *_plan(mine, theirs),
        *_form(mine, theirs),
    ]
    if len(result.columns) != len(wanted.columns):
        text = f"It returns {len(result.columns)} columns, gold {len(wanted.columns)}."
        differences.append(Mistake("erroneous_data_analysis", text))
    if not differences:
        differences = [Mistake("erroneous_data_analysis", "It has gold's parts, put together in another way.")]
    return tuple(differences[:_MAX])


def _not_run(parsed: ParsedQuery, references: References, result: ExecutionResult, schema: Schema) -> Iterator[Mistake]:
    message = _line(result.error)
    if result.status != "error":
        if facts(parsed, schema).cartesian:
            yield Mistake("join", f"Two sources are joined without a condition, and it did not end: {message}.")
        else:
            yield Mistake("incorrect_planning", f"It did not end: {message}.")
        return
    kinds: dict[str, Category] = {
        "table": "wrong_table",
        "column": "wrong_column",
        "ambiguous": "wrong_column",
        "function": "incorrect_dialect_function_usage",
    }
    for phantom in references.phantoms[:_MAX]:
        what = "an ambiguous name" if phantom.kind == "ambiguous" else f"no {phantom.kind} of this database"
        yield Mistake(kinds[phantom.kind], f"{phantom.name} is {what}.")
    if references.phantoms:
        return
    for pattern, category in _BY_MESSAGE.items():
        if re.search(pattern, message, re.IGNORECASE):
            yield Mistake(category, f"The database says: {message}.")
            return
    yield Mistake("syntax", f"The database says: {message}.")


def _tables(used: set[str], wanted: set[str]) -> Iterator[Mistake]:
    missing, extra = sorted(wanted - used), sorted(used - wanted)
    if not used:
        yield Mistake("wrong_schema_linking", "It reads no table.")
    elif missing and not used & wanted:
        yield Mistake("wrong_schema_linking", f"It reads {_and(extra)}; gold reads {_and(sorted(wanted))}.")
    elif missing and extra:
        yield Mistake("wrong_table", f"It reads {_and(extra)} where gold reads {_and(missing)}.")
    elif missing:
        yield Mistake("join", f"It leaves {_and(missing)} out.")
    elif extra:
        yield Mistake("join", f"It brings in {_and(extra)}, which gold does not need.")


def _joins(mine: QueryFacts, theirs: QueryFacts) -> Iterator[Mistake]:
    if mine.cartesian and not theirs.cartesian:
        yield Mistake("join", f"{_and(mine.unlinked) or 'A source'} is joined without a condition.")
    if bool(mine.outer_joins) != bool(theirs.outer_joins) and mine.joins and theirs.joins:
        kind = "keeps rows without a match" if theirs.outer_joins else "drops rows without a match"
        yield Mistake("join", f"Gold {kind}; it does the opposite.")
    pairs, wanted = ({frozenset(p) for p in f.join_columns} for f in (mine, theirs))
    if pairs and wanted and pairs != wanted and not wanted <= pairs:
        lacking = sorted(" = ".join(sorted(_dotted(pair))) for pair in wanted - pairs)
        yield Mistake("join", f"It does not join on {_and(lacking)}.")


def _columns(references: References, gold: References) -> Iterator[Mistake]:
    tables = set(references.tables) & set(gold.tables)
    used = {c for c in references.columns if c[0] in tables}
    wanted = {c for c in gold.columns if c[0] in tables}
    missing, extra = sorted(wanted - used), sorted(used - wanted)
    if missing and extra:
        yield Mistake("wrong_column", f"It uses {_and(_dotted(extra))} where gold uses {_and(_dotted(missing))}.")


def _calculation(parsed: ParsedQuery, gold: ParsedQuery, mine: QueryFacts, theirs: QueryFacts) -> Iterator[Mistake]:
    if Counter(mine.aggregates) != Counter(theirs.aggregates):
        text = f"It computes {_and(sorted(mine.aggregates)) or 'no figure'}"
        text += f"; gold computes {_or_none(sorted(theirs.aggregates))}."
        yield Mistake("incorrect_data_calculation", text)
    elif mine.count_distinct != theirs.count_distinct:
        verb = "counts distinct values" if theirs.count_distinct else "counts every row"
        yield Mistake("incorrect_data_calculation", f"Gold {verb}; it does not.")
    elif (used := _arithmetic(parsed)) != (wanted := _arithmetic(gold)):
        more, less = sorted((used - wanted).elements()), sorted((wanted - used).elements())
        text = f"lacks {_and(less)}" if less else f"also computes {_and(more)}"
        yield Mistake("incorrect_data_calculation", f"The arithmetic differs: it {text}.")


def _arithmetic(parsed: ParsedQuery) -> Counter[str]:
    kinds: dict[type[exp.Expr], str] = {
        exp.Add: "+",
        exp.Sub: "-",
        exp.Mul: "*",
        exp.Div: "/",
        exp.Mod: "%",
        exp.Round: "ROUND",
        exp.Cast: "CAST",
        exp.Abs: "ABS",
    }
    tree = parsed.tree
    return Counter(kinds[type(node)] for node in tree.walk() if type(node) in kinds) if tree else Counter()


def _conditions(mine: QueryFacts, theirs: QueryFacts) -> Iterator[Mistake]:
    used, wanted = (Counter(_condition(c) for c in of.literals if c.operator) for of in (mine, theirs))
    missing, extra = sorted((wanted - used).elements()), sorted((used - wanted).elements())
    if missing and extra:
        yield Mistake("condition_filter", f"It asks for {_and(extra)} where gold asks for {_and(missing)}.")
    elif missing:
        yield Mistake("condition_filter", f"It does not ask for {_and(missing)}.")
    elif extra:
        yield Mistake("condition_filter", f"It also asks for {_and(extra)}.")
    elif mine.negations != theirs.negations:
        yield Mistake("condition_filter", f"It negates {mine.negations} times, gold {theirs.negations} times.")
    elif mine.having != theirs.having:
        yield Mistake("condition_filter", f"Gold has {'a' if theirs.having else 'no'} condition on groups.")


def _condition(constant: Constant) -> str:
    column = f"{constant.table}.{constant.column}" if constant.table else constant.column or ""
    value = f"'{constant.value}'" if constant.is_string else constant.value
    return " ".join(part for part in (column, constant.operator or "", value[:60]) if part)


def _plan(mine: QueryFacts, theirs: QueryFacts) -> Iterator[Mistake]:
    """Differences in how the query is split into steps."""
    for what, used, wanted in (
        ("set operations", sorted(mine.set_operations), sorted(theirs.set_operations)),
        ("window functions", sorted(mine.window_functions), sorted(theirs.window_functions)),
    ):
        if used != wanted:
            yield Mistake("incorrect_planning", f"Its {what} are {_or_none(used)}, gold's are {_or_none(wanted)}.")
    if bool(mine.subqueries) != bool(theirs.subqueries):
        has = "Gold needs a subquery; it has none." if theirs.subqueries else "It has a subquery that gold is without."
        yield Mistake("incorrect_planning", has)


def _form(mine: QueryFacts, theirs: QueryFacts) -> Iterator[Mistake]:
    """Differences in the form of the result: groups, order, number of rows and columns."""
    if len(mine.group_by) != len(theirs.group_by):
        text = f"It groups by {_and(mine.group_by) or 'nothing'}, gold by {_and(theirs.group_by) or 'nothing'}."
        yield Mistake("erroneous_data_analysis", text)
    if (mine.limit, mine.offset) != (theirs.limit, theirs.offset):
        yield Mistake("erroneous_data_analysis", f"It returns {_rows(mine)}, gold {_rows(theirs)}.")
    directions, wanted = [d for _, d in mine.order_by], [d for _, d in theirs.order_by]
    if wanted and directions != wanted:
        yield Mistake("erroneous_data_analysis", f"It orders {_or_none(directions)}, gold {_or_none(wanted)}.")
    if mine.distinct != theirs.distinct:
        yield Mistake("erroneous_data_analysis", f"Gold {'removes' if theirs.distinct else 'keeps'} repeated rows.")


def _rows(of: QueryFacts) -> str:
    if of.limit is None:
        return "all rows"
    return f"{of.limit} rows" + (f" after {of.offset}" if of.offset else "")


def _and(names: Iterable[str]) -> str:
    listed = [str(name)[:80] for name in names]
    return ", ".join(listed[:4]) + (f" and {len(listed) - 4} more" if len(listed) > 4 else "")


def _or_none(names: Iterable[str]) -> str:
    return _and(names) or "none"


def _dotted(columns: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{table}.{column}" for table, column in columns]


def _line(text: str | None) -> str:
    """The first line, without its full stop."""
    return ((text or "no reason given").strip().splitlines() or ["no reason given"])[0][:300].rstrip(".")
