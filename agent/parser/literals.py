"""Literals: stored values, quoted texts, patterns (`contains "x"`) and numbers become conditions.

In: a reading at such an item. Out: conditions, a period, or the number of rows to show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

from agent.knowledge.values import ValueHit
from agent.knowledge.vocabulary import ColumnWord, split_name
from agent.parser import periods
from agent.parser.comparisons import age_after, compare
from agent.parser.conditions import LINKS, target_column
from agent.parser.interpretation import Condition, Expression
from agent.parser.joins import ends_said
from agent.parser.question import LinkedQuestion, Mention
from agent.parser.state import Context, Finding
from agent.parser.time_conditions import in_period, period
from eval.language.lexicon import word_set


def value(q: LinkedQuestion, c: Context, i: int) -> Finding:
    """A stored value restricts the rows to those that have it."""
    mention = q.mention(i)
    beside = q.word(i - 1)
    if mention.value_score < 0.85 and beside in ("their", "its", "and their", "and its", "with their", "and the"):
        return Finding(doubts=("value_beside_list",))
    near = c.near_tables(i)
    target = target_column(q, c, i)
    if target is None and c.value_column is not None and i - c.value_column[0] <= 4:
        # `Oslo or Bergen`: the column of the value named just before, if it holds this value, too
        at, column = c.value_column
        joined = any(x.is_keyword("or", "and") or x.lower in (",", "not", "nor") for x in q.items[at + 1 : i])
        target = column if joined and column.key in mention.stored_in else None
    # `the Jazz genre`: the column named after the value, if it holds the value
    columns = q.mention(i + 1).columns if q.sort(i + 1) == "column" and target is None else ()
    following = next((x for x, score in columns if x.key in mention.stored_in and score >= 0.7), None)
    target = target or following
    for k in (i - 1, i + 1):
        for table in _named_together(q, i, k):
            near[table] = near.get(table, 0.0) + 0.4
    ends = ends_said(x.lower for x in q.items[max(0, i - 2) : i])
    meant = [h for h in mention.values if ends & set(split_name(h.column))]
    hit = c.choose_value(tuple(meant) or mention.values, near, target)
    key = (hit.table, hit.column)
    left = Expression(column=key)
    same = {h.value for h in mention.values if (h.table, h.column) == key and h.score == hit.score}
    if len(same) > 1 and hit.score < 0.9:
        condition, spellings = Condition(left, "like", (f"%{mention.text}%",)), []
    else:
        plain = hit.value.strip().casefold()  # stored in several ways (`Leeds`, `leeds`), it is meant in all of them
        stored = (v for v in q.values.values(*key) if v != hit.value and v.strip().casefold() == plain)
        condition, spellings = Condition(left, "=", (hit.value,)), [*islice(stored, _SPELLINGS)]
    word = q.vocabulary.columns.get(key)
    return Finding(
        (i,) if following is None else (i, i + 1),
        conditions=(condition,),
        alternatives=tuple(Condition(left, "=", (v,)) for v in spellings),
        doubts=_doubts(mention, hit, target, named=bool(target or meant)),
        small_doubts=("value_fuzzy",) if 0.7 <= hit.score < 0.85 else (),
        changes={"last_column": None, "value_column": (i, word) if word is not None else c.value_column},
    )


def _doubts(mention: Mention, hit: ValueHit, target: ColumnWord | None, *, named: bool) -> tuple[str, ...]:
    """Why the value may be another one, or may be meant in another column."""
    key = (hit.table, hit.column)
    rivals = {(h.table, h.column) for h in mention.values if h.score >= hit.score - 0.01} - {key}
    holds = {
        "value_other_column": target is not None and key != target.key,
        "value_fuzzy": hit.score < 0.7,
        "value_ambiguous": bool(rivals) and target is None,
        # `flights of ATO`, which is stored as `source_airport` and as `dest_airport`
        "column_of_many": not named
        and any(t == hit.table and set(split_name(c)) & set(split_name(hit.column)) for t, c in rivals),
    }
    return tuple(name for name, doubtful in holds.items() if doubtful)


_SPELLINGS = 5


def _named_together(q: LinkedQuestion, i: int, k: int) -> set[str]:
    """Tables that hold the values at items i and k in two columns of names (`Ada` `Lovelace`)."""
    beside = q.items[k].mention if q.sort(k) == "value" else None
    own = q.items[i].mention
    if beside is None or own is None:
        return set()
    names = {(h.table, h.column) for h in beside.values if _is_name(q, h.table, h.column)}
    return {
        h.table
        for h in own.values
        if _is_name(q, h.table, h.column) and any(t == h.table and c != h.column for t, c in names)
    }


def _is_name(q: LinkedQuestion, table: str, column: str) -> bool:
    word = q.vocabulary.columns.get((table, column))
    return word is not None and word.words[-1] == "name"


def literal(q: LinkedQuestion, c: Context, i: int) -> Finding:
    """A quoted text: a stored value if there is one, otherwise compared literally with the column just named."""
    mention = q.mention(i)
    if (another := _another_pattern(q, c, i, mention.text)) is not None:
        return another
    period = periods.period_at(q.tokens, q.items[i].start, q.today)
    if period is not None:
        return in_period(q, c, i, period, "=") or Finding()
    column = target_column(q, c, i, 6)
    if column is None:
        return Finding(doubts=("literal_without_column",))
    stored = q.values.find(mention.text, fuzzy=True)
    text = next((h.value for h in stored if (h.table, h.column) == column.key), mention.text)
    condition = Condition(Expression(column=column.key), "=", (text,))
    return Finding((i,), conditions=(condition,), doubts=("literal_unknown",))


def _another_pattern(q: LinkedQuestion, c: Context, i: int, text: str) -> Finding | None:
    """`starting with 'A' or 'B'`: the second text is matched like the first."""
    last = _joined_to(q, c, i)
    if last is None or last.operator != "like":
        return None
    before, shape = q.items[i - 2], str(last.values[0])
    earlier = " ".join(t.text for t in q.tokens[before.start : before.end])
    if shape.strip("%") != earlier:
        return None
    another = Condition(last.left, "like", (shape.replace(earlier, text),))
    if q.items[i - 1].is_keyword("or") or shape != f"%{earlier}%":
        return Finding((i,), alternatives=(another,), changes={"or_next": False})
    return Finding((i,), clauses=((another,),))


def _joined_to(q: LinkedQuestion, c: Context, i: int) -> Condition | None:
    """The condition read from the item to which `or` or `and` joins item i."""
    last = c.sink[-1][-1] if c.sink else None
    joined = i - 2 in c.consumed and q.is_keyword(i - 1, "or", "and")
    return last if joined and isinstance(last, Condition) else None


def pattern(q: LinkedQuestion, c: Context, i: int) -> Finding:
    """`contains "x"`, `starts with x`."""
    item = q.items[i]
    assert item.keyword is not None
    argument = item.keyword.argument
    for j in range(i + 1, min(i + 5, len(q.items))):
        other = q.items[j]
        if q.sorts[j] in ("literal", "value", "word", "column", "table", "number") and (
            q.sorts[j] != "word"
            or (len(other.lower) == 1 and (q.tokens[other.start].capital or "letter" in q.items[j - 1].lower))
            or other.lower
            not in LINKS | {"word", "letter", "substring", "string", "letters", "either", "phrase", "prefix"}
        ):
            break
    else:
        return Finding()
    text = " ".join(t.text for t in q.tokens[other.start : other.end])
    spelled = any(w in item.lower for w in ("word", "letter", "substring", "string"))
    plain = q.sorts[j] == "number" or (q.sorts[j] != "literal" and item.lower in ("include", "have", "contain"))
    named = q.sorts[j] in ("table", "column") and item.lower in ("contains", "contain", "containing")
    if not spelled and (plain or named):
        return Finding()
    column = target_column(q, c, i, 8)
    used: tuple[int, ...] = ()
    doubts: tuple[str, ...] = ()
    for k in range(j + 1, min(j + 5, len(q.items))):
        if q.sorts[k] == "column" and q.items[k - 1].lower in ("its", "their", "the", "in", "a", "his"):
            column = c.column_of(k)
            used = (k,)
            break
    if column is None and c.query.select and c.query.select[-1].column and not c.query.select[-1].function:
        last = q.vocabulary.columns[c.query.select[-1].column]
        column = last if not last.numeric else None
    if column is None and c.entities:
        shown = q.naming_columns(c.entities[-1])
        column = shown[0] if shown else None
        doubts = ("pattern_column_guessed",)
    if column is None or (item.lower in ("like", "contain", "contains", "containing", "includes") and column.numeric):
        return Finding(used, doubts=doubts)
    shape = {"contains": f"%{text}%", "starts": f"{text}%", "ends": f"%{text}"}[argument]
    first, *others = (
        Condition(Expression(column=x.key), "like", (shape,)) for x in _parts_of_name(q, i, column, argument)
    )
    return Finding(
        (*used, j), conditions=(first,), alternatives=(*others,), doubts=doubts, changes={"last_column": (j, column)}
    )


def _parts_of_name(q: LinkedQuestion, i: int, column: ColumnWord, argument: str) -> tuple[ColumnWord, ...]:
    """`whose name starts with A`, where people have a first and a last name: the name starts with the first one."""
    said = next(
        (x.lower.split() for k, x in enumerate(q.items) if k < i + 5 and x.lower.endswith(("name", "names"))), []
    )
    pair = q.vocabulary.name_columns(column.table)
    if not said or _PARTS & set(said) or len(pair) != 2 or column not in pair:
        return (column,)
    return {"starts": pair[:1], "ends": pair[1:]}.get(argument, pair)


_PARTS = word_set("first last given family middle")


def number(q: LinkedQuestion, c: Context, i: int) -> Finding:
    """A number without a comparison: the value of the column just named, a year, or `5 or more`."""
    item = q.items[i]
    before = q.word(i - 1)
    if item.lower == "one" and before in ("the", "that", "which", "this", "no"):
        return Finding((i,))  # `the one`, `no one`: no number is meant
    finding = next((found for rule in _RULES if (found := rule(q, c, i)) is not None), None)
    if finding is not None:
        return finding
    dated = period(q, c, i)
    if dated is not None and before in ("in", "during", "since", "year", "for", "of", "both", "and", "or"):
        return dated
    column = target_column(q, c, i)
    if column is not None and not (column.role == "date" and q.tokens[item.start].text.isdecimal()):
        if any(x.is_keyword("sup", "sup_adj") for x in q.items[max(0, i - 1) : i + 2]):
            return Finding()
        return _equal(column, item.number if column.numeric else q.tokens[item.start].text, i)
    if dated is not None:
        return dated
    following = q.sort(i + 1)
    if following == "table" and not c.in_head and item.number is not None:
        return compare(q, c, i, i, "=")
    if (stored := _stored(q, c, i)) is not None:
        return stored
    # `show 5 books` limits the rows; `one` has no meaning
    figure, single = item.number, item.lower in ("one", "1")
    limits = c.in_head and following in ("table", "column") and not c.query.limit and figure != 0
    limit = figure if limits and not single and isinstance(figure, int) else None
    return Finding((i,) if limits or single else (), limit=limit)


def _equal(column: ColumnWord, number: object, *used: int) -> Finding:
    return Finding(used, conditions=(Condition(Expression(column=column.key), "=", (number,)),))


def _another(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`department 70 or 90`: one more value of the same column."""
    last, figure = _joined_to(q, c, i), q.items[i].number
    if last is None or figure is None or last.operator != "=" or last.values != (q.items[i - 2].number,):
        return None
    return Finding((i,), conditions=(Condition(last.left, "=", (figure,)),))


def _first_rows(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`the first 5 books`."""
    figure = q.items[i].number
    if not i or q.items[i - 1].lower != "first" or not isinstance(figure, int) or figure >= 1000:
        return None
    if not c.main_entity and q.sort(i + 1) != "table":
        return None
    return Finding((i - 1, i), limit=c.query.limit or max(1, figure))


def _before_its_column(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`with 4 doors`: the column that holds the number follows it."""
    if q.sort(i + 1) != "column":
        return None
    fresh = c.last_column is None or q.is_keyword(i - 1, "and")
    described = q.sort(i + 2) == "table" and (c.column_of(i + 1, "number").words[-1] != "year")  # `4 cylinder cars`
    if (c.in_head or not fresh) and not described:
        return None
    column = c.column_of(i + 1, "number")
    return _equal(column, q.items[i].number, i, i + 1) if column.is_figure else None


def _at_least_or_most(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`5 or more`, `2010 or later`, `5 books or more`."""
    at = i + 1
    if at + 1 < len(q.items) and q.sorts[at] in ("table", "column", "word") and q.items[at + 1].is_keyword("post"):
        at += 1
    keyword = q.items[at].keyword if at < len(q.items) else None
    if keyword is None or keyword.kind != "post":
        return None
    named = periods.period_at(q.tokens, q.items[i].start, q.today) if at == i + 1 else None
    column = target_column(q, c, i)
    since = "since" if keyword.argument == ">=" else "until"
    dated = column is None or column.role in ("date", "year")
    finding = in_period(q, c, i, named, since) if named is not None and dated else None
    finding = finding or compare(q, c, i, i, keyword.argument)  # type: ignore[arg-type]
    return replace(finding, used=(*finding.used, at))


def _stored(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """A number that is stored as a text (`room 101`)."""
    text = q.tokens[q.items[i].start].text
    hits = q.values.find(text)
    if not hits or c.in_head or q.items[i].kind != "number" or not text.isdecimal():
        return None
    hit = c.choose_value(hits, c.near_tables(i), None)
    stored = Condition(Expression(column=(hit.table, hit.column)), "=", (hit.value,))
    return Finding((i,), conditions=(stored,), doubts=("value_ambiguous",))


_LIMITING = word_set("limit limited limiting")
_AFTER_LIMIT = word_set("of to the it them output results result rows list only at most first")


def _rows_wanted(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`with a limit of 10`, `limit to 10`: the number of rows to show, if no column is called limit."""
    for k in range(i - 1, max(-1, i - 5), -1):
        if q.items[k].lower in _LIMITING and q.sorts[k] == "word":
            wanted = q.items[i].number
            new = isinstance(wanted, int) and wanted > 0 and c.query.limit is None
            return Finding(range(k, i + 1), limit=int(wanted) if new and wanted is not None else None)
        if q.items[k].lower not in _AFTER_LIMIT:
            return None
    return None


def _numbered(q: LinkedQuestion, _: Context, i: int) -> Finding | None:
    """`student 1004`, `order 17`: a number directly after a singular entity name is its key."""
    token, after = q.tokens[q.items[i].start], q.sort(i + 1)
    named = after in ("table", "column") and q.plural(i + 1)
    counts = named or after == "measure" or (after != "" and q.items[i + 1].is_keyword("post"))
    if not i or q.sorts[i - 1] != "table" or not token.text.isdecimal() or counts:
        return None
    key = q.vocabulary.key_column(q.table_of(i - 1))
    return _equal(key, int(token.text), i) if not q.plural(i - 1) and key is not None and key.numeric else None


def _aged(q: LinkedQuestion, c: Context, i: int) -> Finding | None:
    """`18 years old`: the age of the entity asked about."""
    aged = age_after(q, c, i)
    return _equal(aged[0], q.items[i].number, i, *aged[1]) if aged is not None else None


_RULES: tuple[Callable[[LinkedQuestion, Context, int], Finding | None], ...] = (
    _another, _first_rows, _rows_wanted, _numbered, _aged, _before_its_column, _at_least_or_most,
)  # fmt: skip
