"""Productions of columns and of parts of dates: shown, added up, grouped by, ordered by, compared, or missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent.knowledge.vocabulary import ColumnWord
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.partial import (
    ADDING,
    SIGNS,
    Made,
    Met,
    column_of,
    function_of,
    joined,
    last_step,
    offered,
    places,
    ranking,
    scalar,
    shown_without,
)
from experiments.grammar_parser.grammar.sales import sold
from experiments.grammar_parser.grammar.state import Entity, First, Others, State, Waiting
from experiments.grammar_parser.link.items import Item
from experiments.grammar_parser.plan.algebra import Aggregate, Compare, Constant, Expression, Missing, OneOf, Order


def column(c: Context, s: State, item: Item) -> Iterator[State]:
    """A column, with close rivals; `names` may also be what names the rows of a table."""
    agg = s.waits("agg")
    if item.text in ("name", "names") and not s.waiting:
        yield from _names_of_rows(c, s, item)
    for word, score in c.columns(item, s, most=2, numeric=bool(agg and agg.argument in ("avg", "sum"))):
        yield from kind(c, s, item, word, column_of(word), score)


def _names_of_rows(c: Context, s: State, item: Item) -> Iterator[State]:
    owners = c.owners(item) or ({s.focus} if s.focus else set())
    for table in sorted(owners)[:2]:
        naming = c.vocabulary.name_columns(table)
        if len(naming) == 2 or (naming and naming[0].key not in {x.key for x, _ in item.columns}):
            show = s.show if s.show == (Entity(table),) else (*s.show, Entity(table))
            yield s.but("names of rows", item.start, item.end, 0.9, show=show, last=None)


def kind(c: Context, s: State, item: Item, word: ColumnWord, e: Expression, score: float) -> Iterator[State]:
    """A column, or a part of a date, in all the parts that it may play here."""
    common: dict[str, object] = {"focus": s.focus, "last": word}
    yield from offered(Met(c, s, item, score, word.table, common, word, e), _PRODUCTIONS)


def _facts(m: Met) -> tuple[ColumnWord, Expression]:
    assert m.column is not None
    assert m.e is not None
    return m.column, m.e


def _plain(m: Met) -> bool:
    """Whether the column itself is meant, and not a part of it."""
    return m.column is not None and m.e == column_of(m.column)


def _sold(m: Met) -> Made:
    word, e = _facts(m)
    selling = m.waits("selling")
    if selling is None or word.numeric:
        return False
    shown = m.new("kinds sold", show=(*m.s.show, e))
    number = int(selling.number or 1)
    yield from sold(m.c, shown, m.item.start, m.item.end, selling.argument, number, m.s.without(selling))
    return True


def _flag(m: Met) -> Made:
    """`discontinued products`: a yes-or-no column as a condition."""
    word, e = _facts(m)
    flag = m.c.flag(word) if _plain(m) else None
    if flag is not None and m.waits("group") is None and m.waits("order") is None:
        neg = m.waits("neg")
        condition = OneOf(e, (flag[1] if neg is not None else flag[0],))
        yield m.new("flag not" if neg is not None else "flag", 0.3, last=None, waiting=m.s.without(neg), column=e,
                    where=joined(m.s, condition), alternatives=False)  # fmt: skip
    return False


def _grouped(m: Met) -> Made:
    s, (_, e) = m.s, _facts(m)
    group = m.waits("group")
    if group is not None:
        waiting = s.without(group, m.waits("distinct"))
        yield m.new("group by column", last=None, waiting=waiting, group=(*s.group, e), phase="restrict")
        return True
    goes_on = m.before in ("and", ",") and last_step(s).startswith("group by")
    if s.group and not s.waiting and goes_on:
        yield m.new("group by column", last=None, group=(*s.group, e), phase="restrict")
    return False


def _ordered(m: Met) -> Made:
    s, (_, e) = m.s, _facts(m)
    order, count, agg = m.waits("order"), m.waits("count"), m.waits("agg")
    if order is None:
        if s.order and m.before in ("and", ",", "then", "by") and last_step(s) in ("order by column", "direction"):
            by = (*s.order, Order(e, s.order[-1].descending))
            yield m.new("order by column", last=None, order=by)
        return False
    target: Expression = e
    if count is not None:
        target = Aggregate("count", e)
    elif agg is not None:
        target = Aggregate(function_of(agg), e)
    waiting = s.without(order, count or agg)
    yield m.new("order by column", last=None, waiting=waiting, order=ranking(s, target, order.argument))
    return True


def _common(m: Met) -> Made:
    """`the most common type`."""
    s, (word, e) = m.s, _facts(m)
    said, sup = m.waits("common"), m.waits("sup")
    if said is None:
        return False
    by = Order(Aggregate("count", table=word.table), said.argument == "desc")
    number = int(said.number or (sup.number if sup else 0) or 1)
    yield m.new("most common value", waiting=s.without(said, sup), show=(*s.show, e), group=(*s.group, e), order=(by,),
                limit=number)  # fmt: skip
    return True


def _compared(m: Met) -> Made:
    """`more than 200 hp`, `shipped after the required date`, `older than customers in Rome`."""
    s, (word, e) = m.s, _facts(m)
    cmp = m.waits("cmp")
    if cmp is None or m.waits("agg") is not None or cmp.argument == "between":
        return False
    if cmp.number is not None:
        if m.waits("count") is not None:
            return False
        condition = Compare(e, SIGNS[cmp.argument], Constant(cmp.number))
        yield m.new("column compared", 0.1, waiting=s.without(cmp), column=e, where=joined(s, condition),
                    phase="restrict")  # fmt: skip
        return not (cmp.end < m.item.start - 1 or m.before in ("and", ","))
    if s.last is None or cmp.argument not in SIGNS:
        return False
    sign = SIGNS[cmp.argument]
    if s.last.key == word.key and not s.inner:
        inner = Others(e, sign, "max" if sign in (">", ">=") else "min", e, len(s.where))
        yield m.new("compared with other rows", 0.5, waiting=s.without(cmp), show=shown_without(s, e), inner=inner,
                    phase="restrict")  # fmt: skip
    same_kind = (word.role == "date") == (s.last.role == "date") and word.numeric == s.last.numeric
    if s.last.key != word.key and same_kind:
        left = column_of(s.last)
        yield m.new("columns compared", 0.4, waiting=s.without(cmp), show=shown_without(s, left),
                    where=joined(s, Compare(left, sign, e)), phase="restrict")  # fmt: skip
    return False


def _missing(m: Met) -> Made:
    """`without a phone number`."""
    s, (_, e) = m.s, _facts(m)
    neg = m.waits("neg")
    if neg is not None and (s.head or s.show) and neg.argument != "except" and m.waits("cmp") is None:
        yield m.new("column missing", -0.1, waiting=s.without(neg), where=(*s.where, Missing(e)))
    return False


def _share(m: Met) -> Made:
    share = m.waits("share")
    if share is None:
        return False
    yield m.new("share of amount", waiting=m.s.without(share, m.waits("agg")), share="column", column=m.e)
    return True


def _several_aggregates(m: Met) -> Made:
    """`the average and the largest salary`."""
    s, (_, e) = m.s, _facts(m)
    several = [w for w in s.waiting if w.kind in ("agg", "sup")]
    sup = m.waits("sup")
    fits = m.waits("agg") is not None and m.waits("cmp") is None and not (sup is not None and sup.concept)
    if len(several) > 1 and fits and s.phase == "show":
        made = tuple(Aggregate(function_of(w), e) for w in several)
        yield m.new("aggregates shown", 0.3, waiting=s.without(*several), show=(*s.show, *made), column=made[0])
    return False


def _adjective(m: Met) -> Made:
    """`the thirstiest origins`, `the oldest age`."""
    word, e = _facts(m)
    adjective = m.waits("adjective")
    if adjective is None or m.waits("sup") is not None:
        return False
    holder = Item("adjective", adjective.start, adjective.end, 1.0, concept=adjective.concept)
    for other, sign, fit in m.c.by_concept(holder, [word.table])[:2]:
        if other.key != word.key:
            by = Order(column_of(other), sign > 0)
            yield m.new("first kinds by adjective", fit, waiting=m.s.without(adjective), show=(*m.s.show, e),
                        order=(*m.s.order, by), limit=int(adjective.number or 1))  # fmt: skip
    if (word.numeric or word.role in ("date", "year")) and _plain(m):
        falls = any(sign < 0 for words, sign in adjective.concept if set(words) & set(word.words))
        yield from _extreme(m, replace(adjective, argument="asc" if falls else "desc"), adjective)
    return True


def _superlative(m: Met) -> Made:
    """`the highest price`, `the top 5 states`."""
    s, (word, e) = m.s, _facts(m)
    sup, count = m.waits("sup"), m.waits("count")
    if sup is None:
        return False
    if (word.numeric or word.role in ("date", "year", "number")) and _plain(m):
        yield from _extreme(m, sup, sup)
    if count is not None:
        if word.numeric and _plain(m) and not (word.primary or word.foreign):
            yield m.new("rank by stored number", 0.1, waiting=s.without(sup, count), order=ranking(s, e, sup.argument),
                        limit=places(s, sup)[0], phase="restrict")  # fmt: skip
        by = ranking(s, Aggregate("count", table=word.table), sup.argument)
        yield m.new("rank by number of values", waiting=s.without(sup, count), order=by, limit=int(sup.number or 1),
                    phase="restrict")  # fmt: skip
    if not word.numeric or word.role == "year" or not _plain(m):
        waiting = (*s.without(sup), replace(sup, kind="ranked"))
        yield m.new("first kinds", waiting=waiting, show=(*s.show, e), limit=int(sup.number or 1))
    return True


def _extreme(m: Met, sup: Waiting, gone: Waiting) -> Iterator[State]:
    """Rows in that order, or the value itself."""
    s, (word, e) = m.s, _facts(m)
    agg = m.waits("agg")
    descending = sup.argument != "asc"
    by: Expression = Aggregate(function_of(agg), e) if agg is not None else e
    rows = Order(by, descending)
    if s.show or s.head:
        apart = bool(s.focus and s.head) and s.focus != s.head and s.phase == "restrict"
        if apart and agg is None and m.c.graph.distance(s.focus, word.table) == 0:
            nested = (*s.nested, First(s.focus, rows, int(sup.number or 1)))
            yield m.new("rows of the first", 0.05, waiting=s.without(gone, agg), nested=nested)
        number, said = places(s, sup)
        yield m.new("rank by column", waiting=s.without(gone, agg, *said), order=(*s.order, rows), limit=number,
                    column=by)  # fmt: skip
    if agg is None and s.phase == "show":
        made = Aggregate("max" if descending else "min", e)
        yield m.new("extreme value", -0.05, waiting=s.without(gone), show=(*s.show, made), column=made)


def _counted(m: Met) -> Made:
    """`how many different cities`, `the number of employees` where it is stored."""
    s, (word, e) = m.s, _facts(m)
    count, agg = m.waits("count"), m.waits("agg")
    if count is None:
        return False
    key = word.primary or word.foreign
    if word.role == "number" and not key and count.argument != "distinct" and m.waits("sup") is None:
        yield m.new("number stored", -0.1, waiting=s.without(count), show=(*s.show, e), column=e)
        total = Aggregate("sum", e)
        yield m.new("total of numbers", -0.1, waiting=s.without(count, agg), show=(*s.show, total), column=total)
    rows = count.argument != "distinct" and (word.primary or word.words[-1:] == ("id",))
    shown = Aggregate("count", table=word.table) if rows else Aggregate("count", e, distinct=True)
    yield m.new("number of values", waiting=s.without(count, agg, m.waits("distinct")), show=(*s.show, shown))
    return True


def _aggregated(m: Met) -> Made:
    """`the average price`; behind a comparison, a condition of groups or of rows."""
    s, (_, e) = m.s, _facts(m)
    agg, cmp = m.waits("agg"), m.waits("cmp")
    if agg is None:
        return False
    made = Aggregate(function_of(agg), e)
    if cmp is not None and s.phase == "restrict":
        yield from _aggregate_compared(m, made, agg, cmp)
        return True
    shown: dict[str, object] = {"show": (*s.show, made), "column": made}
    if s.phase == "show" or not s.show:
        yield m.new("aggregate shown", 0.0, waiting=s.without(agg), **shown)
    else:
        yield m.new("aggregate shown", -0.15, waiting=s.without(agg), **shown)
        yield m.new("aggregate named", -0.1, waiting=s.without(agg), column=made)
    if m.after in ("and", ",") and s.phase == "show":  # `average age and weight`: the function goes on
        yield m.new("aggregate shown on", -0.05, **shown)
    return True


def _aggregate_compared(m: Met, made: Aggregate, agg: Waiting, cmp: Waiting) -> Iterator[State]:
    s, (word, e) = m.s, _facts(m)
    if cmp.argument not in SIGNS:
        return
    sign, waiting = SIGNS[cmp.argument], s.without(cmp, agg)
    if cmp.number is not None:
        having = (*s.having, Compare(made, sign, Constant(cmp.number)))
        yield m.new("aggregate compared", waiting=waiting, column=made, having=having)
        return
    left = column_of(s.last) if s.last is not None and s.last.key != word.key else e
    where = (*s.where, Compare(left, sign, scalar(made)))
    yield m.new("compared with aggregate", waiting=waiting, where=where, phase="restrict")
    if not s.inner:
        inner = Others(left, sign, made.function, e, len(s.where))
        yield m.new("compared with aggregate of others", -0.1, waiting=waiting, inner=inner, phase="restrict")


def _mentioned(m: Met) -> Made:
    """Shown, or named for a condition that follows."""
    s, (word, e) = m.s, _facts(m)
    shown = s.show if e in s.show else (*s.show, e)
    if s.phase == "show" and s.show and not word.numeric and _generic_name(m):
        yield m.new("name of the kind", 0.2, show=(*s.show[:-1], e), column=e)
    if s.phase == "show":
        yield m.new("column shown", show=shown, column=e)
        if s.show and not s.head:
            return True
    if s.phase == "restrict" or s.head:
        yield m.new("column named", -0.05, column=e, phase="restrict" if s.head else s.phase)
        if s.phase == "restrict" and m.before in ADDING:
            yield m.new("column also shown", -0.15, column=e, show=shown)
    return True


def _generic_name(m: Met) -> bool:
    """Whether `the names of` stands before: what follows is what has the names."""
    words, at = m.c.lattice.words, m.item.start - 1
    while at > 0 and words[at] in ("the", "all", "different", "distinct", "each"):
        at -= 1
    return at > 0 and words[at] == "of" and words[at - 1] in ("name", "names", "list")


_PRODUCTIONS = (
    _sold, _flag, _grouped, _ordered, _common, _compared, _missing, _share, _several_aggregates, _adjective,
    _superlative, _counted, _aggregated, _mentioned,
)  # fmt: skip
