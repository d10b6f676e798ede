"""Comparisons: `more than 5 orders`, `older than 30`, `above the average price`, `between 1 and 3`.

In: a reading at a comparing phrase or a number. Out: conditions on columns, counts or aggregates.
"""

from __future__ import annotations

from agent.knowledge.vocabulary import ColumnWord
from agent.parser import periods, units
from agent.parser.conditions import OPPOSITE, add, target_column
from agent.parser.interpretation import (
    Condition,
    Expression,
    Function,
    Operator,
    Query,
)
from agent.parser.measures import amount_column, holds_figures, measure, property_of
from agent.parser.state import ReadingState
from agent.parser.time_conditions import add_period, between_periods
from eval.language.lexicon import adjectives, word_set

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


def comparison(r: ReadingState, i: int) -> None:
    """`more than 5 orders`, `older than 30`, `above the average price`, `between 1 and 3`, `after March 2020`."""
    before = (_size(r), r.negated)
    _compare_at(r, i)
    if (_size(r), r.negated) == before and r.items[i].lower not in _WEAK:
        r.draft.doubt("comparison_open")


def _size(r: ReadingState) -> int:
    """The number of conditions, to detect whether a phrase added one."""
    return sum(len(clause) for clause in r.sink) + len(r.query.having)


_WEAK = word_set("over under equal equals bigger smaller higher lower larger greater above below beyond less")
"""Words that also occur without a comparison (`over the years`)."""


def _compare_at(r: ReadingState, i: int) -> None:
    meant = _operator_meant(r, i)
    if meant is None:
        r.draft.doubt("adjective_without_column")
        return
    operator, target = meant
    named_before = target_column(r, i)
    for j in range(i + 1, min(len(r.items), i + 7)):
        sort = r.sorts[j]
        if _is_aggregate(r, j) and _against_aggregate(r, i, j, operator, target):
            return
        if _against_period(r, i, j, operator):
            return
        if sort == "number":
            if operator == "between":
                _between(r, i, j)
            else:
                plain: Operator = {"after": ">", "before": "<"}.get(operator, operator)  # type: ignore[assignment]
                compare(r, i, j, plain, target)
            return
        if sort in ("value", "literal") and operator in ("<>", "="):
            r.negated = r.negated != (operator == "<>")
            return
        if sort == "word" or r.items[j].is_keyword("neg", "relative"):
            continue
        if sort == "column" and target is None and _introduces_number(r, j):
            continue
        if sort in ("table", "column", "measure"):
            _against_named(r, j, operator, named_before)
        return


def _operator_meant(r: ReadingState, i: int) -> tuple[str, Expression | None] | None:
    """The operator of the phrase and the column that its adjective refers to; None when there is no such column."""
    keyword = r.items[i].keyword
    assert keyword is not None
    if keyword.adjective is None:
        return keyword.argument, None
    first = r.items[i].lower.split()[0]
    if first in _SIZES and target_column(r, i) is not None:
        return _SIZES[first], None
    found = property_of(r, keyword.adjective, i)
    if found is None:
        return None
    column, sign = found
    return (keyword.argument if sign > 0 else _FLIPPED[keyword.argument]), Expression(column=column.key)


_SIZES = {"larger": ">", "bigger": ">", "higher": ">", "longer": ">", "smaller": "<", "shorter": "<"}
"""Adjectives that compare the column named before them."""


def _is_aggregate(r: ReadingState, j: int) -> bool:
    extreme = r.items[j].is_keyword("sup") and r.items[j].lower in ("lowest", "highest", "smallest", "largest")
    return r.items[j].is_keyword("agg") or extreme


def _against_period(r: ReadingState, i: int, j: int, operator: str) -> bool:
    """`after March 2020`, `between 2010 and 2012`: restrict a date by the period at item j, if one is meant."""
    if operator not in _PERIOD_WORDS and operator not in ("between", "<>"):
        return False
    period = periods.period_at(r.tokens, r.items[j].start, r.today)
    named = target_column(r, i, 6)
    if named is not None and not named.numeric and named.role not in ("date", "year"):
        named = None
    direct = r.last_column is not None and r.last_column[0] == j - 1 and not r.items[j - 1].is_keyword("cmp")
    figure = direct and named is not None and named.numeric and named.role == "number"
    if period is None or figure:
        return False
    dated = named is not None and named.role in ("date", "year")
    years = operator == "between" and named is None
    if not (operator in ("after", "before") or years or period.year_only is None or dated):
        return False
    if operator == "between":
        return between_periods(r, i, j, period)
    word, said = _PERIOD_WORDS.get(operator), r.items[i].lower
    if word == "after" and (said in ("since", "starting from", "from the year") or said.endswith("or after")):
        word = "since"
    elif word == "before" and (said == "until" or said.endswith("or before")):
        word = "until"
    return word is not None and add_period(r, j, period, word)


def _introduces_number(r: ReadingState, j: int) -> bool:
    """`the year of 2006`: the column at item j is compared with the number after it."""
    if not _number_next(r, j):
        return False
    column = r.column_of(j)
    if column.role != "year" and not (column.numeric and column.role == "number"):
        return False
    r.use(j)
    r.last_column = (j, column)
    return True


def _against_named(r: ReadingState, j: int, operator: str, before: ColumnWord | None) -> None:
    """`different from the owner` negates a value, `budget above cost` compares two columns."""
    if operator == "<>":
        r.negated = True
    elif r.sorts[j] == "column" and before is not None and before.numeric and operator in OPPOSITE:
        other = r.column_of(j, "number")
        if other.numeric and other.role != "id" and other.key != before.key:
            r.use(j)
            left = Expression(column=before.key)
            add(r, Condition(left, operator, (Expression(column=other.key),)))  # type: ignore[arg-type]


def age_after(r: ReadingState, i: int) -> ColumnWord | None:
    """The age column, if `years old` or `years of age` follows item i; these words are then explained."""
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


def _number_next(r: ReadingState, j: int) -> bool:
    """`the year of 2006`: a number follows item j, with only function words in between."""
    for k in range(j + 1, min(len(r.items), j + 4)):
        if r.sorts[k] == "number":
            return True
        if r.items[k].lower not in ("of", "the", "is", "in"):
            return False
    return False


def _between(r: ReadingState, i: int, j: int) -> None:
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


def _column_after(r: ReadingState, j: int) -> ColumnWord | None:
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


def compare(r: ReadingState, i: int, j: int, operator: Operator, target: Expression | None = None) -> None:
    """Compare with the number at item j: the column before it, or the column or the counted table after it."""
    figure = r.items[j].number
    assert figure is not None
    r.use(j)
    unit = units.unit_after(r.tokens, r.items[j].end)
    if target is None and (aged := age_after(r, j)) is not None:
        target, unit = Expression(column=aged.key), ""
    if target is None:
        k = _after_number(r, j)
        target = _times_happened(r, k) or _amount_of_verb(r, i, j, k) or _sum_of_measure(r, i, k)
        if target is not None:
            add(r, Condition(target, operator, (figure,)))
            return
        target = _named_target(r, i, j, k, operator) or _target_of_context(r, i)
    if target is None:
        guessed = amount_column(r)
        if guessed is None:
            r.draft.doubt("number_without_column")
            r.draft.used.difference_update(range(r.items[j].start, r.items[j].end))
            return
        r.draft.doubt("amount_guessed")
        target = Expression(column=guessed.key)
    if r.functions and not r.in_head and target.column and not target.function:
        target = Expression(r.functions[0], target.column)
        r.functions = []
    if unit and target.column and target.function != "count":
        converted = units.converted(figure, unit, r.vocabulary.columns[target.column].words)
        if converted is None:
            r.draft.doubt("unit_unknown")
        else:
            figure = converted
        if j + 1 < len(r.items):
            r.use(j + 1)
    add(r, Condition(target, operator, (figure,)))


def _after_number(r: ReadingState, j: int) -> int:
    """The item after the number at j, skipping function words."""
    k = j + 1
    while k < len(r.items) and (
        (r.sorts[k] == "word" and r.items[k].lower in ("of", "different", "distinct", "the", "in"))
        or r.items[k].is_keyword("distinct", "post")
    ):
        k += 1
    return k


def _sort(r: ReadingState, k: int) -> str:
    return r.sorts[k] if k < len(r.items) else ""


def _times_happened(r: ReadingState, k: int) -> Expression | None:
    """`more than 3 times`: rows of the most recently named table are counted."""
    if k >= len(r.items) or r.items[k].lower not in ("times", "time", "occasions") or not r.entities:
        return None
    r.use(k)
    repeated = [t for t in r.entities if t != (r.head_entity or r.entities[0])]
    return Expression("count", table=(repeated or r.entities)[-1])


def _amount_of_verb(r: ReadingState, i: int, j: int, k: int) -> Expression | None:
    """`spent more than 100`, `sold over $5,000`: the verb determines the amount that is summed."""
    money = (k < len(r.items) and r.items[k].lower in _CURRENCIES) or "$" in r.tokens[r.items[j].start].text
    if money and r.verb_measure is None and any(x.lower in _SOLD for x in r.items[max(0, i - 3) : i]):
        r.verb_measure = measure(r, "sale")
    if r.verb_measure is None or _sort(r, k) in ("table", "column"):
        return None
    return Expression("sum", r.verb_measure.column, factor=r.verb_measure.factor)


def _sum_of_measure(r: ReadingState, i: int, k: int) -> Expression | None:
    """`customers with revenue above 100`: a measure that each customer has in several rows is summed."""
    mention = r.items[i - 1].mention if i and i - 1 in r.consumed else None
    if mention is None or not mention.measure or _sort(r, k) in ("table", "column") or not r.entities:
        return None
    found = measure(r, mention.measure)
    if found is None or found.column is None or not r.many_of(r.head_entity or r.entities[0], found.column[0]):
        return None
    return Expression("sum", found.column, factor=found.factor)


def _named_target(r: ReadingState, i: int, j: int, k: int, operator: Operator) -> Expression | None:
    """The target named around the number: the column before it, or the column or the counted rows after it."""
    before, after = target_column(r, i), _sort(r, k)
    named_at = r.last_column[0] if r.last_column else -9
    counted = _counted_before(r, i)
    if counted is not None:
        return Expression("count", table=counted)
    loose = before is None or before.role != "number" or named_at < i - 1 or before.foreign or _weak(r, named_at)
    beside = after == "table" and k == j + 1 and loose
    if not beside and before is not None and (before.numeric or after not in ("table", "column")):
        return Expression(column=before.key)
    if after == "table":
        table = r.table_of(k)
        r.use(k)
        if not beside and r.negated and not r.excepting and operator == "=":
            r.negated = False
        r.entity(table)
        return Expression("count", table=table)
    if after == "column":
        return _column_target(r, k)
    mention = r.items[k].mention if after == "measure" else None
    found = measure(r, mention.measure) if mention is not None else None
    if found is None:
        return None
    r.use(k)
    return Expression("sum", found.column, factor=found.factor)


def _column_target(r: ReadingState, k: int) -> Expression:
    """A column of numbers is compared directly; for any other column its distinct values are counted."""
    column = r.column_of(k)
    r.use(k)
    if (column.numeric and column.role != "id") or holds_figures(r, column):
        return Expression(column=column.key)
    return Expression("count", column=column.key, table=column.table, distinct=True)


def _target_of_context(r: ReadingState, i: int) -> Expression | None:
    """`over 5 and under 10` compares the same column twice; otherwise the number shown is compared."""
    last = r.sink[-1][-1] if r.sink else None
    joined = any(x.is_keyword("and", "or", "relative") for x in r.items[max(0, i - 3) : i])
    if joined and isinstance(last, Condition) and last.operator in _FLIPPED:
        return last.left
    shown = r.query.select[-1] if i > 0 and r.query.select else None
    if shown is None or shown.column is None or shown.function or not r.vocabulary.columns[shown.column].numeric:
        return None
    return shown


def _weak(r: ReadingState, at: int) -> bool:
    """Whether the column named at item `at` was matched only through a verb (`advises` for a column `advisor`)."""
    mention = r.items[at].mention if at >= 0 else None
    return mention is not None and bool(mention.columns) and mention.columns[0][1] < 0.9


def _counted_before(r: ReadingState, i: int) -> str | None:
    """`whose number of orders is more than 5`: the count that the comparison refers to."""
    for j in range(i - 1, max(-1, i - 6), -1):
        if r.items[j].is_keyword("count") and r.counting and not r.in_head:
            for k in range(j + 1, i):
                if r.sorts[k] == "table":
                    r.counting = ""
                    return r.table_of(k)
    return None


def _against_aggregate(r: ReadingState, i: int, j: int, operator: str, target: Expression | None) -> bool:
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
