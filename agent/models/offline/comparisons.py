"""Comparisons: `more than 5 orders`, `older than 30`, `above the average price`, `between 1 and 3`.

In: a `Reader` at a comparing phrase or a number. Out: conditions on columns, counts or aggregates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.models.offline import periods, units
from agent.models.offline.conditions import add, target_column
from agent.models.offline.interpretation import (
    Condition,
    Expression,
    Function,
    Operator,
    Query,
)
from agent.models.offline.lexicon import adjectives, word_set
from agent.models.offline.measuring import amount_column, holds_figures, measure, property_of
from agent.models.offline.timing import add_period, between_periods
from agent.models.offline.vocabulary import ColumnWord

if TYPE_CHECKING:
    from agent.models.offline.reader import Reader

_OPPOSITE: dict[str, Operator] = {">": "<=", "<": ">=", ">=": "<", "<=": ">", "=": "<>", "<>": "=", "like": "not like",
                                  "between": "not between"}  # fmt: skip
_PERIOD_WORDS = {
    ">": "after",
    ">=": "since",
    "<": "before",
    "<=": "until",
    "=": "=",
    "after": "after",
    "before": "before",
}
_FLIPPED: dict[str, Operator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


_CURRENCIES = word_set("euro euros dollar dollars usd eur pounds gbp yen")
_SOLD = word_set("sold sells sell made earned generated took")


def comparison(r: Reader, i: int) -> None:
    """`more than 5 orders`, `older than 30`, `above the average price`, `between 1 and 3`, `after March 2020`."""
    before = (_size(r), r.negated)
    _compare_at(r, i)
    if (_size(r), r.negated) == before and r.items[i].lower not in _WEAK:
        r.draft.doubt("comparison_open")


def _size(r: Reader) -> int:
    """How many conditions there are, to tell whether a phrase added one."""
    return sum(len(clause) for clause in r.sink) + len(r.query.having)


_WEAK = word_set("over under equal equals bigger smaller higher lower larger greater above below beyond less")
"""Words that also stand where nothing is compared (`over the years`)."""


def _compare_at(r: Reader, i: int) -> None:
    item = r.items[i]
    assert item.keyword is not None
    operator = item.keyword.argument
    target = None
    named_before = target_column(r, i)
    plain_words = item.lower.split()[0] in ("larger", "bigger", "smaller", "higher", "longer", "shorter")
    if item.keyword.adjective is not None and named_before is not None and plain_words:
        operator = "<" if plain_words and item.lower.split()[0] in ("smaller", "shorter") else ">"
    elif item.keyword.adjective is not None:
        found = property_of(r, item.keyword.adjective, i)
        if found is None:
            r.draft.doubt("adjective_without_column")
            return
        column, sign = found
        target = Expression(column=column.key)
        if sign < 0:
            operator = _FLIPPED[operator]
    for j in range(i + 1, min(len(r.items), i + 7)):
        sort = r.sorts[j]
        if (
            r.items[j].is_keyword("agg")
            or (r.items[j].is_keyword("sup") and r.items[j].lower in ("lowest", "highest", "smallest", "largest"))
        ) and _against_aggregate(r, i, j, operator, target):
            return
        if operator in ("after", "before", "between", ">", "<", ">=", "<=", "=", "<>"):
            since = item.lower in ("since", "starting from", "from the year") or item.lower.endswith("or after")
            until = item.lower == "until" or item.lower.endswith("or before")
            period_found = periods.period_at(r.tokens, r.items[j].start, r.today)
            named = target_column(r, i, 6)
            if named is not None and not named.numeric and named.role not in ("date", "year"):
                named = None
            direct = r.last_column is not None and r.last_column[0] == j - 1 and not r.items[j - 1].is_keyword("cmp")
            figure = direct and named is not None and named.numeric and named.role == "number"
            if (
                period_found is not None
                and not figure
                and (
                    operator in ("after", "before")
                    or (operator == "between" and named is None and period_found.year_only is not None)
                    or period_found.year_only is None
                    or (named is not None and named.role in ("date", "year"))
                )
            ):
                if operator == "between":
                    if between_periods(r, i, j, period_found):
                        return
                else:
                    word = _PERIOD_WORDS.get(operator)
                    if (since and word == "after") or (until and word == "before"):
                        word = "since" if since else "until"
                    if word and add_period(r, j, period_found, word):
                        return
        if sort == "number":
            if operator == "between":
                _between(r, i, j)
                return
            plain: Operator = {"after": ">", "before": "<"}.get(operator, operator)  # type: ignore[assignment]
            compare(r, i, j, plain, target)
            return
        if sort in ("value", "literal") and operator in ("<>", "="):
            r.negated = r.negated != (operator == "<>")
            return
        if sort == "word" or r.items[j].is_keyword("neg", "relative"):
            continue
        if sort == "column" and target is None and _number_next(r, j):
            column = r.column_of(j)
            if column.role == "year" or (column.numeric and column.role == "number"):
                r.use(j)
                r.last_column = (j, column)
                continue
        if sort in ("table", "column", "measure"):
            if operator == "<>":
                r.negated = True
            elif sort == "column" and named_before is not None and named_before.numeric and operator in _OPPOSITE:
                other = r.column_of(j, "number")
                if other.numeric and other.role != "id" and other.key != named_before.key:
                    r.use(j)
                    left = Expression(column=named_before.key)
                    add(r, Condition(left, operator, (Expression(column=other.key),)))  # type: ignore[arg-type]
            return
        break


def age_after(r: Reader, i: int) -> ColumnWord | None:
    """The column of ages, where `years old` or `years of age` follows item i; these words are then explained."""
    end = r.items[i].end
    said = [t.lower for t in r.tokens[end : end + 3]]
    if said[:1] not in (["year"], ["years"]) or not (said[1:2] == ["old"] or said[1:3] == ["of", "age"]):
        return None
    found = property_of(r, adjectives()["old"][0], i)
    if found is None or found[1] < 0 or not found[0].numeric:
        return None
    for k in range(i + 1, len(r.items)):
        if r.items[k].start < end + (2 if said[1] == "old" else 3):
            r.use(k)
    return found[0]


def _number_next(r: Reader, j: int) -> bool:
    """`the year of 2006`: a number follows item j over small words."""
    for k in range(j + 1, min(len(r.items), j + 4)):
        if r.sorts[k] == "number":
            return True
        if r.items[k].lower not in ("of", "the", "is", "in"):
            return False
    return False


def _between(r: Reader, i: int, j: int) -> None:
    for k in range(j + 1, min(j + 4, len(r.items))):
        if r.sorts[k] == "number":
            low, high = r.items[j].number, r.items[k].number
            column = target_column(r, i) or _column_after(r, k)
            if column is None:
                return
            for used in range(j, k + 1):
                r.use(used)
            add(r, Condition(Expression(column=column.key), "between", (low, high)))
            return


def _column_after(r: Reader, j: int) -> ColumnWord | None:
    k = j + 1
    while (
        k < len(r.items)
        and r.sorts[k] == "word"
        and r.items[k].lower in ("of", "in", "the", "dollars", "years", "points")
    ):
        k += 1
    if k < len(r.items) and r.sorts[k] == "column" and not r.items[k].is_keyword():
        column = r.column_of(k, "number")
        r.use(k)
        return column
    return None


def compare(r: Reader, i: int, j: int, operator: Operator, target: Expression | None = None) -> None:
    """Compare with the number at item j: the column before, the column or the counted table after."""
    figure = r.items[j].number
    assert figure is not None
    r.use(j)
    unit = units.unit_after(r.tokens, r.items[j].end)
    if target is None and (aged := age_after(r, j)) is not None:
        target, unit = Expression(column=aged.key), ""
    if target is None:
        k = j + 1
        while (
            k < len(r.items)
            and r.sorts[k] == "word"
            and r.items[k].lower in ("of", "different", "distinct", "the", "in")
        ) or (k < len(r.items) and r.items[k].is_keyword("distinct", "post")):
            k += 1
        after = r.sorts[k] if k < len(r.items) else ""
        if k < len(r.items) and r.items[k].lower in ("times", "time", "occasions") and r.entities:
            r.use(k)
            repeated = [t for t in r.entities if t != (r.head_entity or r.entities[0])]
            target = Expression("count", table=(repeated or r.entities)[-1])
            add(r, Condition(target, operator, (figure,)))
            return
        money = (k < len(r.items) and r.items[k].lower in _CURRENCIES) or "$" in r.tokens[r.items[j].start].text
        if money and r.verb_measure is None and any(x.lower in _SOLD for x in r.items[max(0, i - 3) : i]):
            r.verb_measure = measure(r, "sale")
        if r.verb_measure is not None and after not in ("table", "column"):
            target = Expression("sum", r.verb_measure.column, factor=r.verb_measure.factor)
            add(r, Condition(target, operator, (figure,)))
            return
        summed = r.items[i - 1].mention if i and i - 1 in r.consumed else None
        if summed is not None and summed.measure and after not in ("table", "column") and r.entities:
            found = measure(r, summed.measure)
            shown_table = r.head_entity or r.entities[0]
            if found is not None and found.column is not None and r.many_of(shown_table, found.column[0]):
                target = Expression("sum", found.column, factor=found.factor)
                add(r, Condition(target, operator, (figure,)))
                return
        before = target_column(r, i)
        named_at = r.last_column[0] if r.last_column else -9
        counted = _counted_before(r, i)
        if counted is not None:
            target = Expression("count", table=counted)
        elif (
            after == "table"
            and k == j + 1
            and (before is None or before.role != "number" or named_at < i - 1 or before.foreign or _weak(r, named_at))
        ):
            table = r.table_of(k)
            r.use(k)
            target = Expression("count", table=table)
            r.entity(table)
        elif before is not None and (before.numeric or after not in ("table", "column")):
            target = Expression(column=before.key)
        elif after == "table":
            table = r.table_of(k)
            r.use(k)
            if r.negated and not r.excepting and operator in ("=",):
                r.negated = False
            target = Expression("count", table=table)
            r.entity(table)
        elif after == "column":
            column = r.column_of(k)
            r.use(k)
            if (column.numeric and column.role != "id") or holds_figures(r, column):
                target = Expression(column=column.key)
            else:
                target = Expression("count", column=column.key, table=column.table, distinct=True)
        elif after == "measure":
            mention = r.items[k].mention
            assert mention is not None
            found = measure(r, mention.measure)
            if found is not None:
                r.use(k)
                target = Expression("sum", found.column, factor=found.factor)
        elif before is not None:
            target = Expression(column=before.key)
    last = r.sink[-1][-1] if r.sink else None
    if target is None and isinstance(last, Condition) and last.operator in _FLIPPED:
        joined = any(x.is_keyword("and", "or", "relative") for x in r.items[max(0, i - 3) : i])
        target = last.left if joined else None
    if (
        target is None
        and i > 0
        and r.query.select
        and r.query.select[-1].column
        and r.vocabulary.columns[r.query.select[-1].column].numeric
        and not r.query.select[-1].function
    ):
        target = r.query.select[-1]
    if target is None:
        guessed = amount_column(r)
        if guessed is None:
            r.draft.doubt("number_without_column")
            r.draft.used.difference_update(range(r.items[j].start, r.items[j].end))
            return
        r.draft.doubt("amount_guessed")
        target = Expression(column=guessed.key)
    functions: list[Function] = [f for f in r.functions if not r.in_head]
    if functions and target.column and not target.function:
        target = Expression(functions[0], target.column)
        r.functions = []
    if unit and target.column and target.function != "count":
        converted = units.converted(figure, unit, r.vocabulary.columns[target.column].words)
        if converted is None:
            r.draft.doubt("unit_unknown")
        else:
            figure = converted
        for k in range(j + 1, min(len(r.items), j + 2)):
            r.use(k)
    add(r, Condition(target, operator, (figure,)))


def _weak(r: Reader, at: int) -> bool:
    """Whether the column named at item `at` was found through a verb only (`advises` for a column `advisor`)."""
    mention = r.items[at].mention if at >= 0 else None
    return mention is not None and bool(mention.columns) and mention.columns[0][1] < 0.9


def _counted_before(r: Reader, i: int) -> str | None:
    """`whose number of orders is more than 5`: the count that the comparison speaks of."""
    for j in range(i - 1, max(-1, i - 6), -1):
        if r.items[j].is_keyword("count") and r.counting and not r.in_head:
            for k in range(j + 1, i):
                if r.sorts[k] == "table":
                    r.counting = ""
                    return r.table_of(k)
    return None


def _against_aggregate(r: Reader, i: int, j: int, operator: str, target: Expression | None) -> bool:
    """`above the average price`, `older than the average age`: compare with an aggregate over the whole table."""
    keyword = r.items[j].keyword
    assert keyword is not None
    function: Function = keyword.argument if keyword.kind == "agg" else {"desc": "max", "asc": "min"}[keyword.argument]  # type: ignore[assignment]
    if function == "sum" or operator not in (">", "<", ">=", "<=", "=", "<>"):
        return False
    column: ColumnWord | None = None
    k = j + 1
    while k < len(r.items) and r.sorts[k] == "word" and r.items[k].lower in ("of", "the", "all", "value", "for"):
        k += 1
    if k < len(r.items) and r.sorts[k] == "column":
        column = r.column_of(k, "number")
        r.use(k)
        k += 1
    if target is None:
        before = target_column(r, i)
        chosen = before or column
        if chosen is None and r.query.select and r.query.select[-1].column and not r.query.select[-1].function:
            chosen = r.vocabulary.columns[r.query.select[-1].column]
        if chosen is None or chosen.role == "id":
            chosen = amount_column(r)
            if chosen is None:
                return False
        target = Expression(column=chosen.key)
    if r.functions and not r.in_head and target.column and not target.function:
        target = Expression(r.functions[0], target.column)
        r.functions = []
    inner_column = column.key if column is not None else target.column
    if inner_column is None:
        return False
    r.use(j)
    inner = Query(select=[Expression(function, inner_column)])
    add(r, Condition(target, operator, (), against=inner))  # type: ignore[arg-type]
    following = list(range(k, min(k + 4, len(r.items))))
    for x in following:
        if r.sorts[x] == "value":
            r.sink = inner.where
            break
        if r.sorts[x] == "table":
            r.use(x)
            r.entity(r.table_of(x))
    return True
