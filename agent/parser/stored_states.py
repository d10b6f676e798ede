"""States: what `pending`, `unpaid`, `not shipped` or `expired` may mean in a table's data, and columns that only say
yes or no.

In: a word, the tables that it may describe, the vocabulary, the value index. Out: conditions: a stored state, a
yes-or-no column, a date that is set or NULL, related rows, or a comparison of two dates. `qualified` finds the words
that describe rows: they become items of kind `qualifier` with these conditions; a word without a match in the data
remains a word that is not understood.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import ColumnWord, Vocabulary, abbreviates
from agent.parser.interpretation import OPPOSITE, Condition, Expression, Membership
from agent.parser.question import Item, LinkedQuestion, Qualification
from agent.parser.state import Context, Finding
from agent.parser.word_lists import LASTING, PARTICIPLES, participle, word_groups, word_list, word_table
from eval.language.inflection import lemma, root, stem
from eval.language.lexicon import FUNCTION_WORDS, word_set
from eval.language.tokens import Token

_YES = ("yes", "y", "true", "t", "1")
_NO = ("no", "n", "false", "f", "0")
ANSWERS = 5
"""Values at most of a column of yes and no, with `maybe`, `not sure`, `no answer`."""
_COUNTED = word_list("counted")
"""Numbers that end like a participle without being a state."""
_QUANTITIES = word_set("count number quantity amount total level size age rank order position score rating stock value "
                       "capacity grade priority version step sum point length duration price cost fee")  # fmt: skip
_ADJECTIVES = word_set("discontinued deleted archived disabled enabled blocked active inactive available unavailable "
                   "verified approved published cancelled canceled closed retired hidden locked")  # fmt: skip


def is_flag(values: ValueIndex, column: ColumnWord) -> bool:
    """Whether a column only says yes or no: by its type, by its values, or as an integer named after a state."""
    integer = column.role == "number" and re.search("int|bit|number", column.column.type, re.IGNORECASE)
    if column.role == "flag":
        return True
    if integer and len(column.words) == 1 and is_state(column.words[0]):
        greatest = values.facts(*column.key).greatest
        return not isinstance(greatest, int | float) or greatest <= 1  # `delayed` may be minutes
    if integer and _PLACED.match(column.name):
        facts = values.facts(*column.key)
        return (facts.least, facts.greatest) in ((0, 1), (1, 1), (0, 0))
    known = [v.lower() for v in values.values(*column.key)]
    last = column.name.lower().rsplit("_", 1)[-1]
    counts = _QUANTITIES & set(column.words) or (last.endswith("s") and lemma(last) != last)
    if column.role == "number" and counts:  # `children`, `quantity`: no more than one so far
        return False
    return 1 <= len(known) <= 3 and all(v in _YES + _NO for v in known)


_PLACED = re.compile(r"(?:in|on|at|can|was|needs|wants)_", re.IGNORECASE)
"""How names of flags begin: `on_display`, `can_swim`."""


def is_state(word: str) -> bool:
    """Whether a word says how something is or what became of it (`returned`, `taxable`), and names no thing."""
    described = word.endswith(_DESCRIBING) and word not in _NO_STATES
    return word in _ADJECTIVES or described or (word.endswith("ed") and word not in _COUNTED)


_DESCRIBING = ("ous", "able", "ible", "ergic", "organic")
"""Endings of adjectives that name a yes-or-no column (`hazardous`, `taxable`)."""
_NO_STATES = word_set("previous various table cable variable")


def says(values: ValueIndex, column: ColumnWord, wanted: bool) -> Condition | None:
    """The condition that a column says yes, or no; None for a column that cannot say either."""
    left, known = Expression(column=column.key), values.values(*column.key)
    stored = next((v for v in known if v.lower() in (_YES if wanted else _NO)), None)
    if stored is not None:
        return Condition(left, "=", (_typed(column, stored),))
    if is_flag(values, column) and (other := next((v for v in known if v.lower() in _YES + _NO), None)):
        return Condition(left, "<>", (_typed(column, other),))
    if re.search("bool", column.column.type, re.IGNORECASE):
        return Condition(left, "=", (wanted,))
    return Condition(left, "=", (int(wanted),)) if column.numeric and is_flag(values, column) else None


def _typed(column: ColumnWord, stored: str) -> object:
    return int(stored) if column.numeric and stored in "01" else stored


_KINDS = 40
"""A column may hold states if it has at most this many distinct texts."""
_CODE = 4
"""The most letters of a state that is stored as an abbreviation."""
_STATES = word_set("status state stage condition phase progress availability situation")
_FILLERS = word_set("is has was date time at on timestamp day flag indicator be been datetime since already current")
_DENYING = re.compile(r"(?:un|in|non-?|dis)(?=[a-z]{4})")
TIMELY = word_set("late overdue delayed")
"""Words that compare when something happened with when it was due."""

_ALIKE = word_groups("alike")
"""States for which people use different words."""
_CONTRARY = word_table("contrary")
"""Flags and dates that hold the opposite of a word."""
_ENDED = {**dict.fromkeys(LASTING, "end ended ending terminated until expiry"), "open": "closed end resolved returned"}
"""The dates with which a state ends."""
_BEGUN = word_set("start begin started starting from")
SAME_EVENT = word_table("same_event")
"""Dates and flags of the same event under another name."""
STATE_WORDS = frozenset(_CONTRARY) | frozenset(SAME_EVENT) | word_list("alike")
"""Words of states, which are looked up in the data rather than among the names of columns."""
_DEADLINES = word_set("required due expected promised deadline scheduled planned estimated")
_HAPPENED = word_list("happened")
_EXPIRY = (("expiry",), ("expiration",), ("expire",), ("expires",), ("expired",), ("valid", "until"), ("valid", "to"))


class StateLookup:
    """Looks up one word in the columns of the named tables."""

    def __init__(self, vocabulary: Vocabulary, values: ValueIndex, today: dt.date) -> None:
        self._vocabulary, self._values, self._today = vocabulary, values, today

    def conditions(self, word: str, tables: dict[str, int], denied: bool) -> Iterator[Qualification]:
        """Conditions for a word, the most certain first: those of the named tables, then of rows that refer to them."""
        own = [meaning for table in tables for meaning in self._of(word, table)]
        yield from own or (meaning for table in tables for meaning in self._of_children(word, table, denied))

    def _of(self, word: str, table: str) -> Iterator[Qualification]:
        columns = self._vocabulary.by_table[table]
        for column, stored in self._states(columns):  # with the same stem: `canceled` when the data has `Cancelled`
            if _plain(stored) == _plain(word) or root(stored.lower()) == word:
                yield _meaning(column, Condition(Expression(column=column.key), "=", (stored,)), word)
        for column in columns:
            if word not in _ENDED or column.role != "date":  # what was `opened` may be closed by now
                yield from self._filled(word, column)
        kin = [group for group in _ALIKE if word in group]
        yield from self._only_state(word, columns, lambda s: any(s.lower().replace("_", " ") in group for group in kin))
        yield from self._only_state(word, columns, lambda s: 2 <= len(s) <= _CODE and abbreviates(s.lower(), word))
        for opposite in _CONTRARY.get(word, ()):
            for column in columns:
                yield from (_turned(m, word) for m in self._filled(opposite, column))
        for ending in _ENDED.get(word, "").split():
            for column in columns:
                if column.role == "date" and _names(column, ending):
                    yield from self._not_ended(word, column, columns)
        for same in SAME_EVENT.get(word, ()):
            for column in columns:
                yield from (replace(m, by_synonym=True) for m in self._filled(same, column, word))
        for column in columns if word in ("expired", "lapsed") else ():
            if column.role == "date" and any(set(words) <= set(column.words) for words in _EXPIRY):
                yield _meaning(column, Condition(Expression(column=column.key), "<", (self._today,)), word)
        if word in TIMELY:
            yield from self._late(word, columns)

    def _not_ended(self, word: str, end: ColumnWord, columns: Sequence[ColumnWord]) -> Iterator[Qualification]:
        """`leases that are running`: the end is open, or still to come where such dates are stored, after a start that
        has passed."""
        last, today = self._values.facts(*end.key).greatest, self._today
        open_end = Condition(Expression(column=end.key), "null")
        if last is None or str(last)[:10] < today.isoformat():
            if end.column.nullable:
                yield _meaning(end, open_end, word)
            return
        begun = [Expression(column=c.key) for c in columns if c.role == "date" and _BEGUN & set(c.words)]
        note = f"“{word}”: {end.name} is not before today ({today}), or is empty"
        to_come = Condition(Expression(column=end.key), ">=", (today,))
        started = Condition(begun[0], "<=", (today,)) if len(begun) == 1 else None
        first, either = (open_end, to_come) if end.column.nullable else (to_come, None)
        yield Qualification(end.table, first, note, also=started, either=either)

    def _states(self, columns: Sequence[ColumnWord]) -> Iterator[tuple[ColumnWord, str]]:
        for column in columns:
            if column.role in ("text", "flag") and not column.foreign and not column.primary:
                known = self._values.values(*column.key)
                if len(known) <= _KINDS:
                    yield from ((column, value) for value in known)

    def _only_state(
        self, word: str, columns: Sequence[ColumnWord], fits: Callable[[str], bool]
    ) -> Iterator[Qualification]:
        """The only stored state for which people may use the word, or that abbreviates it (`CAN` for cancelled)."""
        states = [(c, state) for c, state in self._states(columns) if _STATES & set(c.words) and fits(state)]
        for column, state in states if len(states) == 1 else ():
            meant = _meaning(column, Condition(Expression(column=column.key), "=", (state,)), word)
            yield replace(meant, by_synonym=True)

    def _filled(self, word: str, column: ColumnWord, word_used: str = "") -> Iterator[Qualification]:
        """A yes-or-no column or a date of that name: `active`, `shipped_date`."""
        base = _DENYING.sub("", word, count=1)
        for name, wanted in ((word, True), (base, False)):
            if not _names(column, name) or (name == base and base == word and not wanted):
                continue
            left = Expression(column=column.key)
            if column.role in ("date", "year") and column.column.nullable:
                yield _meaning(column, Condition(left, "not null" if wanted else "null"), word_used or word)
            elif is_flag(self._values, column) and (condition := says(self._values, column, wanted)) is not None:
                yield _meaning(column, condition, word_used or word)

    def _late(self, word: str, columns: Sequence[ColumnWord]) -> Iterator[Qualification]:
        """Done after it was due: compare the date of the event with its due date. What is `overdue` was due before
        today, and is not done yet."""
        due = [c for c in columns if c.role == "date" and _DEADLINES & set(c.words)]
        happened = [c for c in columns if c.role == "date" and _HAPPENED & set(c.words) and c not in due]
        done = [c for c in happened if c.column.nullable]
        if word == "overdue" and len(due) == 1 and len(done) == 1:
            passed = Condition(Expression(column=due[0].key), "<", (self._today,))
            undone = Condition(Expression(column=done[0].key), "null")
            note = f"“overdue”: {due[0].name} has passed and {done[0].name} is empty"
            yield Qualification(due[0].table, undone, note, also=passed)
        happened.sort(key=lambda c: c.column.nullable)  # an event that may not have happened yet can be late
        if len(due) == 1 and happened:
            left, right = Expression(column=happened[-1].key), Expression(column=due[0].key)
            yield _meaning(happened[-1], Condition(left, ">", (right,)), word)

    def _of_children(self, word: str, table: str, denied: bool) -> Iterator[Qualification]:
        """`unpaid orders`, `loans not renewed`: rows of another table show that the event happened, or did not."""
        base = _DENYING.sub("", word, count=1)
        if not (base != word or denied) or not participle(base):
            return
        verb = lemma(base) if len(lemma(base)) >= 3 else base
        for child in self._vocabulary.tables.values():
            refers = any(fk.ref_table == table for fk in child.table.foreign_keys)
            if refers and any(w.startswith(verb) or root(w) == root(base) for w in child.words):
                what = Membership(table, child.name, (), base != word)
                note = f"“{word}”: {'no' if base != word else 'some'} row of {' '.join(child.words)} refers to it"
                yield Qualification(table, what, note)


def _meaning(column: ColumnWord, condition: Condition, word: str) -> Qualification:
    return Qualification(column.table, condition, f"“{word}”: {_condition_text(column, condition)}")


def _condition_text(column: ColumnWord, condition: Condition) -> str:
    if condition.operator == "null":
        return f"{column.name} is empty"
    if condition.operator == "not null":
        return f"{column.name} is filled in"
    value = condition.values[0]
    if isinstance(value, Expression) and value.column:
        return f"{column.name} {condition.operator} {value.column[1]}"
    shown = f"'{value}'" if isinstance(value, str | dt.date) else str(value)
    return f"{column.name} {condition.operator} {shown}"


def denied(condition: Condition) -> Condition:
    value = condition.values[0] if condition.values else None
    if condition.operator == "=" and isinstance(value, bool | int) and value in (0, 1):
        return replace(condition, values=(not value,) if isinstance(value, bool) else (1 - value,))
    return replace(condition, operator=OPPOSITE[condition.operator])


def _turned(meaning: Qualification, word: str) -> Qualification:
    """The meaning of the opposite word, negated."""
    assert isinstance(meaning.condition, Condition)
    condition = denied(meaning.condition)
    assert condition.left.column is not None
    name = condition.left.column[1]
    state = {"null": "is empty", "not null": "is filled in"}.get(
        condition.operator, f"{condition.operator} {condition.values[0] if condition.values else ''}"
    )
    return replace(meaning, condition=condition, note=f"“{word}”: {name} {state}")


def _names(column: ColumnWord, word: str) -> bool:
    """Whether the column's name is the word, apart from words such as `is` and `date`."""
    own = [w for w in column.words if w not in _FILLERS and w not in column.owner]
    return len(own) == 1 and _plain(own[0]) == _plain(word)


def _plain(word: str) -> str:
    """The stem, independent of the spelling of a final consonant (`canceled`, `cancelled`)."""
    stemmed = stem(word.lower().replace("_", " "))
    return stemmed[:-1] if len(stemmed) > 4 and stemmed[-1] == stemmed[-2] else stemmed


_GRADED = word_list("graded")
"""Words that are adjectives for a state rather than participles."""
_AUXILIARIES = word_set("is are was were be been being get got not never still yet already have has had")


def qualified(
    tokens: Sequence[Token], items: Sequence[Item], vocabulary: Vocabulary, values: ValueIndex, today: dt.date
) -> tuple[Item, ...]:
    """The items; words that describe a table's rows now carry the conditions that the data offers for them."""
    tables = _tables(items) or _tables_of_values(items, vocabulary)
    if not tables and items and items[0].lower == "who":  # `who left`: the tables with a column called so
        columns = (c for item in items if item.mention is not None for c, _ in item.mention.columns[:1])
        tables = dict.fromkeys((c.table for c in columns), 0)
    read: list[Item] = []
    for k, item in enumerate(items):
        qualifications: tuple[Qualification, ...] = ()
        if tables and _describes(tokens, items, k, tables):
            lookup = StateLookup(vocabulary, values, today)
            negated = any(x.is_keyword("neg") for x in items[max(0, k - 2) : k])
            qualifications = tuple(lookup.conditions(item.lower, tables, negated))
        verb = read[-1] if qualifications and read and item.lower in TIMELY else None
        if verb is not None and verb.end == item.start and participle(verb.lower):
            item = replace(item, start=read.pop().start)  # `shipped late`: the verb selects the dates to compare
        read.append(replace(item, kind="qualifier", mention=None, meanings=qualifications) if qualifications else item)
    return tuple(read)


def _tables(items: Sequence[Item]) -> dict[str, int]:
    """The tables that the question names, each with the item that names it."""
    tables: dict[str, int] = {}
    for k, item in enumerate(items):
        if item.mention is not None and not item.mention.values:
            for table, score in item.mention.tables[:2]:
                if score >= 0.75 and not participle(item.lower):
                    tables.setdefault(table.name, k)
    return tables


def _tables_of_values(items: Sequence[Item], vocabulary: Vocabulary) -> dict[str, int]:
    """Where no table is named (`dogs still alive`): the tables with the stored values, and those that refer to them."""
    tables: dict[str, int] = {}
    for k, item in enumerate(items):
        for hit in item.mention.values[:1] if item.mention is not None else ():
            tables.setdefault(hit.table, k)
            for table in vocabulary.tables.values():
                if any(key.ref_table == hit.table for key in table.table.foreign_keys):
                    tables.setdefault(table.name, k)
    return tables


def _describes(tokens: Sequence[Token], items: Sequence[Item], k: int, tables: dict[str, int]) -> bool:
    """Whether the item describes the state of a thing: `pending orders`, `orders that are not shipped`."""
    item = items[k]
    word = item.lower
    if item.end - item.start != 1 or tokens[item.start].kind != "word" or tokens[item.start].capital:
        return False
    if k == len(items) - 1 and k > 1 and items[k - 1].lower in ("we", "they") and items[k - 2].lower in ("did", "have"):
        return len(word) > 2  # `how many bids did we win`
    if _happened(items, k, tables):
        return True
    if item.kind == "mention":
        mention = item.mention
        elsewhere = word in TIMELY and mention is not None and not {h.table for h in mention.values} & set(tables)
        stored = mention is None or (mention.values and not elsewhere)
        if stored or not (participle(word) or word in _GRADED):
            return False
        assert mention is not None
        own = [(c, s) for c, s in mention.columns if c.table in tables]
        exact = max((s for c, s in own if c.role in ("flag", "number", "text")), default=0.0)
        if exact >= 0.9:
            return False
    elif item.kind != "word" or (word in FUNCTION_WORDS and word not in _GRADED | PARTICIPLES):
        return False
    after = items[k + 1] if k + 1 < len(items) else None
    if after is not None and after.mention is not None and after.mention.tables and not after.mention.values:
        return True
    before = next((x.lower.split()[-1] for x in reversed(items[:k]) if x.lower not in ("the", "a", "yet")), "")
    stated = before in _AUXILIARIES or (word in TIMELY and participle(before)) or before in ("that", "which", "who")
    return (stated or participle(word)) and not _complemented(items, k)


def _happened(items: Sequence[Item], k: int, tables: dict[str, int]) -> bool:
    """`were closed by Ida`, `did Ida close`, `closed the most tickets`: a date that not every row has says what was
    done."""
    mention = items[k].mention
    dates = mention.columns[:1] if mention is not None and not mention.values and not mention.tables else ()
    if not any(c.role == "date" and c.column.nullable and c.table in tables and s >= 0.9 for c, s in dates):
        return False
    if k == len(items) - 1 or (k == len(items) - 2 and items[-1].kind == "sign"):
        return any(x.lower in ("did", "has", "have") for x in items[:k])
    following = [x for x in items[k + 1 : k + 4] if x.lower != "the"][:2]
    doer = following[1].mention if len(following) > 1 and following[0].lower == "by" else None
    named = doer is not None and any(hit.value[:1].isupper() for hit in doer.values)  # Ida, not `by voucher`
    return named or following[0].is_keyword("sup")


def _complemented(items: Sequence[Item], k: int) -> bool:
    """`shipped by air`, `paid after the due date`: the words that follow say more than the state and are read
    separately."""
    after = items[k + 1] if k + 1 < len(items) else None
    if after is None or after.lower in (".", "?", "!", ",", ")", "and", "or", "yet", "so", "but"):
        return False
    if after.lower in TIMELY:
        return False
    if after.is_keyword("group", "order", "dir", "relative", "period"):
        return after.is_keyword("period")
    if after.lower in ("in", "during", "since", "on", "last", "this") or after.is_keyword("cmp"):
        further = items[k + 2] if k + 2 < len(items) else None
        if further is not None and further.lower in ("their", "his", "her", "its"):
            return True
        return further is None or further.is_keyword("period") or further.kind in ("number", "literal")
    return True


def qualifier(q: LinkedQuestion, c: Context, i: int) -> Finding:
    """The condition of the qualifier at item i, for the table nearest to the topic of the question."""
    meanings = q.items[i].meanings
    near = [t for t in (c.main_entity, *c.entities, *q.named) if t]
    best = min(meanings, key=lambda m: near.index(m.table) if m.table in near else len(near))
    several = len({m.condition for m in meanings if m.table == best.table}) > 1 and best.by_synonym
    holds = {
        "qualifier_open": several or (c.negated and best.also is not None),
        "qualifier_by_synonym": best.by_synonym,
    }
    condition, note, either = best.condition, best.note, best.either
    if c.negated and either is not None:
        condition, either = either, None  # neither: the end has passed
    if c.negated and isinstance(condition, Membership):
        condition = replace(condition, negated=not condition.negated)
    elif c.negated and isinstance(condition, Condition):
        condition = denied(condition)
    return Finding(
        (i,),
        (best.table,),
        clauses=(
            (condition, either) if either is not None else (condition,),
            *(((best.also,),) if best.also is not None else ()),
        ),
        doubts=tuple(name for name, doubtful in holds.items() if doubtful),
        notes=(f"{note}, and here the opposite" if c.negated else note,),
        changes={"negated": False},
    )
