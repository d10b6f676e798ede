"""Clauses: what restricts, ranks or orders: values, comparisons, periods, patterns, superlatives, sort orders.

Each function takes the `Reader` at an item, adds to its query what the words say, and marks the words as explained.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from agent.models.offline import periods
from agent.models.offline.interpretation import Condition, Expression, Function, Operator, Query
from agent.models.offline.lexicon import Adjective, measures, word_set
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
_LINKS = word_set(
    "is are was were be of the a an than to as equal named called with by in at on for value : = ( that has "
    "have from its their all any"
)
_AMOUNTS = (("amount",), ("total", "amount"), ("total",), ("price",), ("value",), ("cost",), ("salary",), ("revenue",))


def add(r: Reader, condition: Condition) -> None:
    """Add a condition; joined to the last one by OR where the words say so."""
    if r.negated:
        negated = _OPPOSITE.get(condition.operator)
        if negated is not None:
            condition = Condition(condition.left, negated, condition.values, condition.against, condition.half_open)
        if not r.excepting:
            r.negated = False
    if condition.left.function:
        r.query.having.append(condition)
        return
    previous = r.sink[-1] if r.sink else None
    last = previous[-1] if previous else None
    same = isinstance(last, Condition) and last.left == condition.left and last.operator == condition.operator
    equal = condition.operator in ("=", "like")
    if previous is not None and (r.or_next or (same and equal and not r.both and not r.query.intersect)):
        r.sink[-1] = (*previous, condition)
        if not r.or_next:
            r.draft.doubt("and_read_as_or")
    elif previous is not None and same and equal and r.both:
        r.sink.append((condition,))
        r.draft.doubt("both_same_column")
    else:
        r.sink.append((condition,))
    r.or_next = False
    r.in_head = r.in_head and not (r.query.select or r.entities)


def condition_follows(r: Reader, i: int) -> bool:
    """Whether the column at item i is compared with something in the words that follow."""
    item = r.items[i]
    mention = item.mention
    assert mention is not None
    keys = {c.key for c, _ in mention.columns}
    for j in range(i + 1, min(len(r.items), i + 7)):
        other, sort = r.items[j], r.sorts[j]
        if other.is_keyword("cmp", "cmp_adj", "like"):
            return True
        if other.is_keyword("neg") or (
            other.is_keyword("relative") and other.lower in ("is", "are", "was", "were", "named", "called")
        ):
            continue
        if other.is_keyword("either", "both"):
            continue
        if sort == "literal" or sort == "number":
            return True
        if sort == "value":
            assert other.mention is not None
            direct = all(x.lower in _LINKS for x in r.items[i + 1 : j])
            return any((h.table, h.column) in keys for h in other.mention.values) or (direct and not r.in_head)
        if (sort == "word" and other.lower in _LINKS) or other.lower in (":", "="):
            continue
        return False
    return False


def _target(r: Reader, i: int, reach: int = 5) -> ColumnWord | None:
    """The column that the clause at item i speaks of, when it was named just before."""
    if r.last_column is None:
        return None
    at, column = r.last_column
    if i - at > reach:
        return None
    if (
        any(
            x.is_keyword("and", "relative") and x.lower in ("and", "who", "that", "which", "whose")
            for x in r.items[at + 1 : i]
        )
        and r.in_head
    ):
        return None
    return column


def value(r: Reader, i: int) -> None:
    """A stored value restricts the rows to those that have it."""
    mention = r.items[i].mention
    assert mention is not None
    near = r.near_tables(i)
    target = _target(r, i)
    if target is None and i + 1 < len(r.items) and r.sorts[i + 1] == "column":
        following = r.items[i + 1].mention
        assert following is not None
        hits = {(h.table, h.column) for h in mention.values}
        for column, score in following.columns:
            if column.key in hits and score >= 0.7:
                target = column
                if not condition_follows(r, i + 1) or True:
                    r.use(i + 1)
                break
    hit = r.choose_value(mention.values, near, target)
    if target is not None and (hit.table, hit.column) != target.key:
        r.draft.doubt("value_other_column")
    if hit.score < 0.85:
        r.draft.doubt("value_fuzzy", 1.0 if hit.score < 0.7 else 0.5)
    rivals = {(h.table, h.column) for h in mention.values if h.score >= hit.score - 0.01} - {(hit.table, hit.column)}
    if rivals and target is None:
        r.draft.doubt("value_ambiguous")
    r.use(i)
    same = {h.value for h in mention.values if (h.table, h.column) == (hit.table, hit.column) and h.score == hit.score}
    left = Expression(column=(hit.table, hit.column))
    text = mention.text
    if len(same) > 1 and hit.score < 0.9:
        add(r, Condition(left, "like", (f"%{text}%",)))
    else:
        add(r, Condition(left, "=", (hit.value,)))
    word = r.vocabulary.columns.get((hit.table, hit.column))
    if word is not None:
        r.last_column = (i, word)


def literal(r: Reader, i: int) -> None:
    """A quoted text: a stored value where there is one, else compared as it stands with the column just named."""
    mention = r.items[i].mention
    assert mention is not None
    found = periods.period_at(r.tokens, r.items[i].start, r.today)
    if found is not None and not mention.values:
        _add_period(r, i, found, "=")
        return
    if mention.values:
        value(r, i)
        return
    column = _target(r, i, 6)
    if column is None:
        r.draft.doubt("literal_without_column")
        return
    r.use(i)
    r.draft.doubt("literal_unknown")
    stored = r.values.find(mention.text, fuzzy=True)
    partial = [h for h in stored if (h.table, h.column) == column.key]
    if partial:
        add(r, Condition(Expression(column=column.key), "=", (partial[0].value,)))
    else:
        add(r, Condition(Expression(column=column.key), "=", (mention.text,)))


def pattern(r: Reader, i: int) -> None:
    """`contains "x"`, `starts with x`."""
    item = r.items[i]
    assert item.keyword is not None
    argument = item.keyword.argument
    for j in range(i + 1, min(i + 5, len(r.items))):
        other = r.items[j]
        if r.sorts[j] in ("literal", "value", "word", "column", "table", "number") and (
            r.sorts[j] != "word"
            or other.lower
            not in _LINKS | {"word", "letter", "substring", "string", "letters", "either", "phrase", "prefix"}
        ):
            break
    else:
        return
    text = " ".join(t.text for t in r.tokens[other.start : other.end])
    column = _target(r, i, 8)
    if column is None and r.entities:
        shown = r.shown(r.entities[-1])
        column = shown[0] if shown else None
        r.draft.doubt("pattern_column_guessed")
    if column is None:
        return
    if item.lower in ("like", "contain", "contains", "containing", "includes") and column.numeric:
        return
    r.use(j)
    shape = {"contains": f"%{text}%", "starts": f"{text}%", "ends": f"%{text}"}[argument]
    add(r, Condition(Expression(column=column.key), "like", (shape,)))
    r.last_column = (j, column)


def number(r: Reader, i: int) -> None:
    """A number without a comparison: the value of the column just named, a year, or `5 or more`."""
    item = r.items[i]
    if i + 1 < len(r.items) and r.items[i + 1].is_keyword("post"):
        r.use(i + 1)
        keyword = r.items[i + 1].keyword
        assert keyword is not None
        _compare(r, i, i, keyword.argument)  # type: ignore[arg-type]
        return
    if i + 2 < len(r.items) and r.sorts[i + 1] in ("table", "column", "word") and r.items[i + 2].is_keyword("post"):
        keyword = r.items[i + 2].keyword
        assert keyword is not None
        r.use(i + 2)
        _compare(r, i, i, keyword.argument)  # type: ignore[arg-type]
        return
    column = _target(r, i)
    if column is not None and not (column.role == "date" and r.tokens[item.start].text.isdigit()):
        if any(x.is_keyword("sup", "sup_adj") for x in r.items[max(0, i - 1) : i]):
            return
        r.use(i)
        exact: object = item.number
        if not column.numeric:
            exact = r.tokens[item.start].text
        add(r, Condition(Expression(column=column.key), "=", (exact,)))
        return
    if period(r, i):
        return
    following = i + 1 if i + 1 < len(r.items) else None
    if following is not None and r.sorts[following] == "table" and not r.in_head and item.number is not None:
        _compare(r, i, i, "=")
        return
    hits = r.values.find(r.tokens[item.start].text)
    if hits and not r.in_head and item.kind == "number" and r.tokens[item.start].text.isdigit():
        hit = r.choose_value(hits, r.near_tables(i), None)
        r.use(i)
        r.draft.doubt("value_ambiguous")
        add(r, Condition(Expression(column=(hit.table, hit.column)), "=", (hit.value,)))
        return
    if item.lower in ("one", "1") or (
        r.in_head and following is not None and r.sorts[following] in ("table", "column") and not r.query.limit
    ):
        if item.lower not in ("one", "1") and item.number is not None and isinstance(item.number, int) and r.in_head:
            r.query.limit = item.number
        r.use(i)


def period(r: Reader, i: int) -> bool:
    """`in March 2024`, `last month`: restricts the date column of the tables at hand."""
    found = periods.period_at(r.tokens, r.items[i].start, r.today)
    if found is None:
        return False
    if found.year_only is not None and not found.relative and not _year_here(r, i):
        return False
    return _add_period(r, i, found, "=")


def _year_here(r: Reader, i: int) -> bool:
    before = r.items[i - 1].lower if i else ""
    return (
        before
        in (
            "in",
            "of",
            "year",
            "for",
            "during",
            "from",
            "since",
            "the",
            "by",
            "and",
            "or",
            ",",
            "to",
            "until",
            "on",
            "year is",
            "is",
        )
        or i == 0
    )


def _add_period(r: Reader, i: int, found: periods.Period, operator: str) -> bool:
    column = _date_column(r, i)
    if column is None:
        return False
    end = r.items[i].start + found.tokens
    for j in range(i, len(r.items)):
        if r.items[j].start < end:
            r.use(j)
    if found.relative:
        r.draft.notes.append(f"{found.words} is taken from today's date")
    expression = Expression(column=column.key)
    if column.role == "year":
        year: object = found.start.year if column.numeric else str(found.start.year)
        if found.year_only is None:
            r.draft.doubt("period_cut_to_year")
        simple: Operator = {"=": "=", "after": ">", "since": ">=", "before": "<", "until": "<="}[operator]  # type: ignore[assignment]
        add(r, Condition(expression, simple, (year,)))
    elif operator == "=":
        add(r, Condition(expression, "between", (found.start, found.end), half_open=True))
    elif operator in ("after", "since"):
        bound = found.start if operator == "since" else found.end
        add(r, Condition(expression, ">=", (bound,)))
    else:
        bound = found.end if operator == "until" else found.start
        add(r, Condition(expression, "<", (bound,)))
    r.last_column = (i, column)
    return True


def _date_column(r: Reader, i: int) -> ColumnWord | None:
    """The date or year column that a period means here: the one just named, else the best of the tables at hand."""
    column = _target(r, i, 6)
    if column is not None and column.role in ("date", "year"):
        return column
    before = {t.stem for t in r.tokens[max(0, r.items[i].start - 6) : r.items[i].start] if t.kind == "word"}
    all_words = {t.stem for t in r.tokens if t.kind == "word"}
    near = r.near_tables(i)
    tables = list(
        dict.fromkeys(
            [
                *reversed(r.entities),
                *r.named,
                *(e.column[0] for e in r.query.select if e.column),
                *(c[0].left.column[0] for c in r.query.where if isinstance(c[0], Condition) and c[0].left.column),
            ]
        )
    )
    candidates: list[tuple[float, ColumnWord]] = []
    for table, columns in r.vocabulary.by_table.items():
        gap = min(r.graph.distance(table, t) for t in tables) if tables else 1.0
        if gap > 2:
            continue
        for word in columns:
            if word.role not in ("date", "year"):
                continue
            from agent.models.offline.tokens import root, stem

            hinted = sum(stem(w) in before or root(w) in {root(b) for b in before} for w in word.words)
            hinted_far = sum(stem(w) in all_words for w in word.words)
            score = 2.0 * hinted + 0.5 * hinted_far + near.get(table, 0.0) * 2 - 1.2 * gap
            score += 0.3 * bool(
                set(word.words) & {"order", "created", "start", "sale", "invoice", "payment", "transaction"}
            )
            score -= 0.4 * bool(
                set(word.words)
                & {
                    "birth",
                    "end",
                    "update",
                    "updated",
                    "modified",
                    "last",
                    "valid",
                    "required",
                    "due",
                    "effective",
                    "expiry",
                    "load",
                }
            )
            score += 0.1 if word.words in (("date",), ("year",)) else 0.0
            candidates.append((score, word))
    if not candidates:
        return None
    candidates.sort(key=lambda c: -c[0])
    if len(candidates) > 1 and candidates[1][0] > candidates[0][0] - 0.25:
        r.draft.doubt("date_ambiguous")
    return candidates[0][1]


def comparison(r: Reader, i: int) -> None:
    """`more than 5 orders`, `older than 30`, `above the average price`, `between 1 and 3`, `after March 2020`."""
    item = r.items[i]
    assert item.keyword is not None
    operator = item.keyword.argument
    target = None
    if item.keyword.adjective is not None:
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
            since = item.lower in ("since", "starting from", "from the year")
            until = item.lower == "until"
            period_found = periods.period_at(r.tokens, r.items[j].start, r.today)
            named = _target(r, i, 6)
            if period_found is not None and (
                operator in ("after", "before")
                or period_found.year_only is None
                or (named is not None and named.role in ("date", "year"))
            ):
                if operator == "between":
                    if _between_periods(r, i, j, period_found):
                        return
                else:
                    word = _PERIOD_WORDS.get(operator)
                    if (since and word == "after") or (until and word == "before"):
                        word = "since" if since else "until"
                    if word and _add_period(r, j, period_found, word):
                        return
        if sort == "number":
            if operator == "between":
                _between(r, i, j)
                return
            plain: Operator = {"after": ">", "before": "<"}.get(operator, operator)  # type: ignore[assignment]
            _compare(r, i, j, plain, target)
            return
        if sort in ("value", "literal") and operator in ("<>", "="):
            r.negated = operator == "<>"
            return
        if sort == "word" or r.items[j].is_keyword("neg", "relative"):
            continue
        if sort in ("table", "column", "measure"):
            if operator == "<>":
                r.negated = True
            return
        break


def _between(r: Reader, i: int, j: int) -> None:
    for k in range(j + 1, min(j + 4, len(r.items))):
        if r.sorts[k] == "number":
            low, high = r.items[j].number, r.items[k].number
            column = _target(r, i) or _column_after(r, k)
            if column is None:
                return
            for used in range(j, k + 1):
                r.use(used)
            add(r, Condition(Expression(column=column.key), "between", (low, high)))
            return


def _between_periods(r: Reader, i: int, j: int, first: periods.Period) -> bool:
    end = r.items[j].start + first.tokens
    for k in range(j + 1, min(len(r.items), j + 6)):
        if r.items[k].start < end:
            continue
        second = periods.period_at(r.tokens, r.items[k].start, r.today)
        if second is None:
            continue
        column = _date_column(r, i)
        if column is None:
            return False
        stop = r.items[k].start + second.tokens
        for used in range(j, len(r.items)):
            if r.items[used].start < stop:
                r.use(used)
        expression = Expression(column=column.key)
        if column.role == "year":
            years = (first.start.year, second.start.year)
            add(r, Condition(expression, "between", years if column.numeric else tuple(str(y) for y in years)))
        else:
            add(r, Condition(expression, "between", (first.start, second.end), half_open=True))
        return True
    return False


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


def _compare(r: Reader, i: int, j: int, operator: Operator, target: Expression | None = None) -> None:
    """Compare with the number at item j: the column before, the column or the counted table after."""
    figure = r.items[j].number
    assert figure is not None
    r.use(j)
    if target is None:
        k = j + 1
        while (
            k < len(r.items)
            and r.sorts[k] == "word"
            and r.items[k].lower in ("of", "different", "distinct", "the", "in")
        ) or (k < len(r.items) and r.items[k].is_keyword("distinct")):
            k += 1
        after = r.sorts[k] if k < len(r.items) else ""
        before = _target(r, i)
        counted = _counted_before(r, i)
        if counted is not None:
            target = Expression("count", table=counted)
        elif before is not None and (before.numeric or after not in ("table", "column")):
            target = Expression(column=before.key)
        elif after == "table":
            table = r._table_of(k)
            r.use(k)
            if r.negated and not r.excepting and operator in ("=",):
                r.negated = False
            target = Expression("count", table=table)
            r.entity(table)
        elif after == "column":
            column = r.column_of(k)
            r.use(k)
            if column.numeric and column.role != "id":
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
        guessed = _amount_column(r)
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
    add(r, Condition(target, operator, (figure,)))


def _counted_before(r: Reader, i: int) -> str | None:
    """`whose number of orders is more than 5`: the count that the comparison speaks of."""
    for j in range(i - 1, max(-1, i - 6), -1):
        if r.items[j].is_keyword("count") and r.counting and not r.in_head:
            for k in range(j + 1, i):
                if r.sorts[k] == "table":
                    r.counting = ""
                    return r._table_of(k)
    return None


def _amount_column(r: Reader) -> ColumnWord | None:
    for table in [*reversed(r.entities), *r.named]:
        for words in _AMOUNTS:
            for column in r.vocabulary.by_table[table]:
                if column.words[-len(words) :] == words and column.numeric:
                    return column
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
        before = _target(r, i)
        chosen = before or column
        if chosen is None and r.query.select and r.query.select[-1].column and not r.query.select[-1].function:
            chosen = r.vocabulary.columns[r.query.select[-1].column]
        if chosen is None:
            chosen = _amount_column(r)
            if chosen is None:
                return False
        target = Expression(column=chosen.key)
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
            r.entity(r._table_of(x))
    return True


def property_of(r: Reader, adjective: Adjective, i: int) -> tuple[ColumnWord, int] | None:
    """The column that a gradable adjective speaks of, and +1 where it grows with the adjective."""
    near = r.near_tables(i)
    anchors = list(dict.fromkeys([*r.entities, *r.named, *near]))
    best: tuple[float, ColumnWord, int] | None = None
    for table, columns in r.vocabulary.by_table.items():
        if anchors:
            gap = min(r.graph.distance(table, a) for a in anchors)
            if gap > 2:
                continue
        else:
            gap = 0.0
        for column in columns:
            if column.foreign or column.role in ("name", "flag"):
                continue
            for rank, (words, sign) in enumerate(adjective.properties):
                exact = column.words == words
                if (
                    exact
                    or column.words[-len(words) :] == words
                    or (len(words) > 1 and set(words) <= set(column.words))
                    or set(column.words) - set(column.owner) == set(words)
                ):
                    score = (1.0 if exact else 0.75) - 0.05 * rank - 0.45 * gap + near.get(table, 0.0)
                    if not column.numeric and column.role not in ("date", "year"):
                        score -= 0.25
                    if best is None or score > best[0]:
                        best = (score, column, sign)
                    break
    return (best[1], best[2]) if best else None


def measure(r: Reader, name: str) -> Expression | None:
    """The columns that hold a business measure: one column, or a price and a quantity of one table."""
    known = measures().get(name)
    if known is None:
        return None
    anchors = [*r.entities, *r.named]
    best: tuple[float, Expression] | None = None

    def offer(score: float, table: str, expression: Expression) -> None:
        nonlocal best
        if anchors:
            gap = min(r.graph.distance(table, a) for a in anchors)
            if gap == float("inf"):
                return
            score -= 0.25 * gap
        if set(name.split()) & set(r.vocabulary.tables[table].words):
            score += 0.4
        if r.vocabulary.tables[table].table.kind == "view":
            score -= 0.3
        if best is None or score > best[0]:
            best = (score, expression)

    for table, columns in r.vocabulary.by_table.items():
        numeric = [c for c in columns if c.numeric and c.role == "number"]
        for rank, words in enumerate(known.columns):
            for column in numeric:
                if column.words == words:
                    offer(1.0 - 0.04 * rank, table, Expression(column=column.key))
                elif column.words[-len(words) :] == words and rank < 6:
                    offer(0.8 - 0.04 * rank, table, Expression(column=column.key))
        price = next((c for w in known.prices for c in numeric if c.words[-len(w) :] == w), None)
        quantity = next((c for w in known.quantities for c in numeric if c.words[-len(w) :] == w), None)
        if price is not None and quantity is not None and price is not quantity:
            offer(0.9, table, Expression(column=price.key, factor=quantity.key))
    return best[1] if best else None


def superlative(r: Reader, i: int) -> None:
    """`the oldest student`, `top 5 by revenue`, `the most orders`, `the most common city`."""
    item = r.items[i]
    keyword = item.keyword
    assert keyword is not None
    descending = keyword.argument != "asc"
    limit, explicit = 1, False
    for near in (i - 1, i + 1):
        if (
            0 <= near < len(r.items)
            and r.sorts[near] == "number"
            and isinstance(r.items[near].number, int)
            and not r.tokens[r.items[near].start].text.startswith("-")
        ):
            year_like = r.tokens[r.items[near].start].text.isdigit() and int(r.items[near].number or 0) > 1500
            if not year_like:
                limit, explicit = max(1, int(r.items[near].number or 1)), True
                r.use(near)
                break
    offset = 0
    if i > 0 and r.items[i - 1].lower in ("second", "third", "fourth", "2nd", "3rd"):
        offset = {"second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3}[r.items[i - 1].lower]
        r.draft.used.update(range(r.items[i - 1].start, r.items[i - 1].end))
    if keyword.kind == "sup_adj":
        following = r._next(i)
        if following is not None and r.sorts[following] == "column" and following <= i + 2:
            named = r.column_of(following, "number")
            if named.numeric and named.role in ("number", "year"):
                descending = keyword.argument.split()[-1] not in (
                    "smallest",
                    "shortest",
                    "cheapest",
                    "youngest",
                    "lightest",
                    "slowest",
                    "lowest",
                ) and not keyword.argument.startswith("least")
                if keyword.argument in ("earliest",):
                    descending = False
                _rank_by_column(r, i, following, descending, limit, offset, explicit)
                return
        assert keyword.adjective is not None
        if r.sorts[following] == "table" if following is not None else False:
            r.entity(r._table_of(following))  # type: ignore[arg-type]
        found = property_of(r, keyword.adjective, i)
        if found is None:
            r.draft.doubt("adjective_without_column")
            return
        column, sign = found
        r.query.order.append((Expression(column=column.key), sign > 0))
        r.query.limit, r.query.offset = limit, offset
        return
    if keyword.kind == "common":
        following = r._next(i)
        if following is None:
            pass
        elif r.sorts[following] == "column":
            column = r.column_of(following)
            r.use(following)
            if not any(e.column == column.key for e in r.query.select):
                r.query.select.append(Expression(column=column.key))
        elif r.sorts[following] == "table":
            r.use(following)
            r.entity(r._table_of(following))
            r.head_entity = r.head_entity or r._table_of(following)
        r.query.order.append((Expression("count"), descending))
        r.query.limit, r.query.offset = limit, offset
        return
    j = i + 1
    counting = keyword.kind == "sup_count"
    function: Function = ""
    while j < len(r.items):
        x = r.items[j]
        if x.is_keyword("count"):
            counting = True
            r.use(j)
        elif x.is_keyword("agg"):
            function = x.keyword.argument  # type: ignore[union-attr,assignment]
            r.use(j)
        elif (
            x.is_keyword("distinct")
            or (
                r.sorts[j] == "word"
                and x.lower in ("of", "the", "amount", "different", "in", "by", "value", "overall", "paid", "recent")
            )
            or j in r.consumed
        ):
            pass
        else:
            break
        j += 1
    kind = r.sorts[j] if j < len(r.items) else ""
    if x_is_by(r, j) and kind == "keyword":
        kind = ""
    if kind == "table":
        table = r._table_of(j)
        if (item.lower in ("top", "best", "bottom", "worst") and not counting) or (
            explicit and not counting and item.lower not in ("most", "fewest", "least")
        ):
            r.use(j)
            r.entity(table)
            r.head_entity = r.head_entity or table
            _rank_later(r, j, descending, limit)
            return
        r.use(j)
        r.entity(table)
        r.query.order.append((Expression("count", table=table), descending))
        r.query.limit, r.query.offset = limit, offset
    elif kind == "column":
        if counting:
            column = r.column_of(j)
            r.use(j)
            expression = Expression("count", column=column.key, table=column.table)
            if column.role == "number":
                expression = Expression(column=column.key)
            r.query.order.append((expression, descending))
            r.query.limit, r.query.offset = limit, offset
        elif item.lower in ("top", "bottom", "best", "worst") and r.in_head:
            column = r.column_of(j)
            r.use(j)
            r.query.select.append(Expression(column=column.key))
            _rank_later(r, j, descending, limit)
        else:
            _rank_by_column(r, i, j, descending, limit, offset, explicit, function)
    elif kind == "measure":
        mention = r.items[j].mention
        assert mention is not None
        found_measure = measure(r, mention.measure)
        if found_measure is None:
            r.draft.doubt("superlative_open")
            return
        r.use(j)
        r.query.order.append(
            (Expression(function or "sum", found_measure.column, factor=found_measure.factor), descending)
        )
        r.query.limit, r.query.offset = limit, offset
    elif explicit:
        _rank_later(r, j - 1, descending, limit)
    elif kind == "" or kind in ("sign", "word", "keyword"):
        r.query.order.append((Expression("count"), descending))
        r.query.limit, r.query.offset = limit, offset
        r.draft.doubt("superlative_open")


def x_is_by(r: Reader, j: int) -> bool:
    """Whether the words at item j begin `by …` or an ordering."""
    return j < len(r.items) and (r.items[j].lower == "by" or r.items[j].is_keyword("order"))


def _rank_later(r: Reader, j: int, descending: bool, limit: int) -> None:
    """`top 5 products by revenue`: what to rank by comes after the entity."""
    r.query.limit = limit
    for k in range(j + 1, min(len(r.items), j + 9)):
        x = r.items[k]
        if (
            x.lower in ("by", "in terms of", "with", "according to", "based on")
            or x.is_keyword("order")
            or x.is_keyword("sup", "sup_adj", "relative")
        ):
            if x.is_keyword("sup", "sup_adj"):
                r.query.limit = None
                superlative_with_limit(r, k, limit)
                return
            _order_terms(r, k, "desc" if descending else "asc", rank=True)
            return
    r.draft.doubt("rank_open")


def superlative_with_limit(r: Reader, k: int, limit: int) -> None:
    """A superlative whose number of rows was said before it (`the 3 cities with the highest population`)."""
    r.use(k)
    superlative(r, k)
    if r.query.limit is not None:
        r.query.limit = limit


def _rank_by_column(
    r: Reader, i: int, j: int, descending: bool, limit: int, offset: int, explicit: bool, function: Function = ""
) -> None:
    column = r.column_of(j, "number")
    before = [x for x in r.items[:i] if x.lower not in ("and", ",", "the", "of")]
    asked = all(
        x.lower
        in (
            "what",
            "is",
            "are",
            "show",
            "find",
            "give",
            "list",
            "me",
            "us",
            "return",
            "tell",
            "whats",
            "what's",
            "was",
            "were",
            "get",
            "display",
            "'s",
        )
        or x.is_keyword("sup", "agg", "relative")
        for x in before
    )
    heads = all(e.function in ("max", "min", "avg", "sum", "count") for e in r.query.select)
    r.use(j)
    if (
        r.in_head
        and not explicit
        and not r.entities
        and heads
        and (asked or r.query.select)
        and not offset
        and not function
    ):
        r.query.select.append(Expression("max" if descending else "min", column.key))
        r.last_column = (j, column)
        return
    numeric: Expression = Expression(function, column.key) if function else Expression(column=column.key)
    if not column.numeric and column.role not in ("date", "year") and not function:
        numeric = Expression("count", column=column.key, table=column.table)
        if r.items[i].lower not in ("most", "least", "fewest"):
            numeric = Expression(column=column.key)
    r.query.order.append((numeric, descending))
    r.query.limit, r.query.offset = limit, offset
    if r.in_head and not r.entities and not r.query.select and not heads:
        r.query.select.append(Expression(column=column.key))


def ordering(r: Reader, i: int) -> None:
    """`sorted by price descending`."""
    keyword = r.items[i].keyword
    assert keyword is not None
    _order_terms(r, i, keyword.argument)


def _order_terms(r: Reader, i: int, argument: str, rank: bool = False) -> None:
    j = i + 1
    function: Function = ""
    counting = False
    found = False
    was_head, r.in_head = r.in_head, False
    while j < len(r.items):
        x, sort = r.items[j], r.sorts[j]
        expression: Expression | None = None
        if x.is_keyword("agg"):
            function = x.keyword.argument  # type: ignore[union-attr,assignment]
        elif x.is_keyword("count"):
            counting = True
        elif x.is_keyword("dir"):
            direction(r, x.keyword.argument)  # type: ignore[union-attr]
            r.use(j)
            argument = "*"
            j += 1
            continue
        elif sort == "column" and not clause_starts(r, j):
            column = r.column_of(j)
            expression = Expression(function, column.key) if function else Expression(column=column.key)
            if counting:
                expression = Expression("count", column=column.key, table=column.table)
        elif sort == "table" and (counting or (rank and j == i + 1 and function == "")):
            expression = Expression("count", table=r._table_of(j))
            r.entity(r._table_of(j))
        elif sort == "table":
            table = r._table_of(j)
            nxt = r._next(j)
            if nxt == j + 1 and r.sorts[nxt] == "column" and r._holds(nxt, table):
                r.entity(table)
                r.use(j)
                j += 1
                continue
            if found:
                break
            shown = r.shown(table)
            if shown:
                expression = Expression(column=shown[0].key)
        elif sort == "measure":
            mention = x.mention
            assert mention is not None
            known = measure(r, mention.measure)
            if known is not None:
                expression = Expression(function or "sum", known.column, factor=known.factor)
        elif (
            (
                sort == "word"
                and x.lower in ("the", "of", "their", "its", "by", "each", "both", "in", "from", "first", "his")
            )
            or x.is_keyword("and", "distinct", "also")
            or x.lower == ","
        ):
            j += 1
            continue
        else:
            break
        r.use(j)
        if expression is not None:
            if not any(known == expression for known, _ in r.query.order):
                r.query.order.append((expression, argument == "desc"))
            found, counting, function = True, False, ""
        j += 1
    if not found and not any(x.is_keyword("dir") for x in r.items):
        r.draft.doubt("order_open")
    if not found:
        r.in_head = was_head


def clause_starts(r: Reader, j: int) -> bool:
    """Whether the column at item j begins a condition rather than another sort term."""
    return condition_follows(r, j) and any(x.is_keyword("relative", "cmp") for x in r.items[max(0, j - 1) : j])


def direction(r: Reader, argument: str) -> None:
    """`descending`, `alphabetically`: the direction of the sort order named, or of the first thing shown."""
    descending = argument in ("desc", "alpha_desc")
    if argument in ("young", "old"):
        from agent.models.offline.lexicon import adjectives

        found = property_of(r, adjectives()["old"][0], min(r.at, len(r.items) - 1))
        if found is not None:
            column, sign = found
            wanted = (sign > 0) == (argument == "old")
            r.query.order = [(Expression(column=column.key), wanted)]
        return
    if r.query.order and r.query.limit is None:
        if argument in ("asc", "desc", "alpha_desc"):
            expression, _ = r.query.order[-1]
            r.query.order[-1] = (expression, descending)
        return
    plain = [e for e in r.query.select if not e.function or argument in ("asc", "desc")]
    if plain:
        best = next((e for e in plain if e.column and r.vocabulary.columns[e.column].role == "name"), plain[0])
        r.query.order.append((best, descending))
    else:
        for table in r.entities[:1]:
            shown = r.shown(table)
            if shown:
                r.query.order.append((Expression(column=shown[0].key), descending))


def as_date(value_: object) -> str:
    """A bound as text, as ISO dates compare."""
    return value_.isoformat() if isinstance(value_, dt.date) else str(value_)
