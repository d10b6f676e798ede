"""Measures: the column that an adjective (`older`) or a business word (`revenue`) refers to.

In: the word lists and the schema. Out: a column, or a price and a quantity to multiply, less the discount of its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.disambiguation import PAID, owner_after
from agent.parser.interpretation import Condition, Expression, Query
from agent.parser.question import LinkedQuestion
from agent.parser.schema_linking import QUALIFYING
from agent.parser.state import Context, Draft
from agent.parser.units import MINOR, UNITS, of_a_unit
from agent.parser.word_lists import word_list
from eval.language.lexicon import Adjective, Measure, measures, word_set

_AMOUNTS = (("total", "amount"), ("grand", "total"), ("amount",), ("total",), ("price",), ("value",), ("cost",),
            ("salary",), ("revenue",))  # fmt: skip
MONEY_ROWS = word_list("money_rows")
"""Tables whose rows are sums of money, so that `average payments` may be amounts."""
AVERAGED = word_list("averaged")
"""Words of columns whose numbers are not added up."""


def averaged(q: LinkedQuestion, column: ColumnWord) -> bool:
    """Whether figures of a column are averaged rather than added up; where it is named by its unit alone (`kg per
    species`), the question asks for an amount."""
    unit = column.unit or column.words[-1]
    said = {word for token in q.tokens for word in (token.lower, token.lemma)}
    amount = unit in UNITS and unit in said and not said & (set(column.words) - {unit})
    return bool(AVERAGED & set(column.words)) and not amount


def money_column(q: LinkedQuestion, table: str) -> ColumnWord | None:
    """The amount that `total payments` adds up: a figure called as its table is (a file `sales.csv` with a column
    Sales), or one of a table whose rows are sums of money."""
    named = q.vocabulary.tables[table].words
    for column in q.vocabulary.by_table[table]:
        if column.role == "number" and column.words == named:
            return column
    if not set(q.vocabulary.tables[table].words) & MONEY_ROWS:
        return None
    numeric = [c for c in q.vocabulary.by_table[table] if c.role == "number"]
    named_as = {c.key: c.words[:-1] if MINOR.intersection(c.words[-1:]) else c.words for c in numeric}  # `amount_cents`
    called = ([c for c in numeric if named_as[c.key][-len(w) :] == w] for w in _AMOUNTS)
    return min(next(filter(None, called), []), key=lambda c: len(c.words), default=None)


_OF_BIRTH = word_set("birth born death died")
"""Dates that give a person's age, not the age of the row."""
_OWN_SIZE = ("large", "big", "small")
"""Size is a property of the thing itself: the largest store is not the one with the largest order."""


def property_of(q: LinkedQuestion, c: Context, adjective: Adjective, i: int) -> tuple[ColumnWord, int] | None:
    """The column that a gradable adjective refers to, and +1 if it grows with the adjective, else -1."""
    near = c.near_tables(i)
    described = owner_after(q, i)  # `the oldest 5 orders and their customers`
    anchors = [described] if described else list(dict.fromkeys([*c.entities, *q.named, *near]))
    best: tuple[float, ColumnWord, int] | None = None
    said = {t.lemma for t in q.tokens}
    for table, columns in q.vocabulary.by_table.items():
        if anchors:
            gap = min(q.graph.distance(table, a) for a in anchors)
            if gap > (0 if adjective.base in _OWN_SIZE else 2):
                continue
        else:
            gap = 0.0
        for column in columns:
            if column.foreign or column.role in ("name", "flag"):
                continue
            for rank, (words, sign) in enumerate(adjective.properties):
                # a birth date is no other date, nor the age of another table's rows; a point in time is no duration
                born = _OF_BIRTH & set(column.words) and (gap or not _OF_BIRTH & set(words))
                if born or (adjective.base in _LASTING and column.role in ("date", "year")):
                    continue
                exact = column.words == words
                ends = column.words[len(words) :] if column.words[: len(words)] == words else ()
                if (
                    exact
                    or (words == ("date",) and column.role == "date")
                    or (column.words[: len(words)] == words and (column.words[-1] in UNITS or {*ends[:1]} & QUALIFYING))
                    or column.words[-len(words) :] == words
                    or (column.words[-1] in UNITS and column.words[-len(words) - 1 : -1] == words)
                    or (column.words == (*words, "minimum") and adjective.base in _LASTING)  # `duration_min`
                    or (len(words) > 1 and set(words) <= set(column.words))
                    or set(column.words) - set(column.owner) == set(words)
                    or (ends and set(ends) <= _EXTREMES | _AGREED)
                ):
                    known = q.values.values(*column.key) if column.role == "text" else ()
                    if not all(text[:1].isdigit() for text in known):  # `calm` and `strong` have no order
                        break
                    score = (1.0 if exact else 0.75) - 0.05 * rank - 0.45 * gap + near.get(table, 0.0)
                    score += 0.1 * bool((set(column.words) - set(words)) & said)
                    score -= 0.1 * bool(set(ends) & (LOWEST if sign > 0 else HIGHEST))
                    if not column.numeric and column.role not in ("date", "year"):
                        score -= 0.25
                    score -= 0.02 * bool(PAID & set(column.words))
                    score += 0.2 * (column.key == q.vocabulary.tables[table].table.meant_date)
                    if best is None or score > best[0]:
                        best = (score, column, sign)
                    break
    return (best[1], best[2]) if best else None


LOWEST, HIGHEST = word_set("minimum min low lowest"), word_set("maximum max high highest")
_AGREED = word_set("paid pay charged charge asked ask agreed agree")
"""Words behind a price that say whose it is (`price_paid`)."""
_EXTREMES = LOWEST | HIGHEST | word_set("average mean avg")
"""Words behind a property that say which of its figures a column holds (`temp_max`)."""


_LASTING = ("long", "short", "fast", "slow")
_INCOME = word_set("revenue sale turnover income earnings")
_NO_INCOME = word_set("refund deposit expense cost salary payroll return withdrawal transfer loan budget bill tax")
"""Words of tables whose amounts are no revenue."""
_SALES = word_set("sale order invoice transaction purchase line item booking detail")
_ON_HAND = word_set("stock inventory reorder minimum maximum opening closing available hand received")
"""Words for quantities other than quantities sold."""


def measure(q: LinkedQuestion, entities: Sequence[str], name: str) -> Expression | None:
    """The columns that hold a business measure: one column, or a price and a quantity of one table."""
    known = measures().get(name)
    if known is None:
        return None
    # `revenue of Green Tea` is that of a product
    stored = [x.mention.stored_in for i, x in enumerate(q.items) if q.sorts[i] == "value" and x.mention is not None]
    anchors = [*entities, *q.named] or [table for of in stored if len(of) == 1 for table, _ in of]
    sold = {"sold", "sell", "selling"} & set(name.split())
    best: tuple[float, Expression] | None = None

    for table in q.vocabulary.by_table:
        words = set(q.vocabulary.tables[table].words)
        for score, expression in _amounts(q, table, known, sold=bool(sold)):
            if anchors:
                gap = min(q.graph.distance(table, a) for a in anchors)
                if gap == float("inf"):
                    continue
                score -= 0.25 * gap
            if set(name.split()) & words:
                score += 0.4
            if sold and not _SALES & words:
                score -= 0.6
            if q.vocabulary.tables[table].table.kind == "view":
                score -= 0.3
            score -= 0.5 * (name in _INCOME and bool(_NO_INCOME & words))
            if best is None or score > best[0]:
                best = (score, expression)
    return best[1] if best else None


def _amounts(q: LinkedQuestion, table: str, known: Measure, *, sold: bool) -> Iterator[tuple[float, Expression]]:
    """What one table has that may be the measure, each with a score: a column, a price and a quantity, or a price."""
    numeric = [c for c in q.vocabulary.by_table[table] if c.is_figure]
    numeric = [c for c in numeric if not (sold and _ON_HAND & set(c.words))]
    meant = q.vocabulary.tables[table].table.meant_amount
    if known.prices and meant in q.vocabulary.columns:
        yield 1.2, Expression(column=meant)
    for rank, words in enumerate(known.columns):
        for column in numeric:
            if _said(column) == words:
                yield 1.0 - 0.04 * rank, Expression(column=column.key)
            elif _said(column)[-len(words) :] == words and rank < 6:
                yield 0.8 - 0.04 * rank, Expression(column=column.key)
    named = q.vocabulary.tables[table].words
    if MONEY_ROWS & set(named) and not sold:
        yield from ((0.75, Expression(column=column.key)) for column in numeric if column.words == named)
    for each in numeric if known.prices else ():  # `sold_cents_kg` of `wt_kg`
        for counted in numeric if of_a_unit(each.words) else ():
            if counted.words[-1] == each.words[-1] and not of_a_unit(counted.words):
                score = 0.8 + 0.1 * bool({"sell", "sold", "sale"} & set(each.words))
                yield score, Expression(column=each.key, factor=counted.key)
    price = _named(numeric, known.prices)
    quantity = _named([c for c in numeric if not _ON_HAND & set(c.words)], known.quantities)
    if price is not None and quantity is not None and price is not quantity:
        yield 0.8, Expression(column=price.key, factor=quantity.key)
    elif price is not None and quantity is None:
        # Each row is something that happened on a day, and nothing refers to it: what was paid
        dated = any(column.role == "date" for column in q.vocabulary.by_table[table])
        if dated and not any(edge.right == table for edge in q.graph.edges(table)):
            yield 0.3, Expression(column=price.key)


def may_be_listed(q: LinkedQuestion, name: str, used: Expression) -> bool:
    """Whether a measure is the price of each row, and the rows may as well be a list of prices: they do not link two
    other things, or have names of their own, as things have and sales have not."""
    known, column = measures()[name], q.vocabulary.columns[used.column] if used.column else None
    if column is None or used.factor is not None or _named([column], known.columns):
        return False
    linked = len(q.vocabulary.tables[column.table].table.foreign_keys) >= 2
    named = any(c.role == "name" for c in q.vocabulary.by_table[column.table])
    return bool(_named([column], known.prices)) and (named or not linked)


def _named(columns: Sequence[ColumnWord], names: Sequence[tuple[str, ...]]) -> ColumnWord | None:
    """The first column whose name ends in one of these names, the best name first."""
    return next((c for w in names for c in columns if _said(c)[-len(w) :] == w), None)


_TOTALS = ("total", "amount")


def other_total(q: LinkedQuestion, used: Expression) -> str:
    """A total of the rows that the lines belong to, where price times quantity of the lines is used: it may include
    more than they do. Empty if there is none."""
    if used.factor is None or used.column is None:
        return ""
    owners = (e.right for e in q.graph.edges(used.column[0]) if e.left == used.column[0])
    columns = (c for t in owners for c in q.vocabulary.by_table[t])
    return next((f"{c.table}.{c.name}" for c in columns if c.role == "number" and c.words[-1] in _TOTALS), "")


def added_up(q: LinkedQuestion, e: Expression, *, any_figure: bool = False) -> bool:
    """Whether a figure says something of a group only when it is added up. `any_figure`: whatever it is called, as the
    question asks for an amount."""
    column = q.vocabulary.columns[e.column] if e.column and not e.function and not e.part and e.since is None else None
    if column is None or not column.numeric or column.role != "number" or column.foreign or averaged(q, column):
        return False
    called = _ADDED & set(column.words) or column.words == q.vocabulary.tables[column.table].words
    return any_figure or bool(called)


_ADDED = word_set("sale profit revenue amount total quantity cost loss income spend spending payment unit volume")
"""Words of figures that say something of a kind only when they are added up."""


def _said(column: ColumnWord) -> tuple[str, ...]:
    """The words of a column as people say them: `price_cents` is the price."""
    return column.words[:-1] if len(column.words) > 1 and column.words[-1] in MINOR else column.words


def amount_column(q: LinkedQuestion, entities: Sequence[str]) -> ColumnWord | None:
    for table in [*reversed(entities), *q.named]:
        if (place := q.vocabulary.tables[table].table.meant_amount) in q.vocabulary.columns:
            return q.vocabulary.columns[place]
        numeric = [c for c in q.vocabulary.by_table[table] if c.numeric]
        for words in (q.vocabulary.tables[table].words, *_AMOUNTS):
            called = [c for c in numeric if _said(c)[-len(words) :] == words]
            if called:
                return min(called, key=lambda c: (bool(PAID & set(c.words)), len(c.words)))
    return None


Seen = Callable[[Query], dict[str, float]]


def less_discounts(draft: Draft, words: Vocabulary, observed: Seen) -> None:
    """Reduce the products of the draft's query in place."""
    query = draft.query
    products = {e for e in query.expressions() if e.factor is not None and e.column is not None}
    for table in sorted({t for e in products for t in e.tables}):
        discounts = [c for c in words.by_table[table] if "discount" in c.words and c.numeric]
        if not discounts:
            continue
        if len(discounts) > 1 or not _fraction(discounts[0], observed):
            draft.notes.append("discounts are not subtracted")
            continue
        draft.notes.append("discounts are subtracted")
        query.exchange({e: replace(e, less=discounts[0].key) for e in products if e.factor and e.factor[0] == table})


def _fraction(column: ColumnWord, observed: Seen) -> bool:
    """Whether all values are at most 1, and some are below."""
    if column.words != ("discount",) and column.words[-1] not in ("rate", "fraction"):
        return False
    value = Expression(column=column.key)
    conditions = (Condition(value, ">", (1,)), Condition(value, "between", (0.0001, 0.9999)))
    above, below = (
        observed(Query(select=[Expression("count", table=column.table)], tables=[column.table], where=[(c,)]))
        for c in conditions
    )
    return bool(above) and bool(below) and above["result zero"] == 1.0 and below["result zero"] == 0.0
