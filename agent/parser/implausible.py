"""Implausible queries: results that hardly anybody asks for, although every word was read.

In: a draft and its question. Out: the draft with a doubt for each: the average of dates, groups of one row each, the
order of dates stored as text in another format, a rank by one rating among many, counted payments.
"""

from __future__ import annotations

import re
from itertools import combinations, pairwise

from agent.knowledge.vocabulary import split_name
from agent.parser.interpretation import Condition, Expression, Membership, Query
from agent.parser.measures import may_be_listed, money_column
from agent.parser.persons import person_word, personal
from agent.parser.question import LinkedQuestion
from agent.parser.state import Draft
from agent.parser.stored_states import SAME_EVENT
from agent.parser.time_conditions import TIME_WORDS
from agent.parser.units import of_a_unit
from agent.parser.word_lists import word_list
from eval.language.inflection import root
from eval.language.lexicon import word_set

_ISO = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2}.*)?)?\Z|\d{8}\Z")
_SAMPLE = 20
_RATINGS = word_set("rating star score csat nps satisfaction feedback")


def doubted(draft: Draft, q: LinkedQuestion) -> None:
    """State the doubts of a draft in place."""
    query = draft.query
    text, words = " ".join(t.text for t in q.tokens), q.words
    newest_first = any(a in _BY_AGE and b == "first" for a, b in pairwise(words))  # an order of time
    asked = [after for before, after in pairwise(words) if before == "how"]
    two_amounts = "many" in asked and "much" in asked
    parts = (*query.expressions(), *query.group, *query.restrictions())
    joined = {*query.tables, *(table for part in parts for table in part.tables)}
    computed = any(e.function or e.since or e.factor for e in query.select)
    shown = [q.vocabulary.columns[e.column] for e in query.select if e.column]
    shows_number = any(c.numeric for c in shown)
    names = {word for e in query.expressions() if e.column for word in q.vocabulary.columns[e.column].words}
    ordered = [q.vocabulary.columns[e.column] for e in query.ordered_by() if e.column]
    by_time = any(c.role in ("date", "year") or "age" in c.words or c.primary for c in ordered)
    all_aggregated = bool(query.select) and all(e.function for e in query.select)
    grouped = query.group or query.within
    of_rows = {e for t in query.tables for e in q.named_by(t)}
    beside = [e for e in query.select if e not in of_rows]
    one_thing = len(beside) + bool(len(beside) < len(query.select)) < 2
    only_dates = all(
        isinstance(c, Condition) and not (c.left.column and q.vocabulary.columns[c.left.column].role != "date")
        for c in query.restrictions()
    )
    said = {t.lemma for t in q.tokens}
    kinds = (q.vocabulary.columns[e.column] for e in query.select if e.function == "count" and e.column)
    totals = (k for k, x in enumerate(q.items) if x.is_keyword("agg", "count") and x.lower == "total")
    mass = any(q.sort(k + 1) == "table" and not q.plural(k + 1) for k in totals)
    # `do smokers tip more`, `was 2015 warmer than 2014`: a comparison to be told with both figures
    compares_yes_or_no = q.words[0] in _YES_OR_NO and any(
        x.is_keyword("cmp_adj", "cmp", "sup") and (k + 1 >= len(q.items) or q.sorts[k + 1] != "number")
        for k, x in enumerate(q.items)
    )
    for name, holds in (
        ("date_averaged", _averages_dates(query, q)),
        ("versions_open", any(_keeps_versions(q, t, query) for t in joined)),
        # `how many rows are there` read as a list: a number is asked for, and none is shown
        ("number_not_shown", words[:2] in _NUMBER_OF and not (computed or shows_number)),
        ("text_compared", _compares_text(query, q)),
        # `no-show rate` read as the ratings of those who did not come: a rate is a share
        ("rate_open", {"rate", "rates"} & set(words) and "rating" in names and "rate" not in names),
        ("age_order_open", newest_first and not by_time),
        ("own_rows_counted", _counts_single_rows(query, q)),
        ("date_as_text", _orders_text_dates(query, q)),
        ("one_rating_of_many", _ranks_by_one_rating(query, q)),
        ("count_or_amount", _counts_money(query, q)),
        # `percentage of cancelled orders by city`: of all cancelled ones, or of the orders of each city?
        ("share_of_part", query.shape is not None and query.shape.kind == "share" and not only_dates),
        ("only_named_value_shown", _shows_what_was_named(query, q)),
        ("value_of_pieces", _adds_pieces_for_value(query, q)),
        ("price_of_each_row", _adds_listed_prices(query, q)),
        ("share_open", any(e.share for e in query.select) and not (query.where or query.group)),
        ("only_open", _ONLY.search(text) and not any(isinstance(part, Membership) for part in query.restrictions())),
        # `our 5 most expensive sales` read as the total of all: one row has no first five
        ("total_of_a_rank", all_aggregated and (query.limit or 1) > 1 and not grouped and query.shape is None),
        ("only_dates_shown", _shows_only_dates(query, q)),
        ("group_open", _groups_amiss(query, q)),
        ("superlative_open", _ranks_by_nothing(query, q)),
        ("route_open", _two_routes(query, q)),
        # `which batches are fermenting, and which tank are they in`, of which only the first is answered
        ("second_question_open", one_thing and query.shape is None and _AND_WHAT.match(text)),
        ("idle_table", _joins_for_nothing(query, q)),
        ("deed_of_rows", _dates_a_deed(query, q)),
        ("yes_or_no_compared", compares_yes_or_no and query.shape is None and not query.group),
        ("days_of_a_kind", _counts_days_of_a_kind(query, q)),
        ("column_of_many", _lists_column_of_many(query, q)),
        ("amount_listed", _lists_amounts(query, q)),
        ("second_amount_open", two_amounts and len(query.select) < 2),
        ("who_is_no_person", _who_is_no_person(query, q)),
        ("hour_of_a_day", any(_hour_of_a_day(q, e) for e in (*query.group, *query.select))),
        ("how_often_open", asks_how_often(q) and _counts_named_thing(query, q)),
        ("pieces_or_rows", _counts_one_row(query, q)),
        # `how many transactions in February` read as the number of different transaction types
        ("kinds_counted", any(len(c.words) > 1 and c.words[-1] in _KINDS - said for c in kinds)),
        # `total payroll`: one word for all rows is no number of them, as `total orders` is
        ("mass_counted", mass and _only_counts(query)),
        ("kinds_counted_together", "and_read_as_or" in draft.doubts and not q.named and _only_counts(query)),
    ):
        if holds:
            draft.doubt(name)


def _dates_a_deed(query: Query, q: LinkedQuestion) -> bool:
    """`travellers who travelled in 2023`: their date of registration does not say when they did."""
    named = {q.table_of(k) for k, sort in enumerate(q.sorts) if sort == "table"}
    people = {table for table in named if personal(q.vocabulary, table)}
    dates = (c.left.column for c in query.conditions() if c.left.column and not c.left.function)
    dated = [c for c in map(q.vocabulary.columns.__getitem__, dates) if c.role == "date" and c.table in people]
    said = (x.lower for k, x in enumerate(q.items) if q.sorts[k] in ("word", "table") and x.lower.endswith("ed"))
    deeds = {verb: {root(verb), *map(root, SAME_EVENT.get(verb, ()))} for verb in said if verb not in _CAME}
    return any(not same & set(map(root, c.words)) for c in dated for same in deeds.values())


_CAME = word_list("came")
"""What a date of a person's own says."""


def _counts_days_of_a_kind(query: Query, q: LinkedQuestion) -> bool:
    """`how many sick days`: the rows are counted, and not the days of each."""
    for table in query.tables:
        dates = [c for c in q.vocabulary.by_table[table] if c.role == "date"]
        rows = q.vocabulary.tables[table].table.row_count
        if len(dates) == 1 and rows is not None and q.values.facts(*dates[0].key).distinct == rows:
            return False  # each row is a day
    counts = any(e.function == "count" for e in query.select)
    return counts and any(x.lower in _SPANS and q.sorts[k] == "value" for k, x in enumerate(q.items[1:]))


_SPANS = ("days", "hours", "minutes", "weeks", "nights")


def _lists_column_of_many(query: Query, q: LinkedQuestion) -> bool:
    """`list countries`, where both customers and suppliers have one and neither is named."""
    if q.named or len(query.select) != 1 or query.where or query.group or query.order or query.having:
        return False
    shown = query.select[0]
    if shown.column is None or shown.function or shown.part:
        return False
    column = q.vocabulary.columns[shown.column]
    same = [c for c in q.vocabulary.columns.values() if c.words == column.words and not c.foreign]
    return len({c.table for c in same}) > 1


def _lists_amounts(query: Query, q: LinkedQuestion) -> bool:
    """`how much in fees is not paid`, `total amount of cancelled orders` as the amounts one by one, where no one thing
    is named: their total may be meant."""
    totals = q.begins("total") or q.begins("what", "is", "the", "total") or q.begins("what", "was", "the", "total")
    if not (totals or q.begins("how", "much")) or query.group or (query.order and not totals):
        return False
    if any(e.function or e.part or e.factor for e in query.select) or (len(query.select) != 1 and not totals):
        return False
    shown = next((e for e in query.select if e.column and q.vocabulary.columns[e.column].numeric), None)
    if shown is None:
        return False
    named = (c.left.column for c in query.conditions() if c.operator == "=")
    roles = {q.vocabulary.columns[key].role for key in named if key is not None}
    return not roles & {"name", "id"}


_ONLY = re.compile(
    r"\b(?:who|that|which)(?: have| has| had| did| do| does)? only\b(?! (?:once|the|\d))|\bonly ever\b|\w only[?.! ]*$",
    re.IGNORECASE,
)
"""`employees with billable hours only`: those without any other hours."""


def _keeps_versions(q: LinkedQuestion, table: str, query: Query) -> bool:
    """`how many silver customers`, where each customer has a row for each period (`valid_from`, `valid_to`) and the
    query does not say which: it counts versions. (Kimball and Ross, The Data Warehouse Toolkit, 2013, chapter 5.)"""
    names = {c.name.lower(): c for c in q.vocabulary.by_table[table]}
    ends = [c for name, c in names.items() if _VERSION.search(name)]
    asked = {c.left.column for c in query.conditions()}
    own = {*q.vocabulary.tables[table].words, *_NUMBERED, "id", "key", "no"}
    numbered = any(
        not (c.primary or c.foreign) and set(c.words) <= own and c.words[-1] in (*_NUMBERED, "id", "key", "no")
        for c in names.values()
    )  # by which a thing is known in all its versions
    if len(ends) < 2 or not numbered or _VERSIONS.intersection(q.words):
        return False
    current = [c for name, c in names.items() if "current" in name]
    return not any(c.key in asked for c in (*ends, *current))


_VERSION = re.compile(r"(?:valid|effective|row|version|record)_?(?:from|to|start|end|until|since|thru|through)")
_VERSIONS = word_set("version versions history historical record records row rows change changes changed")


_NUMBER_OF = (("how", "many"), ("number", "of"), ("count", "of"))


def _compares_text(query: Query, q: LinkedQuestion) -> bool:
    """`runners over 80 kg` read as a name above 80: no stored value of the column is a number."""
    for c in query.conditions():
        numbers = any(isinstance(v, int | float) and not isinstance(v, bool) for v in c.values)
        if not numbers or c.operator[:1] not in "<>b" or c.left.column is None or c.left.function or c.left.since:
            continue
        column = q.vocabulary.columns[c.left.column]
        known = [] if column.numeric or column.role in ("date", "year") else q.values.values(*column.key)
        if known and not any(map(str.isdigit, "".join(known[:_SAMPLE]))):
            return True
    return False


_BY_AGE = word_set("newest oldest latest earliest youngest recent")


def _averages_dates(query: Query, q: LinkedQuestion) -> bool:
    """`average days to pay` read as AVG(due_date), `average department` as AVG(department_id) or of its name, `average
    receipt` as AVG(receipt_no), `total kg` as SUM(price_kg)."""
    for e in query.expressions():
        if e.function in ("avg", "sum") and e.column is not None and e.since is None and not e.part:
            column = q.vocabulary.columns[e.column]
            priced = e.function == "sum" and not e.factor and of_a_unit(column.words)
            numbers = column.words[-1] in _NUMBERED and not column.numeric
            if priced or numbers or column.role in ("date", "id", "name", "text"):
                return True
    return False


_NUMBERED = ("number", "code", "reference", "phone")


def _counts_single_rows(query: Query, q: LinkedQuestion) -> bool:
    """Groups by the key of the only table: each count is 1."""
    tables = {t for e in (*query.expressions(), *query.group) for t in e.tables} | set(query.tables)
    if len(tables) != 1 or query.within or not any(e.function == "count" for e in query.expressions()):
        return False
    table = next(iter(tables))
    key = q.vocabulary.key_column(table)
    rows = q.vocabulary.tables[table].table.row_count or 0
    names = {c.key for c in q.vocabulary.name_columns(table)[:1] if len(q.values.values(*c.key)) >= rows > 1}
    return any(e.column is not None and not e.part and (e.column in names or (key and e.column == key.key))
               for e in query.group)  # fmt: skip


def _orders_text_dates(query: Query, q: LinkedQuestion) -> bool:
    """Dates that are ordered, compared or cut into parts, and are stored as text whose order is not that of time, in a
    form that is not known."""
    parted = [e for e in (*query.select, *query.group) if e.part or e.since or e.function in ("min", "max")]
    compared = [c.left for c in query.conditions() if c.operator[:1] in "<>b"]
    for e in (*query.ordered_by(), *parted, *compared):
        column = q.vocabulary.columns[e.column] if e.column is not None else None
        known = q.values.values(*column.key)[:_SAMPLE] if column is not None and column.role == "date" else ()
        if column is not None and not column.form and not all(_ISO.match(v.strip()) for v in known):
            return True
    return False


def _adds_listed_prices(query: Query, q: LinkedQuestion) -> bool:
    """`revenue per brand` as the sum of the prices of products, which nobody need have bought."""
    said = {x.mention.measure for k, x in enumerate(q.items) if q.sorts[k] == "measure" and x.mention is not None}
    added = {e for e in query.expressions() if e.function == "sum"}
    return any(may_be_listed(q, name, e) for name in said for e in added)


def _ranks_by_one_rating(query: Query, q: LinkedQuestion) -> bool:
    """`the trainer with the best rating`, who has many: by the highest single one, or by their average?"""
    shown = {t for e in query.select if not e.function for t in e.tables}
    for e in query.ordered_by() if query.limit is not None else ():
        if e.column is None or e.function or len(shown) != 1 or e.column[0] in shown:
            continue
        if _RATINGS & set(q.vocabulary.columns[e.column].words) and q.many_of(next(iter(shown)), e.column[0]):
            return True
    return False


def _counts_money(query: Query, q: LinkedQuestion) -> bool:
    """`top 10 members by payments`, `payments per quarter`, `total unpaid bills`, `total of all hires`, which have a
    column `total`: by their number, or by their amount?"""
    totals = {table for table, name in q.vocabulary.columns if name.casefold() == "total"}
    said = any(x.lower == "total" for x in q.items) and not any(x.lower in ("number", "count") for x in q.items)
    rows = [e.table for e in query.select if e.function == "count" and e.table and not e.column]
    if said and any(table in totals or money_column(q, table) is not None for table in rows):
        return True
    if q.begins("how", "many") and any(_is_of_its_rows(e, q) for e in query.select):
        return True
    if any(x.is_keyword("count", "sup_count") for x in q.items):
        return False
    counted = {e.table for e in query.select if e.function == "count" and e.table and not (e.share or e.column)}
    if query.group and any(q.vocabulary.tables[t].words[-1] in _MONEY and money_column(q, t) for t in counted):
        return True
    if query.limit is None or not any(x.lower == "by" or x.is_keyword("order") for x in q.items):
        return False
    return any(e.function == "count" and e.table and money_column(q, e.table) is not None for e in query.ordered_by())


def _is_of_its_rows(e: Expression, q: LinkedQuestion) -> bool:
    """`how many fines does Bob have` read as the sum of a column Fine, `how many calls` as that of one of two columns,
    Calls_taken and Calls_missed."""
    if e.function != "sum" or e.column is None or e.factor is not None or len(q.tokens) < 3:
        return False
    column, asked = q.vocabulary.columns[e.column], q.tokens[2]
    if column.words[0] != asked.lemma:
        return False
    alike = [c for c in q.vocabulary.by_table[column.table] if c.is_figure and c.words[0] == asked.lemma]
    one_each = column.name.casefold() == asked.lemma != asked.lower
    return one_each or (len(alike) > 1 and len(column.words) > 1)


_MONEY = word_set("payment expense donation refund contribution deposit withdrawal cost fee premium fine payout grant")
"""Rows that people name when they mean the money."""


def _only_counts(query: Query) -> bool:
    return len(query.select) == 1 and query.select[0].function == "count" and not query.group


_PIECES = word_set("quantity stock unit piece level count")


def _adds_pieces_for_value(query: Query, q: LinkedQuestion) -> bool:
    """`the total value of our stock` read as the number of pieces in it."""
    asked = any(x.lower in ("value", "worth") for x in q.items)  # as a word of its own, and not in the name of a metric
    added = [
        q.vocabulary.columns[e.column]
        for e in query.expressions()
        if e.function in ("sum", "avg") and e.column and not e.factor
    ]
    counted = _only_counts(query) and not any(x.is_keyword("count") for x in q.items)  # `total value of stock`
    return asked and (counted or any(_PIECES & set(c.words) for c in added))


_SPEEDS = word_set("best worst fastest slowest quickest record winning finishing")


def _shows_only_dates(query: Query, q: LinkedQuestion) -> bool:
    """`invoices issued in May` read as the dates of issue, `number of bookings` as the number of different days."""
    taken = {k + 1 for k, word in enumerate(q.words) if word in _SPEEDS}  # `best time` is a duration
    if any(t.lemma in TIME_WORDS and not (t.lemma == "time" and k in taken) for k, t in enumerate(q.tokens)):
        return False
    if not query.select or (query.group and query.group != query.select):
        return False
    counted = [e for e in query.select if e.function == "count"]
    shown = counted if len(counted) == len(query.select) else [e for e in query.select if not (e.function or e.part)]
    return len(shown) == len(query.select) and all(
        e.column is not None and q.vocabulary.columns[e.column].role == "date" and not e.since for e in shown
    )


_ASKED_GROUPS = word_set("by per each every for across among and which what with vs")


def _groups_amiss(query: Query, q: LinkedQuestion) -> bool:
    """Groups that nobody asked for, or that were asked for and are not there."""
    if _ASKED_GROUPS.isdisjoint(q.words):
        # `total sales in Feb 2024` of a sheet with a column for each month, read as groups by the figures of that one;
        # `total amount due in may` as groups by each day on which something is due
        bounded = {c.left.column for c in query.conditions()}
        groups = [e.column for e in query.group if e.column is not None and not e.part]
        if any(q.vocabulary.columns[key].is_figure or key in bounded for key in groups):
            return True
        # `how many tenants are in arrears` answered by a count for each value of a column: one number was asked for
        counted = q.begins("how", "many") and any(e.function == "count" for e in query.select)
        if counted and query.group and query.limit is None and query.shape is None:
            return True
    if query.group or query.order or query.within or query.shape is not None:
        return False
    # `customers by number of orders` read as one number: nothing is grouped or sorted by anything
    said = [k for k, x in enumerate(q.items[:-1]) if x.lower == "by" and q.sort(k - 1) == "table"]
    named = (k for k in said if q.sorts[k + 1] in ("table", "column") and q.sort(k + 2) not in ("value", "literal"))
    return any(named) or any(q.items[k + 1].is_keyword("count", "agg") for k in said)


_EXTREMES = word_set("highest lowest largest smallest longest shortest biggest greatest tallest deepest")
_LISTED = word_set("list show give are all each every")


def _ranks_by_nothing(query: Query, q: LinkedQuestion) -> bool:
    """`the three best carers` read as any three, `the smallest town of the largest county` as the first of one order,
    `what is the highest point of the country` as all cells of a column `highest_point`."""
    if query.limit is not None and len(query.order) > 1 and len({t for e, _ in query.order for t in e.tables}) > 1:
        return True
    rest = (query.where, query.base, query.group, query.order, query.limit, query.having)
    shown = query.select[0].column if len(query.select) == 1 and not query.select[0].function else None
    if shown is not None and not any(rest) and {*split_name(shown[1])} & _EXTREMES:
        return _LISTED.isdisjoint(q.words)
    unordered = query.limit is not None and not (query.order or query.default_order or query.within)
    return unordered and query.shape is None and any(x.is_keyword("sup", "sup_adj", "sup_count") for x in q.items)


def _two_routes(query: Query, q: LinkedQuestion) -> bool:
    """`carers of clients in York`, whom both visits and care plans link, and neither is named; or two keys of one
    table."""
    joined = {
        *query.tables,
        *(t for e in query.expressions() for t in e.tables),
        *(t for part in query.restrictions() for t in part.tables),
    }
    said = frozenset(t.lower for t in q.tokens if t.kind == "word")
    for one, other in combinations(joined, 2):
        keys = q.graph.between(one, other)
        declared = [edge for edge in keys if not edge.chance]
        if len(declared) > 1:  # `packages of Leo`, who has sent some and received others
            second, first = sorted(q.graph.spoken(edge, said)[0] for edge in declared)[-2:]
            if first == second:
                return True
        links = set(q.graph.referring(one)) & set(q.graph.referring(other))
        if not keys and len(links) > 1 and not links & joined:
            return True
    return False


_AND_WHAT = re.compile(
    r"\w.*(?: and|\?|;) (?:(?:in|on|at|for|by|from|with|also) )*"
    r"(?:which|what|how (?:many|much|long|old)|when|where|who)\b",
    re.IGNORECASE,
)


def _joins_for_nothing(query: Query, q: LinkedQuestion) -> bool:
    """`members of the club`, where a club is taken for a team: its table only drops the members without one."""
    used = [*query.expressions(), *query.group, *query.restrictions(), *(c for clause in query.base for c in clause)]
    needed = list(dict.fromkeys(t for part in used for t in part.tables))
    plan = q.graph.plan(needed, frozenset(needed)) if needed else None
    idle = set(query.tables) - {*needed, *(plan.tables if plan is not None else ())}
    guessed = (x.mention for k, x in enumerate(q.items) if q.sorts[k] == "table" and q.table_of(k) in idle)
    return any(m is not None and m.tables[0][1] < _FIRMLY for m in guessed)


_FIRMLY = 0.9
_YES_OR_NO = word_set("is are was were do does did have has can")


def _shows_what_was_named(query: Query, q: LinkedQuestion) -> bool:
    """`what did Ada do` read as the name of those called Ada: the result only repeats the question."""
    fixed = {
        c.left
        for clause in query.where
        for c in clause
        if len(clause) == 1 and isinstance(c, Condition) and c.operator == "=" and not c.against
    }
    yes_or_no = q.words[0] in _YES_OR_NO
    tables = {t for part in (*query.expressions(), *query.restrictions()) for t in part.tables}
    if q.begins("what", "did") and len(tables) == 1 and personal(q.vocabulary, *tables):
        return bool(fixed)  # `what did customer 148 buy` read as the name of that customer
    return not yes_or_no and bool(query.select) and query.intersect is None and all(e in fixed for e in query.select)


def _who_is_no_person(query: Query, q: LinkedQuestion) -> bool:
    """`who runs the north depot` read as the name of the depot: neither the column nor its table is a person's."""
    if q.words[0] not in ("who", "whom") or query.intersect is not None:
        return False
    shown = [q.vocabulary.columns[e.column] for e in query.select if e.column and not e.function and not e.part]
    if shown and len(shown) == len(query.select) and all(c.is_figure or c.foreign for c in shown):
        return True  # `who visited most often` read as a number of visits, `who is the manager of` as a number of a row
    return not any(personal(q.vocabulary, t) for e in query.select if not e.function for t in e.tables) and not any(
        person_word(w) for e in query.select if e.column for w in q.vocabulary.columns[e.column].words
    )


_CLOCK = re.compile(r"\d\d?:\d\d|T\d\d")


def _hour_of_a_day(q: LinkedQuestion, e: Expression) -> bool:
    """`per hour` of dates that are stored without a clock time."""
    if e.part != "hour" or e.column is None:
        return False
    known = q.values.values(*e.column)[:_SAMPLE]
    if not known:
        return q.vocabulary.columns[e.column].column.type.upper() == "DATE"
    return not any(_CLOCK.search(v) for v in known)


def asks_how_often(q: LinkedQuestion) -> bool:
    """`how often`, `how many times`: events are counted, not the things that they happen to."""
    return q.begins("how", "often") or q.begins("how", "many", "times")


_KINDS = word_set("type kind category class group")
_HELD = (("hand",), ("stock",), ("qty",), ("quantity",), ("piece",), ("unit",))


def _counts_one_row(query: Query, q: LinkedQuestion) -> bool:
    """`how many wing nuts do we have`, where a wing nut is one row with a number of pieces."""
    counted = [e.table for e in query.select if e.function == "count" and not e.column]
    if len(counted) != 1 or query.group or counted[0] is None:
        return False
    rows = q.vocabulary.tables[counted[0]].table.row_count or 0
    held = any(c.numeric and c.words in _HELD for c in q.vocabulary.by_table[counted[0]])
    named = (c.left.column for c in query.conditions() if c.operator == "=" and not c.left.function)
    return held and any(key and key[0] == counted[0] and len(q.values.values(*key)) == rows > 1 for key in named)


def _counts_named_thing(query: Query, q: LinkedQuestion) -> bool:
    """Whether the rows counted are those of a table of which the question names one row."""
    counted = [e.table for e in query.select if e.function == "count"]
    named = {
        c.left.column[0]
        for c in query.conditions()
        if c.operator == "=" and c.left.column and not c.left.function
        and (c.left.column in {n.key for n in q.vocabulary.name_columns(c.left.column[0])}
             or q.vocabulary.columns[c.left.column].role in ("id", "name"))
    }  # fmt: skip
    return bool(set(counted) & named)
