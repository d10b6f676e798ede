"""Comparisons: `more than 5 orders`, `older than 30`, `above the average price`, `between 1 and 3`.

In: a reading at a comparing phrase or a number. Out: conditions on columns, counts or aggregates.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from agent.knowledge.vocabulary import ColumnWord
from agent.parser import conditions, periods, persons, units
from agent.parser.conditions import FLIPPED, counted_or_summed, named_target, target_column
from agent.parser.interpretation import OPPOSITE, ColumnKey, Condition, Expression, Function, Operator, Query
from agent.parser.measures import amount_column, property_of
from agent.parser.persons import called_person
from agent.parser.question import LinkedQuestion
from agent.parser.state import Changes, Context, Finding, Findings
from agent.parser.time_conditions import between_periods, in_period
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


def comparison(q: LinkedQuestion, c: Context, i: int) -> Findings:
    """`more than 5 orders`, `older than 30`, `above the average price`, `between 1 and 3`, `after March 2020`."""

    def size() -> int:
        """The number of conditions, to detect whether a phrase added one."""
        return sum(len(clause) for clause in c.sink) + len(c.query.having)

    before = (size(), c.negated)
    yield from _compare_at(q, c, i)
    if (size(), c.negated) == before and q.items[i].lower not in _WEAK:
        yield Finding(doubts=("comparison_open",))


_WEAK = word_set("over under equal equals bigger smaller higher lower larger greater above below beyond less")
"""Words that also occur without a comparison (`over the years`)."""


def _compare_at(q: LinkedQuestion, c: Context, i: int) -> Findings:
    operator_and_target = _operator_meant(q, c, i)
    if operator_and_target is None:
        yield Finding(doubts=("adjective_without_column",))
        return
    operator, target = operator_and_target
    named_before = target_column(q, c, i)
    for j in range(i + 1, min(len(q.items), i + 7)):
        sort = q.sorts[j]
        extreme = q.items[j].is_keyword("sup") and q.items[j].lower in ("lowest", "highest", "smallest", "largest")
        finding = _against_aggregate(q, c, i, j, operator, target) if q.items[j].is_keyword("agg") or extreme else None
        finding = finding or _against_period(q, c, i, j, operator)
        if finding is not None:
            yield finding
            return
        if sort == "number":
            if operator == "between":
                yield _between(q, c, i, j)
            else:
                from_then = operator == "after" and _includes_start(q.items[i].lower)
                signs = {"after": ">=" if from_then else ">", "before": "<"}
                plain: Operator = signs.get(operator, operator)  # type: ignore[assignment]
                yield compare(q, c, i, j, plain, target)
            return
        if sort in ("value", "literal") and operator in ("<>", "="):
            yield Finding(changes={"negated": c.negated != (operator == "<>")})
            return
        if sort == "word" or q.items[j].is_keyword("neg", "relative"):
            continue
        if sort == "column" and target is None:
            # `the year of 2006`: the column is compared with the number after it, behind function words alone
            following = range(j + 1, min(len(q.items), j + 4))
            told = next((k for k in following if q.items[k].lower not in ("of", "the", "is", "in")), None)
            column = c.column_of(j) if told is not None and q.sorts[told] == "number" else None
            if column is not None and (column.role == "year" or column.is_figure):
                yield Finding((j,), changes={"last_column": (j, column)})
                continue
        if sort == "column" and target is None and q.items[j + 1 : j + 2] and q.items[j + 1].lower == "than":
            target = Expression(column=c.column_of(j, "number").key)  # `a higher salary than their manager`
            yield Finding((j, j + 1))
            continue
        left = target or (Expression(column=named_before.key) if named_before is not None else None)
        if sort == "column" and (other := conditions.against_reference(q, j, operator, left)) is not None:
            yield other
        elif sort in ("table", "column", "measure"):
            yield _against_named(q, c, j, operator, named_before)
        return


def _operator_meant(q: LinkedQuestion, c: Context, i: int) -> tuple[str, Expression | None] | None:
    """The operator of the phrase and the column that its adjective refers to; None when there is no such column."""
    keyword = q.keyword(i)
    if keyword.adjective is None:
        return keyword.argument, None
    first = q.items[i].lower.split()[0]
    if first in _SIZES and target_column(q, c, i) is not None:
        return _SIZES[first], None
    property_column = property_of(q, c, keyword.adjective, i)
    if property_column is None:
        number = next((j for j in range(i + 1, min(len(q.items), i + 3)) if q.sorts[j] == "number"), None)
        said = number is not None and _column_after(q, number) is not None  # `bigger than 2 carats`
        return (_SIZES.get(first, keyword.argument), None) if said else None
    column, sign = property_column
    return (keyword.argument if sign > 0 else FLIPPED[keyword.argument]), Expression(column=column.key)


_SIZES = {"larger": ">", "bigger": ">", "higher": ">", "longer": ">", "smaller": "<", "shorter": "<"}
"""Adjectives that compare the column named before them."""


def _against_period(q: LinkedQuestion, c: Context, i: int, j: int, operator: str) -> Finding | None:
    """`after March 2020`, `between 2010 and 2012`: restrict a date by the period at item j, if one is meant."""
    if operator not in _PERIOD_WORDS and operator not in ("between", "<>"):
        return None
    period = periods.period_at(q.tokens, q.items[j].start, q.today)
    named = target_column(q, c, i, 6)
    if named is not None and not named.numeric and named.role not in ("date", "year"):
        named = None
    direct = c.last_column is not None and c.last_column[0] == j - 1 and not q.items[j - 1].is_keyword("cmp")
    figure = direct and named is not None and named.is_figure
    if period is None or figure:
        return None
    dated = named is not None and named.role in ("date", "year")
    years = operator == "between" and named is None
    if not (operator in ("after", "before") or years or period.year_only is None or dated):
        return None
    if operator == "between":
        return between_periods(q, c, i, j, period)
    word, phrase = _PERIOD_WORDS.get(operator), q.items[i].lower
    if word == "after" and _includes_start(phrase):
        word = "since"
    elif word == "before" and (phrase == "until" or phrase.endswith("or before")):
        word = "until"
    return in_period(q, c, j, period, word) if word is not None else None


def _includes_start(phrase: str) -> bool:
    """`since 2010`: in that year, too."""
    return phrase in ("since", "starting from", "from the year") or phrase.endswith("or after")


def _against_named(q: LinkedQuestion, c: Context, j: int, operator: str, before: ColumnWord | None) -> Finding:
    """`different from the owner` negates a value, `budget above cost` and `started later than planned` compare two
    columns."""
    if operator == "<>":
        return Finding(changes={"negated": True})
    if q.sorts[j] != "column" or before is None:
        return Finding()
    left = Expression(column=before.key)
    if before.role == "date" and operator in _SIGNS_OF_TIME:
        mention = q.items[j].mention
        named = mention.columns if mention is not None else ()
        dates = (c for c, _ in named if c.role == "date" and c.table == before.table and c != before)
        other = next(dates, None)
        sign = _SIGNS_OF_TIME[operator]
    elif before.numeric and operator in OPPOSITE:
        figure = c.column_of(j, "number")
        other = figure if figure.numeric and figure.role != "id" and figure.key != before.key else None
        sign = operator
    else:
        return Finding()
    if other is None:
        return Finding()
    return Finding((j,), conditions=(Condition(left, sign, (Expression(column=other.key),)),))


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


def _between(q: LinkedQuestion, c: Context, i: int, j: int) -> Finding:
    k = next((k for k in range(j + 1, min(j + 4, len(q.items))) if q.sorts[k] == "number"), None)
    if k is None:
        return Finding()
    after = _column_after(q, k) if (column := target_column(q, c, i)) is None else None
    if after is not None:
        column = c.column_of(after, "number")
    if column is None:
        ages_meant = Finding()  # `between 20 and 30 years old`, where only the date of birth is stored
        low, high, born = q.items[j].number, q.items[k].number, persons.born_here(q, c.entities)
        if born is not None and isinstance(low, int) and isinstance(high, int) and 0 < low <= high < 130:
            used = (*_bounds(q, j, k), *_words_of_age(q, k + 1, len(q.items)))
            ages_meant = Finding(used, conditions=(persons.between_ages(born, low, high, q.today),))
        guessed = amount_column(q, c.entities) if ages_meant == Finding() else None
        if guessed is None or called_person(q.vocabulary, guessed.table):
            return ages_meant
        return replace(_within(q, guessed, j, k), doubts=("amount_guessed",))
    return _within(q, column, j, k, () if after is None else (after,))


def _within(q: LinkedQuestion, column: ColumnWord, j: int, k: int, named: tuple[int, ...] = ()) -> Finding:
    """The column lies between the numbers at items j and k."""
    bounds = (q.items[j].number, q.items[k].number)
    return Finding(
        (*_bounds(q, j, k), *named), conditions=(Condition(Expression(column=column.key), "between", bounds),)
    )


def _bounds(q: LinkedQuestion, j: int, k: int) -> list[int]:
    """The two numbers, and the word that joins them; no other word between them."""
    return [x for x in range(j, k + 1) if x in (j, k) or q.items[x].lower in ("and", "to", "years", "year")]


_OF_AGE = word_set("year years old of age")


def _words_of_age(q: LinkedQuestion, start: int, end: int) -> Iterator[int]:
    """The items from `start` on that say `years old` or `years of age`."""
    return takewhile(lambda k: q.items[k].lower in _OF_AGE, range(start, end))


def _column_after(q: LinkedQuestion, j: int) -> int | None:
    """The item after the number at j that names its column: `between 5 and 10 dollars of revenue`."""
    linking = ("of", "in", "the", "dollars", "years", "points")
    k = j + 1
    while q.sort(k) == "word" and q.items[k].lower in linking:
        k += 1
    return k if q.sort(k) == "column" else None


def compare(
    q: LinkedQuestion, c: Context, i: int, j: int, operator: Operator, target: Expression | None = None
) -> Finding:
    """Compare with the number at item j: the column before it, or the column or the counted table after it."""
    figure = q.items[j].number
    assert figure is not None
    named, unit = Finding(), units.unit_after(q.tokens, q.items[j].end)
    if target is None and (aged := age_after(q, c, j)) is not None:
        target, unit, named = Expression(column=aged[0].key), "", Finding(aged[1])
    if target is None:
        counted = counted_or_summed(q, c, i, j)
        if counted is not None:
            target, named = counted
            return replace(named, used=(j, *named.used), conditions=(Condition(target, operator, (figure,)),))
        target, named = named_target(q, c, i, j) or (None, named)
    named = replace(named, used=(j, *named.used))
    if (by_birth := _age_compared(q, c, j, operator, target, unit)) is not None:
        condition, words = by_birth
        return replace(named, used=(*named.used, *words), conditions=(condition,))
    described = [x.left.column[0] for x in c.query.conditions() if x.left.column]  # `cakes under 4 euros`
    guessed = amount_column(q, c.entities or described) if target is None else None
    if guessed is not None and not called_person(q.vocabulary, guessed.table):  # `employees over 60` is no salary
        target, named = Expression(column=guessed.key), replace(named, doubts=("amount_guessed",))
    if target is None and (likely := _figure_around(q, c, figure)) is not None:
        target, named = Expression(column=likely.key), replace(named, doubts=("amount_guessed",))
    # nor is a date compared with a number that is no year: `older than 60`, where no age is stored
    dated = target is not None and (column := q.plain_column(target)) is not None and column.role == "date"
    if target is None or (dated and not _FIRST_YEAR <= figure <= dt.MAXYEAR):
        return replace(named, unused=(j,), doubts=("number_without_column",))
    if (aggregated := _aggregated(c, target)) is not None:
        target, named = aggregated, replace(named, changes={**named.changes, "functions": []})
    if unit and target.column and target.function != "count":
        figure, named = _in_unit_of(q, figure, unit, target.column, named)
        named = replace(named, used=(*named.used, *range(j + 1, min(j + 2, len(q.items)))))
    return replace(named, conditions=(Condition(target, operator, (figure,)),))


def _figure_around(q: LinkedQuestion, c: Context, figure: float) -> ColumnWord | None:
    """`cities over 1 million`: the only figure of the rows whose values lie around the number."""
    table = c.main_entity
    if not table:
        return None
    around = []
    for column in q.vocabulary.by_table[table]:
        if column.is_figure and not column.foreign:
            facts = q.values.facts(*column.key)
            low, high = facts.least, facts.greatest
            if isinstance(low, int | float) and isinstance(high, int | float) and low <= figure <= high:
                around.append(column)
    return around[0] if len(around) == 1 else None


def _in_unit_of(
    q: LinkedQuestion, figure: float, unit: str, column: ColumnKey, named: Finding
) -> tuple[float, Finding]:
    """The number in the unit of the column, with a doubt where the column does not say its unit."""
    told = q.vocabulary.columns[column]
    words = (*told.words, told.unit) if told.unit else told.words
    converted = units.converted(figure, unit, words)
    if converted is not None:
        return converted, named
    assumed = units.assumed(figure, unit, words)
    if assumed is None:
        return figure, replace(named, doubts=(*named.doubts, "unit_unknown"))
    note = f"{column[1]} is taken to be in minutes"
    return assumed, replace(named, doubts=(*named.doubts, "unit_assumed"), notes=(note,))


def _aggregated(c: Context, target: Expression) -> Expression | None:
    """`an average price above 5`: the aggregate asked for before is compared."""
    waiting = c.functions and not c.in_head and target.column and not target.function
    return Expression(c.functions[0], target.column) if waiting else None


_FIRST_YEAR = 1000


def _age_compared(
    q: LinkedQuestion, c: Context, j: int, operator: Operator, target: Expression | None, unit: str
) -> tuple[Condition, Iterator[int]] | None:
    """`older than 60`, `members under 30`: an age where only the date of birth is stored, and the items that say so."""
    column = q.vocabulary.columns[target.column] if target is not None and target.column else None
    figure = q.items[j].number
    if figure is None or (target is not None and target.function):
        return None
    if column is None and operator in FLIPPED and not unit:
        column, operator = persons.born_here(q, c.entities), FLIPPED[operator]
    condition = persons.of_age(column, operator, figure, q.today) if column is not None else None
    return (condition, _words_of_age(q, j + 1, min(len(q.items), j + 4))) if condition is not None else None


def _against_aggregate(
    q: LinkedQuestion, c: Context, i: int, j: int, operator: str, target: Expression | None
) -> Finding | None:
    """`above the average price`, `older than the average age`: compare with an aggregate over the whole table."""
    keyword = q.keyword(j)
    function: Function = keyword.argument if keyword.kind == "agg" else {"desc": "max", "asc": "min"}[keyword.argument]  # type: ignore[assignment]
    if function == "sum" or operator not in (">", "<", ">=", "<=", "=", "<>"):
        return None
    k = j + 1
    while q.sort(k) == "word" and q.items[k].lower in ("of", "the", "all", "value", "for"):
        k += 1
    named = q.sort(k) == "column"
    column = c.column_of(k, "number") if named else None
    if target is None:
        chosen = target_column(q, c, i) or column or q.plain_column(c.query.select[-1] if c.query.select else None)
        if chosen is None or chosen.role == "id":
            chosen = amount_column(q, c.entities)
        if chosen is None:
            return None
        target = Expression(column=chosen.key)
    changes: Changes = {}
    if (aggregated := _aggregated(c, target)) is not None:
        target, changes = aggregated, {"functions": []}
    inner_column = column.key if column is not None else target.column
    if inner_column is None:
        return None
    inner = Query(select=[Expression(function, inner_column)])
    following = range(k + named, min(k + named + 4, len(q.items)))
    stored = next((x for x in following if q.sorts[x] == "value"), None)
    tables = [x for x in following if q.sorts[x] == "table" and (stored is None or x < stored)]
    if stored is not None:
        changes["sink"] = inner.where
    return Finding(
        (j, *((k,) if named else ()), *tables),
        tuple(q.table_of(x) for x in tables),
        conditions=(Condition(target, operator, (), against=inner),),  # type: ignore[arg-type]
        changes=changes,
    )
