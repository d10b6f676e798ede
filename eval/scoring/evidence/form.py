"""Form: what the question asks for against the SQL that would say it.

`observe`: counts, totals, extremes, groups, order, sets and comparisons. `observe_logic`: conditions that undo each
other, and what is returned beside a total or is given already. `observe_projection`: the columns returned against those
that the question lists.
"""

from __future__ import annotations

import re

from sqlglot import exp

from eval.language.inflection import light_stem
from eval.language.words import akin, name_words
from eval.scoring.evidence.linking import compares_ages
from eval.scoring.evidence.question_reading import Observation, Observations, Reading, is_key_name
from eval.scoring.evidence.ranking import ranks_from_wrong_end
from eval.scoring.intent import read_intent, superlatives
from eval.sql.traversal import every

_FILLED = re.compile(r"\b(?:coalesce|ifnull|nvl|total)\s*\(", re.IGNORECASE)
"""A function that puts a value in the place of NULL."""
_COUNTED = re.compile(
    r"\b(?:how many|number of)\s+(?:different\s+|distinct\s+|total\s+)?([^\W\d_]+)(?:\s+([^\W\d_]+))?"
)

_SAID_ALSO = {"average": ("average", "mean"), "total": ("total", "sum")}
_CALLS: dict[str, type[exp.Expr]] = {"avg": exp.Avg, "sum": exp.Sum, "max": exp.Max, "min": exp.Min}
_TIMES_AS = re.compile(r"\bhow many times (?:is|are|was|were|as|more|less|larger|higher|greater|bigger)\b")
"""Asks for a ratio."""
_TAUGHT_COUNT = re.compile(r"\b(?:how many|(?:numbers?|no\.?|count) of)\b")
"""`number of cards refers to baseSetSize`: what is asked for is stored."""


def observe(reading: Reading) -> Observations:
    yield from _counting(reading)
    yield from _totals(reading)
    yield from _ranking(reading)
    yield from _grouping(reading)
    yield from _order(reading)
    yield from _sets(reading)
    yield from _comparisons(reading)


def _counting(r: Reading) -> Observations:
    intent, facts = r.intent, r.case.facts
    counts = "count" in facts.aggregates
    if not intent.count_only or counts or "sum" in facts.aggregates:
        return
    stored = any(_counts_already(c) for c in r.output_columns) or _stored_number(r)
    averaged = intent.average and "avg" in facts.output_aggregates
    taught = _TAUGHT_COUNT.search(r.case.taught)
    if not (stored or averaged or taught or _recursive(r) or _calculated(r) or _TIMES_AS.search(r.question)):
        yield Observation("count_missing", 1, "The question asks how many, but the query does not count.")


def _recursive(r: Reading) -> bool:
    """`How many levels deep is it?`: a recursion counts its own steps."""
    return any(node.args.get("recursive") for node in every(r.tree, exp.With))


def _calculated(r: Reading) -> bool:
    """`How many days did each stay last?`, `how many inhabitants per doctor?`: the query computes the number."""
    shown = r.select.expressions if r.select is not None else ()
    return any(every(e, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.DateDiff, exp.TsOrDsDiff) for e in shown)


_COUNT_NAME = re.compile(r"num|(?<!ac)(?<!dis)count(?!r|y|ies)|total|amount|quantity|population|qty")
"""No `country`, `county`, `account` or `discount` counts anything."""


def _counts_already(column: str) -> bool:
    return _COUNT_NAME.search(column.lower()) is not None


def _by_other_means(r: Reading, function: str) -> bool:
    """A total that is counted or added up column by column, an average that is divided, any of them over a window."""
    if every(r.tree, _CALLS[function]):
        return True
    if function == "sum":
        if len(r.rows) == 1 and any(r.holds_numbers(table, name) for table, name in r.output_places):
            return True  # one number is its own total
        # `How much does the youngest dog weigh?` is about one thing: nothing is to be added up
        much = r.intent.superlative and "how much" in r.question and not re.search(r"\b(?:total|sum)\b", r.question)
        return "count" in r.case.facts.aggregates or much or bool(every(r.tree, exp.Add, exp.Sub, exp.Mul))
    return function == "avg" and bool(every(r.tree, exp.Div))


def _stored_number(r: Reading) -> bool:
    """`How many credits does it have?`: the query returns a column of numbers that the counted words name."""
    counted = _COUNTED.search(r.question)
    words = {light_stem(word) for word in counted.groups() if word} if counted else set()
    return any(words & set(name_words(name)) and r.holds_numbers(table, name) for table, name in r.output_places)


def _totals(r: Reading) -> Observations:
    intent, facts = r.intent, r.case.facts
    used = set(facts.aggregates)
    wanted = (
        ("avg", intent.average, "average"),
        ("sum", intent.total and not intent.count, "total"),
        ("max", intent.maximum, "maximum"),
        ("min", intent.minimum, "minimum"),
    )
    for function, asked, word in wanted:
        ranked = function in ("max", "min") and r.superlative_form is not None
        begins = (word[:3], function)
        named = {*r.output_columns, *(c for _, c in r.case.references.columns if c.lower().startswith(begins))}
        counted = function == "sum" and any(_counts_already(c) for c in r.output_columns)
        stored = (
            counted
            or any(begin in c.lower() for c in named for begin in begins)
            or any(
                akin(part, light_stem(said))
                for _, name in r.case.references.columns
                for part in name_words(name)
                for said in _SAID_ALSO.get(word, (word,))
            )
        )
        stored = stored or word in r.case.taught
        if asked and not (function in used or ranked or stored or _by_other_means(r, function)):
            text = f"The question speaks of the {word}, which the query does not compute."
            yield Observation("aggregate_missing", 1, text)


def _ranking(r: Reading) -> Observations:
    intent, facts = r.intent, r.case.facts
    form = r.superlative_form
    a_place = any(c.value == "1" and c.operator == "=" for c in r.constants)  # `the top ranked`: a stored rank is one
    extreme = intent.superlative and not (intent.maximum or intent.minimum or (facts.order_by and not intent.singular))
    if extreme and form is None and not (_names_a_column(r) or a_place):
        text = "The question asks for an extreme, but the query ranks nothing."
        yield Observation("superlative_missing", 1, text)
    if ranks_from_wrong_end(r):
        yield Observation("rank_direction_wrong", 1, "The query ranks from the wrong end.")
    if facts.limit is not None:
        if intent.top is not None and intent.top > 1 and facts.limit != intent.top:
            text = f"The question asks for {intent.top}, the query keeps {facts.limit}."
            yield Observation("limit_differs", 1, text)
    elif intent.top is not None and intent.top > 1 and form != "window":
        yield Observation("limit_missing", 1, f"The question asks for {intent.top}, but nothing limits the rows.")


def _names_a_column(r: Reading) -> bool:
    """`The top speed`, `the last edit`: each word for an extreme is part of a column's name."""
    said = {w.casefold() for w in superlatives(r.case.question)}
    return bool(said) and said <= {w.casefold() for _, c in r.case.references.columns for w in _PARTS.findall(c)}


_PARTS = re.compile(r"[A-Z]?[a-z]+")


def _grouping(r: Reading) -> Observations:
    intent, facts = r.intent, r.case.facts
    grouped = bool(facts.group_by) or bool(facts.window_functions)
    told_apart = grouped or not (facts.aggregates or facts.limit) or _group_by_group(r) or r.side_by_side
    if intent.per_group and not told_apart and (intent.aggregate or intent.superlative):
        text = "The question asks for something per group, but the query does not group."
        yield Observation("group_missing", 1, text)


def _group_by_group(r: Reading) -> bool:
    """Whether a query tells groups apart in some part of it: a subquery that groups or looks at an outer row, a
    recursion, an average that divides by the number of groups."""
    if every(r.tree, exp.Group) or _recursive(r):
        return True
    return (r.intent.average and bool(every(r.tree, exp.Div))) or any(_looks_outside(s) for s in r.selects[1:])


def _looks_outside(select: exp.Select) -> bool:
    own = {t.alias_or_name.casefold() for t in every(select, exp.Table)}
    return any(c.table and c.table.casefold() not in own for c in every(select, exp.Column))


_DOWNWARDS = frozenset(
    {"longest", "largest", "highest", "most", "greatest", "biggest", "latest", "newest", "strongest"}
)
_FIRST = re.compile(
    r"(?<!equal ones )\b(longest|largest|highest|most|greatest|biggest|latest|newest|strongest|smallest|lowest|least"
    r"|fewest|earliest|shortest|cheapest)(?: [^\W\d_]+){0,2} (?:comes )?first\b"
)


def _order(r: Reading) -> Observations:
    intent, facts = r.intent, r.case.facts
    found = _FIRST.search(r.question)
    falling = None if found is None else found[1] in _DOWNWARDS
    in_steps = bool(r.tree.args.get("with_") or facts.window_functions)  # the order meant may be that of a window
    if falling is not None and facts.order_by and not in_steps and (facts.order_by[0][1] == "desc") != falling:
        yield Observation("order_reversed", 1, "The rows are ordered in the other direction.")
        return
    if intent.order and not facts.order_by:
        ranks_in_windows = any(w.args.get("order") for w in every(r.tree, exp.Window))
        if ranks_in_windows or _orders_things(r):
            return
        yield Observation("order_missing", 1, "The question asks for an order, but the query gives none.")
    elif intent.order and intent.descending not in (None, facts.order_by[0][1] == "desc"):
        yield Observation("order_direction_wrong", 1, "The rows are ordered in the other direction.")


def _orders_things(r: Reading) -> bool:
    """`Books ordered by Ann`: a table of the query holds orders, and no other word asks for one."""
    return any("order" in name_words(t) for t in r.tables) and not read_intent(_PLACED.sub(" ", r.question)).order


_PLACED = re.compile(r"\bordered (?:by|from)\b")
_ZERO = frozenset({"0", "no", "n", "none", "false", "f"})


def _says_not(r: Reading) -> bool:
    """Whether anything in the query may say `not`: a subtraction, a test for NULL, a zero, a value that the question
    does not say, which may be a code."""
    if every(r.tree, exp.Is, exp.Sub, exp.Boolean) or _FILLED.search(r.case.parsed.text):
        return True
    return any(
        c.value.casefold() in _ZERO or c.value.strip("% ").casefold() not in r.question
        for c in r.constants
        if c.operator is not None
    )


def _sets(r: Reading) -> Observations:
    intent, facts = r.intent, r.case.facts
    if intent.distinct and not (facts.distinct or facts.count_distinct or facts.group_by or facts.set_operations):
        yield Observation("distinct_missing", 1, "The question asks for different ones; repeats would be returned.")
    excludes = "except" in facts.set_operations or facts.negations > 0
    if intent.excludes and not excludes and not facts.outer_joins and not _says_not(r):
        yield Observation("negation_missing", 1, "The question excludes something; nothing in the query does.")


def _comparisons(r: Reading) -> Observations:
    intent, tree = r.intent, r.tree
    greater, smaller = bool(every(tree, exp.GT, exp.GTE)), bool(every(tree, exp.LT, exp.LTE))
    between = bool(every(tree, exp.Between))
    compares = greater or smaller or between or r.case.facts.limit is not None
    if (intent.greater or intent.smaller) and not (compares or intent.superlative or r.asks_some):
        yield Observation("comparison_missing", 1, "The question compares amounts; the query has no such comparison.")
    elif (
        (greater, smaller) == (intent.smaller, intent.greater)
        and greater != smaller
        and not (intent.negation or between or compares_ages(r))
    ):
        yield Observation("comparison_direction", 1, "The query compares in the other direction.")


_THAN_ANY = re.compile(r"\bthan (?:that of )?any\b")


def observe_logic(reading: Reading) -> Observations:
    if any(n.find(exp.NEQ) for n in every(reading.tree, exp.Not) if isinstance(n.this, exp.In)):
        text = "The query excludes those that are excluded: two negations undo each other."
        yield Observation("double_negation", 1, text)
    if _other_extreme(reading.tree):
        yield Observation("extreme_of_other_column", 1, "A column is compared with the extreme of a different column.")
    bare = next((c for s in reading.selects if (c := _beside_a_total(s)) is not None), None)
    of_one = any(c.is_string and c.operator == "=" for c in reading.constants)
    if bare is not None and not of_one:
        text = f"{bare} is returned or ranked beside a total of all rows; it is of any one of them."
        yield Observation("bare_beside_total", 1, text)
    if _only_what_is_given(reading):
        yield Observation("given_returned", 1, "The query returns the very value that it looks for, and nothing else.")
    if _THAN_ANY.search(reading.question):
        yield Observation("than_any", 1)


def _beside_a_total(select: exp.Select) -> str | None:
    """A column beside a count, sum or average without groups, or rows ranked by one: SQLite then takes any row's."""
    if select.args.get("group") is not None:
        return None
    shown = [e.unalias() for e in select.expressions]
    plain = [e.name for e in shown if isinstance(e, exp.Column) and not isinstance(e.this, exp.Star)]
    order = select.args.get("order")
    places = [*shown, *(order.expressions if order is not None else ())]
    totals = [c for e in places for c in every(e, exp.Count, exp.Sum, exp.Avg) if c.find_ancestor(exp.Select) is select]
    if not plain or not any(c.find_ancestor(exp.Window) is None for c in totals):
        return None
    return plain[0]


def _only_what_is_given(r: Reading) -> bool:
    if r.select is None or len(r.selects) > 1:
        return False
    where = r.select.args.get("where")
    if where is None or where.find(exp.Or) or len(r.output) != len(r.output_places):
        return False
    read = [t.name.casefold() for t in every(r.select, exp.Table)]
    if len(set(read)) < len(read):
        return False
    given = {(c.table, c.column) for c in r.constants if c.operator == "=" and c.table and c.column}
    return bool(r.output_places) and r.output_places <= given


def _other_extreme(tree: exp.Expr) -> bool:
    for equality in every(tree, exp.EQ):
        query = equality.right.find(exp.Select) if isinstance(equality.right, exp.Subquery) else None
        if query is None or not isinstance(equality.left, exp.Column) or len(query.expressions) != 1:
            continue
        inner = query.expressions[0].unalias()
        if isinstance(inner, exp.Max | exp.Min) and isinstance(inner.this, exp.Column):
            return inner.this.name.casefold() != equality.left.name.casefold()
    return False


_EVERYTHING = re.compile(r" all |everything|details|information|record|\*|about")


def observe_projection(reading: Reading) -> Observations:
    if reading.case.facts.projects_star:
        if not _EVERYTHING.search(reading.question):
            yield Observation("star_unasked", 1, "The query returns every column; the question asks for certain ones.")
        return
    keys = [c for c in reading.output_columns if is_key_name(c)]
    if keys and not reading.intent.asks_id:
        text = f"The query returns {keys[0]}, though the question asks for no identifier."
        yield Observation("key_returned", 1, text)
    yield from _listed(reading)


def listing(r: Reading) -> str:
    """The question up to its first condition: the part that lists what is wanted."""
    end = _LISTED_BEFORE.search(r.question, 12)
    return r.question[: end.start()] if end is not None else r.question


_LISTED_BEFORE = re.compile(r" (?:of|for|where|who|that|which|with|whose|from|in|ordered|by) ")


def _listed(r: Reading) -> Observations:
    """The number of things that the question lists against the columns returned."""
    head = listing(r)
    wanted = 1 + head.count(",") + (1 if " and " in head and ", and " not in head else 0)
    if wanted >= 2 and r.output and len(r.output) != wanted:
        name = "columns_fewer_than_listed" if len(r.output) < wanted else "columns_more_than_listed"
        yield Observation(name, 1, f"The question lists {wanted} things, the query returns {len(r.output)}.")
