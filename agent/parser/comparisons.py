"""Comparisons: `more than 5 orders`, `older than 30`, `above the average price`, `between 1 and 3`.

In: a reading at a comparing phrase or a number. Out: conditions on columns, counts or aggregates.
"""

from __future__ import annotations

from agent.knowledge.vocabulary import ColumnWord
from agent.parser import ages, periods, self_references, units
from agent.parser.assembly import join
from agent.parser.comparison_targets import FLIPPED, counted_or_summed, named_target
from agent.parser.conditions import OPPOSITE, add, target_column
from agent.parser.interpretation import (
    Condition,
    Expression,
    Function,
    Operator,
    Query,
)
from agent.parser.measures import amount_column, property_of
from agent.parser.question import LinkedQuestion
from agent.parser.state import Context, Finding, ReadingState
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


def comparison(q: LinkedQuestion, r: ReadingState, i: int) -> None:
    """`more than 5 orders`, `older than 30`, `above the average price`, `between 1 and 3`, `after March 2020`."""
    before = (_size(r), r.negated)
    _compare_at(q, r, i)
    if (_size(r), r.negated) == before and q.items[i].lower not in _WEAK:
        r.draft.doubt("comparison_open")


def _size(c: Context) -> int:
    """The number of conditions, to detect whether a phrase added one."""
    return sum(len(clause) for clause in c.sink) + len(c.query.having)


_WEAK = word_set("over under equal equals bigger smaller higher lower larger greater above below beyond less")
"""Words that also occur without a comparison (`over the years`)."""


def _compare_at(q: LinkedQuestion, r: ReadingState, i: int) -> None:
    operator_and_target = _operator_meant(q, r, i)
    if operator_and_target is None:
        r.draft.doubt("adjective_without_column")
        return
    operator, target = operator_and_target
    named_before = target_column(q, r, i)
    for j in range(i + 1, min(len(q.items), i + 7)):
        sort = q.sorts[j]
        if _is_aggregate(q, j) and _against_aggregate(q, r, i, j, operator, target):
            return
        if _against_period(q, r, i, j, operator):
            return
        if sort == "number":
            if operator == "between":
                _between(q, r, i, j)
            else:
                plain: Operator = {"after": ">", "before": "<"}.get(operator, operator)  # type: ignore[assignment]
                compare(q, r, i, j, plain, target)
            return
        if sort in ("value", "literal") and operator in ("<>", "="):
            r.negated = r.negated != (operator == "<>")
            return
        if sort == "word" or q.items[j].is_keyword("neg", "relative"):
            continue
        if sort == "column" and target is None and _introduces_number(q, r, j):
            continue
        if sort == "column" and target is None and q.items[j + 1 : j + 2] and q.items[j + 1].lower == "than":
            target = Expression(column=r.column_of(j, "number").key)  # `a higher salary than their manager`
            r.use(j)
            r.use(j + 1)
            continue
        left = target or (Expression(column=named_before.key) if named_before is not None else None)
        if sort == "column" and (other := self_references.against_reference(q, j, operator, left)) is not None:
            join(q, r, other)
            return
        if sort in ("table", "column", "measure"):
            _against_named(q, r, j, operator, named_before)
        return


def _operator_meant(
    q: LinkedQuestion,
    c: Context,
    i: int,
) -> tuple[str, Expression | None] | None:
    """The operator of the phrase and the column that its adjective refers to; None when there is no such column."""
    keyword = q.items[i].keyword
    assert keyword is not None
    if keyword.adjective is None:
        return keyword.argument, None
    first = q.items[i].lower.split()[0]
    if first in _SIZES and target_column(q, c, i) is not None:
        return _SIZES[first], None
    property_column = property_of(q, c, keyword.adjective, i)
    if property_column is None:
        return None
    column, sign = property_column
    return (keyword.argument if sign > 0 else FLIPPED[keyword.argument]), Expression(column=column.key)


_SIZES = {"larger": ">", "bigger": ">", "higher": ">", "longer": ">", "smaller": "<", "shorter": "<"}
"""Adjectives that compare the column named before them."""


def _is_aggregate(q: LinkedQuestion, j: int) -> bool:
    extreme = q.items[j].is_keyword("sup") and q.items[j].lower in ("lowest", "highest", "smallest", "largest")
    return q.items[j].is_keyword("agg") or extreme


def _against_period(q: LinkedQuestion, r: ReadingState, i: int, j: int, operator: str) -> bool:
    """`after March 2020`, `between 2010 and 2012`: restrict a date by the period at item j, if one is meant."""
    if operator not in _PERIOD_WORDS and operator not in ("between", "<>"):
        return False
    period = periods.period_at(q.tokens, q.items[j].start, q.today)
    named = target_column(q, r, i, 6)
    if named is not None and not named.numeric and named.role not in ("date", "year"):
        named = None
    direct = r.last_column is not None and r.last_column[0] == j - 1 and not q.items[j - 1].is_keyword("cmp")
    figure = direct and named is not None and named.numeric and named.role == "number"
    if period is None or figure:
        return False
    dated = named is not None and named.role in ("date", "year")
    years = operator == "between" and named is None
    if not (operator in ("after", "before") or years or period.year_only is None or dated):
        return False
    if operator == "between":
        return between_periods(q, r, i, j, period)
    word, phrase = _PERIOD_WORDS.get(operator), q.items[i].lower
    if word == "after" and (phrase in ("since", "starting from", "from the year") or phrase.endswith("or after")):
        word = "since"
    elif word == "before" and (phrase == "until" or phrase.endswith("or before")):
        word = "until"
    return word is not None and add_period(q, r, j, period, word)


def _introduces_number(q: LinkedQuestion, r: ReadingState, j: int) -> bool:
    """`the year of 2006`: the column at item j is compared with the number after it."""
    if not _number_next(q, j):
        return False
    column = r.column_of(j)
    if column.role != "year" and not (column.numeric and column.role == "number"):
        return False
    r.use(j)
    r.last_column = (j, column)
    return True


def _against_named(q: LinkedQuestion, r: ReadingState, j: int, operator: str, before: ColumnWord | None) -> None:
    """`different from the owner` negates a value, `budget above cost` and `started later than planned` compare two
    columns."""
    if operator == "<>":
        r.negated = True
    elif q.sorts[j] == "column" and before is not None and before.role == "date" and operator in _SIGNS_OF_TIME:
        mention = q.items[j].mention
        named = mention.columns if mention is not None else ()
        other_date = next((c for c, _ in named if c.role == "date" and c.table == before.table and c != before), None)
        if other_date is not None:
            r.use(j)
            sign, moment = _SIGNS_OF_TIME[operator], Expression(column=other_date.key)
            add(q, r, Condition(Expression(column=before.key), sign, (moment,)))
    elif q.sorts[j] == "column" and before is not None and before.numeric and operator in OPPOSITE:
        other = r.column_of(j, "number")
        if other.numeric and other.role != "id" and other.key != before.key:
            r.use(j)
            left = Expression(column=before.key)
            add(q, r, Condition(left, operator, (Expression(column=other.key),)))  # type: ignore[arg-type]


_SIGNS_OF_TIME: dict[str, Operator] = {"after": ">", "before": "<", ">": ">", "<": "<"}


def age_after(q: LinkedQuestion, c: Context, i: int) -> tuple[ColumnWord, tuple[int, ...]] | None:
    """The age column and the items with these words, if `years old` or `years of age` follows item i."""
    end = q.items[i].end
    following = [t.lower for t in q.tokens[end : end + 3]]
    if following[:1] not in (["year"], ["years"]) or not (following[1:2] == ["old"] or following[1:3] == ["of", "age"]):
        return None
    age = property_of(q, c, adjectives()["old"][0], i)
    if age is None or age[1] < 0 or not age[0].numeric:
        return None
    last = end + (2 if following[1] == "old" else 3)
    return age[0], tuple(k for k in range(i + 1, len(q.items)) if q.items[k].start < last)


def _number_next(q: LinkedQuestion, j: int) -> bool:
    """`the year of 2006`: a number follows item j, with only function words in between."""
    for k in range(j + 1, min(len(q.items), j + 4)):
        if q.sorts[k] == "number":
            return True
        if q.items[k].lower not in ("of", "the", "is", "in"):
            return False
    return False


def _between(q: LinkedQuestion, r: ReadingState, i: int, j: int) -> None:
    for k in range(j + 1, min(j + 4, len(q.items))):
        if q.sorts[k] == "number":
            low, high = q.items[j].number, q.items[k].number
            column = target_column(q, r, i) or _column_after(q, r, k)
            if column is None:
                _between_ages(q, r, j, k)
                return
            _use_bounds(q, r, j, k)
            add(q, r, Condition(Expression(column=column.key), "between", (low, high)))
            return


def _use_bounds(q: LinkedQuestion, r: ReadingState, j: int, k: int) -> None:
    """Mark the two numbers, and the word that joins them, as explained; no other word between them."""
    for used in range(j, k + 1):
        if used in (j, k) or q.items[used].lower in ("and", "to", "years", "year"):
            r.use(used)


def _between_ages(q: LinkedQuestion, r: ReadingState, j: int, k: int) -> None:
    """`between 20 and 30 years old`, where only the date of birth is stored."""
    low, high, born = q.items[j].number, q.items[k].number, ages.born_here(q, r.entities)
    if born is None or not isinstance(low, int) or not isinstance(high, int) or not 0 < low <= high < 130:
        return
    add(q, r, ages.between_ages(born, low, high, q.today))
    _use_bounds(q, r, j, k)
    for used in range(k + 1, len(q.items)):
        if q.items[used].lower not in ("year", "years", "old", "of", "age"):
            break
        r.use(used)


def _column_after(q: LinkedQuestion, r: ReadingState, j: int) -> ColumnWord | None:
    k = j + 1
    while (
        k < len(q.items)
        and q.sorts[k] == "word"
        and q.items[k].lower in ("of", "in", "the", "dollars", "years", "points")
    ):
        k += 1
    if k < len(q.items) and q.sorts[k] == "column" and not q.items[k].is_keyword():
        column = r.column_of(k, "number")
        r.use(k)
        return column
    return None


def compare(
    q: LinkedQuestion, r: ReadingState, i: int, j: int, operator: Operator, target: Expression | None = None
) -> None:
    """Compare with the number at item j: the column before it, or the column or the counted table after it."""
    figure = q.items[j].number
    assert figure is not None
    r.use(j)
    unit = units.unit_after(q.tokens, q.items[j].end)
    if target is None and (aged := age_after(q, r, j)) is not None:
        target, unit = Expression(column=aged[0].key), ""
        join(q, r, Finding(aged[1]))
    if target is None:
        target = counted_or_summed(q, r, i, j)
        if target is not None:
            add(q, r, Condition(target, operator, (figure,)))
            return
        target = named_target(q, r, i, j)
    if (dated := _age_compared(q, r, j, operator, target, unit)) is not None:
        add(q, r, dated)
        return
    if target is None:
        guessed = amount_column(q, r.entities)
        if guessed is None:
            r.draft.doubt("number_without_column")
            r.draft.used.difference_update(range(q.items[j].start, q.items[j].end))
            return
        r.draft.doubt("amount_guessed")
        target = Expression(column=guessed.key)
    if r.functions and not r.in_head and target.column and not target.function:
        target = Expression(r.functions[0], target.column)
        r.functions = []
    if unit and target.column and target.function != "count":
        column_words = q.vocabulary.columns[target.column].words
        converted = units.converted(figure, unit, column_words)
        if converted is None:
            converted = units.assumed(figure, unit, column_words)
            if converted is None:
                r.draft.doubt("unit_unknown")
            else:
                r.draft.doubt("unit_assumed")
                r.draft.notes.append(f"{target.column[1]} is taken to be in minutes")
                figure = converted
        else:
            figure = converted
        if j + 1 < len(q.items):
            r.use(j + 1)
    add(q, r, Condition(target, operator, (figure,)))


def _age_compared(
    q: LinkedQuestion, r: ReadingState, j: int, operator: Operator, target: Expression | None, unit: str
) -> Condition | None:
    """`older than 60`, `members under 30`: an age where only the date of birth is stored."""
    column = q.vocabulary.columns[target.column] if target is not None and target.column else None
    figure = q.items[j].number
    if figure is None or (target is not None and target.function):
        return None
    if column is None and operator in FLIPPED and not unit:
        column, operator = ages.born_here(q, r.entities), FLIPPED[operator]
    condition = ages.of_age(column, operator, figure, q.today) if column is not None else None
    if condition is not None:
        for k in range(j + 1, min(len(q.items), j + 4)):
            if q.items[k].lower not in ("year", "years", "old", "of", "age"):
                break
            r.use(k)
    return condition


def _against_aggregate(
    q: LinkedQuestion, r: ReadingState, i: int, j: int, operator: str, target: Expression | None
) -> bool:
    """`above the average price`, `older than the average age`: compare with an aggregate over the whole table."""
    keyword = q.items[j].keyword
    assert keyword is not None
    function: Function = keyword.argument if keyword.kind == "agg" else {"desc": "max", "asc": "min"}[keyword.argument]  # type: ignore[assignment]
    if function == "sum" or operator not in (">", "<", ">=", "<=", "=", "<>"):
        return False
    column: ColumnWord | None = None
    k = j + 1
    while k < len(q.items) and q.sorts[k] == "word" and q.items[k].lower in ("of", "the", "all", "value", "for"):
        k += 1
    if k < len(q.items) and q.sorts[k] == "column":
        column = r.column_of(k, "number")
        r.use(k)
        k += 1
    if target is None:
        before = target_column(q, r, i)
        chosen = before or column
        if chosen is None and r.query.select and r.query.select[-1].column and not r.query.select[-1].function:
            chosen = q.vocabulary.columns[r.query.select[-1].column]
        if chosen is None or chosen.role == "id":
            chosen = amount_column(q, r.entities)
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
    add(q, r, Condition(target, operator, (), against=inner))  # type: ignore[arg-type]
    following = list(range(k, min(k + 4, len(q.items))))
    for x in following:
        if q.sorts[x] == "value":
            r.sink = inner.where
            break
        if q.sorts[x] == "table":
            r.use(x)
            r.entity(q.table_of(x))
    return True
