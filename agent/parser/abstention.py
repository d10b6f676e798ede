"""Declining: what the engine says about a question that it does not answer, or answers with a doubt.

In: the text of a question; or a reading with its words that were understood and those that were not. Out: sentences
that name these words, or the tables and columns that the question asks about; and up to three similar questions that
the engine has verified that it can answer, nearest first: without the words not understood, its best guess in the
database's own words, then about the columns and tables that it names.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.interpretation import CALLED, Condition, Expression
from agent.parser.measures import AVERAGED
from agent.parser.question import LinkedQuestion
from agent.parser.state import Draft
from agent.parser.stored_states import is_flag
from eval.language.inflection import lemma
from eval.language.lexicon import FUNCTION_WORDS, word_set

_SMALL_TALK = re.compile(
    r"(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|thanks?|thank you|thx|bye|goodbye|see you|ok|okay|"
    r"cool|great|nice|sorry|please|help|test|how are you|how(?:'s| is) it going|who are you|what are you|"
    r"what(?:'s| is) your name|what can (?:you|i) (?:do|ask)|are you (?:a )?(?:human|robot|bot|real|there)|"
    r"tell me a joke)"
    r"(?: there| you| all| a lot| so much| very much| everyone| today| doing| for (?:that|your help))?[\s!.?]*",
    re.IGNORECASE,
)
_ABOUT_TABLES = re.compile(
    r"(?:please )?(?:list|show|give|name|display|what|which)(?: me)?(?: are| is)?(?: all| the| my| your| of)* tables?"
    r"(?: names?)?(?: (?:are there|do (?:you|we|i) have|exist|can i (?:ask|query)[\w ]*))?"
    r"(?: (?:are )?(?:in|of) (?:the|this|my) (?:database|db|schema))?[\s!.?]*"
    r"|(?:what|which) (?:data|information) (?:do you have|is (?:there|here|available)|can i ask (?:about|for))[\s!.?]*"
    r"|what(?:'s| is) in (?:the|this|my) (?:database|db|data|schema)[\s!.?]*",
    re.IGNORECASE,
)
_ABOUT_COLUMNS = re.compile(
    r"(?:list|show|give|what|which)(?: me)?(?: are| is)?(?: all| the)* (?:columns?|fields?)(?: names?)?"
    r"(?: are)?(?: (?:of|in|for|does|do|from|has))(?: the)?(?: table)? (?P<table>[\w ]+?)(?: table)?(?: have)?[\s!.?]*"
    r"|describe (?:the )?(?:table )?(?P<described>[\w ]+?)(?: table)?[\s!.?]*",
    re.IGNORECASE,
)

_FIGURE = r"(?:revenue|sales|turnover|profit|income|costs?|demand|orders|bookings)"
_FORECAST = re.compile(
    r"^(?:how (?:much|many)|what)\b.*\b(?:will|shall|are) (?:we|i|they) (?:be |probably |likely )?(?:going |likely )?"
    r"(?:to )?(?:make|earn|sell|get|have|need|lose|gain|spend|take in|turn over)\b"
    rf"|\bwill (?:(?:our|the|my) )?(?:[a-z]+ )?{_FIGURE}\b(?: .{{0,40}})? (?:be|grow|rise|fall|increase|drop)\b"
    rf"|^(?:please )?(?:can you )?(?:predict|forecast|extrapolate) (?:the |our |my )?(?:[a-z]+ )?{_FIGURE}\b"
    r"|^how (?:much|many)\b.*\bwill there be\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"^(?:so |and |but )?(?:why\b|how come\b|what (?:caused|explains)\b|for what reason\b)", re.IGNORECASE
)
_REASONS = word_set("reason cause why explanation")
"""Words of columns that may hold reasons."""


def not_about_rows(text: str, words: Vocabulary) -> str:
    """The reply to small talk, and to a question about the tables themselves; empty for any other text."""
    if _SMALL_TALK.fullmatch(text):
        return f"This is no question about the data. You can ask about {_listed(_tables(words))}."
    if _FORECAST.search(text):
        return "This asks for a forecast; the data only says what has happened. Ask for a past period instead."
    if _REASON.search(text) and not _REASONS & words.holders.keys():
        return "This asks for a reason; the data only says what has happened. Ask for the figures behind it instead."
    if _ABOUT_TABLES.fullmatch(text) and not any("table" in t.words for t in words.tables.values()):
        return f"The database has the tables {_listed(sorted(words.tables))}."
    if match := _ABOUT_COLUMNS.fullmatch(text):
        named = [lemma(w) for w in (match["table"] or match["described"]).lower().split()]
        for name, table in words.tables.items():
            if [lemma(w) for w in table.words] == named or "_".join(named) == name.lower():
                return f"The table {name} has the columns {_listed([c.name for c in words.by_table[name]])}."
    return ""


def _tables(words: Vocabulary) -> list[str]:
    """The tables that a newcomer would ask about: those with most rows that are more than a link."""
    tables = [t for t in words.tables.values() if not t.bridge] or list(words.tables.values())
    return [t.plural for t in sorted(tables, key=lambda t: -(t.table.row_count or 0))[:5]]


def _listed(names: Sequence[str]) -> str:
    shown = [*names[:30], *(["…"] if len(names) > 30 else [])]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def nothing_shown(q: LinkedQuestion, unread: Sequence[str]) -> str:
    """Why a question gave no query."""
    about = f"; I do not know {_quoted(unread[:5])} here" if unread else ""
    why = f"I could not tell what to show{about}."
    if any(i.mention is not None or i.meanings for i in q.items):
        return why
    return (
        f"{why} Nothing in this question is the name of a table, a column or a stored value of this database. "
        f"You can ask about {_listed(_tables(q.vocabulary))}."
    )


def not_sure(q: LinkedQuestion, draft: Draft, unread: Sequence[str], meaning: str) -> str:
    """Why a reading is withheld: what was understood, what was not, and the best guess."""
    linked = [i for i in q.items if i.mention is not None and i.start in draft.used and i.lower not in unread]
    used = [" ".join(t.text for t in q.tokens[i.start : i.end]) for i in linked]
    known = f" I understood {_quoted(used[:6])}." if used else ""
    missing = (
        f"I did not understand {_quoted(unread)}." if unread else f"I am least sure of “{least_certain(q, draft)}”."
    )
    return f"I am not sure enough to answer.{known} {missing} My best guess was: {meaning}."


def least_certain(q: LinkedQuestion, draft: Draft) -> str:
    """The word that the reading is least sure of: the first one in doubt, otherwise the weakest match."""
    if draft.doubtful:
        return draft.doubtful[0]
    scores = {i.lower: max(i.mention.schema_score, i.mention.value_score) for i in q.items if i.mention is not None}
    return min(scores, key=lambda w: scores[w], default="") or next((i.lower for i in q.items), "")


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{w}”" for w in words)


_OFFERED = 3
_TRIED = 12
"""The most candidates that are read: each costs a reading."""
_KINDS = 15
"""A text column with at most this many distinct values divides its rows into kinds."""
_STRANDED = FUNCTION_WORDS - word_set("all no not")
_TOTALLED = word_set("amount total price cost fee revenue value quantity hour distance weight")
"""Words of columns whose numbers people add up."""


def rephrasings(
    q: LinkedQuestion, draft: Draft, unread: tuple[str, ...], answerable: Callable[[str], bool]
) -> tuple[str, ...]:
    """Answerable questions about the things that the question names, nearest first."""
    asked = " ".join(t.text for t in q.tokens).casefold().rstrip(" ?.!")
    questions: list[str] = []
    candidates = chain(_without_unread(q, unread), _guess(q, draft), _about_names(q, draft, unread))
    for tried, question in enumerate(dict.fromkeys(candidates)):
        if tried >= _TRIED or len(questions) >= _OFFERED:
            break
        if question.casefold().rstrip("?") != asked and answerable(question):
            questions.append(question)
    return tuple(questions)


def _without_unread(q: LinkedQuestion, unread: Sequence[str]) -> Iterator[str]:
    """The question without the words not understood and the small words that only led to them."""
    missing = {w.casefold() for phrase in unread for w in phrase.split()}
    kept: list[str] = []
    for token in q.tokens:
        if token.lower in missing:
            while len(kept) > 2 and kept[-1].casefold() in _STRANDED:
                kept.pop()
        else:
            kept.append(token.text)
    while kept and (kept[-1].casefold() in _STRANDED or not kept[-1][-1:].isalnum()):
        kept.pop()
    telling = any(sort in ("value", "qualifier", "measure") for sort in q.sorts) and "table" in q.sorts
    if missing and telling and len(kept) >= 2:
        text = " ".join(kept).replace(" 's", "'s").replace(" ,", ",")
        yield text[:1].upper() + text[1:]


def _guess(q: LinkedQuestion, draft: Draft) -> Iterator[str]:
    """The best guess as a question: what is counted, added up or listed, of which rows, per what."""
    query = draft.query
    entity = next((t for t in [*draft.entities, *q.named] if t in q.vocabulary.tables), "")
    if not entity or query.shape is not None or query.intersect is not None:
        return
    rows = q.vocabulary.tables[entity].plural
    where = _conditions(q, draft, entity)
    groups = [_group(q, e) for e in query.group[-1:]] if query.group else []
    per = next((f" per {g}" for g in groups if g), "")
    figure = next((e for e in query.select if e.function), None)
    column = q.vocabulary.columns.get(figure.column) if figure is not None and figure.column else None
    if figure is not None and figure.function in CALLED and column is not None:
        kind = CALLED[figure.function]
        owned = q.vocabulary.tables[column.table].plural
        yield f"What is the {_figure(kind, column)} of {owned}{where if column.table == entity else ''}{per}?"
        yield f"What is the {_figure(kind, column)} of {owned}{per}?"
    elif where or per:
        yield f"How many {rows} {f'with{where[5:]} ' if where else ''}are there{per}?"
    if where:
        yield f"List all {rows}{where}"
        yield f"How many {rows}{where} are there?"


def _conditions(q: LinkedQuestion, draft: Draft, entity: str) -> str:
    """The stored values that the guess restricts the entity's own rows to: ` with status open`."""
    said = []
    for clause in draft.query.where:
        c = clause[0]
        if len(clause) > 1 or not isinstance(c, Condition) or c.operator != "=" or c.left.function or not c.values:
            continue
        column = q.vocabulary.columns.get(c.left.column or ("", ""))
        if column is not None and column.table == entity and isinstance(c.values[0], str):
            said.append(f"{spoken(column)} {c.values[0]}")
    return f" with {' and '.join(said)}" if said else ""


def _group(q: LinkedQuestion, e: Expression) -> str:
    if e.part:
        return e.part
    if e.column is None:
        return ""
    column = q.vocabulary.columns[e.column]
    if column.role == "date":
        return ""
    table = q.vocabulary.tables[column.table]
    return " ".join(table.words) if column.role in ("name", "id") else spoken(column)


def _about_names(q: LinkedQuestion, draft: Draft, unread: Sequence[str]) -> Iterator[str]:
    """Questions about the columns and tables that the question names, or else about the largest tables."""
    words = q.vocabulary
    columns = _columns_named(q, unread)
    tables = list(dict.fromkeys([*draft.entities, *q.named, *(c.table for c in columns)]))
    tables = [t for t in tables if not words.tables[t].bridge] or tables
    if not tables:
        rows = {t.name: t.table.row_count or 0 for t in words.tables.values() if not t.bridge}
        tables = sorted(rows, key=lambda t: -rows[t])[:3]
    for column in columns:
        yield from _about_column(q, column)
    for one in tables[:3]:
        for other in tables[:3]:
            if one != other and any(e.left == one for e in q.graph.between(one, other)):
                yield f"How many {words.tables[one].plural} are there per {' '.join(words.tables[other].words)}?"
    for table in tables[:3]:  # by the first column that divides its rows into kinds, and the total of its first amount
        own, many = words.by_table[table], words.tables[table].plural
        kinds = [c for c in own if c.role == "text" and _divides(q, c)]
        amounts = [c for c in own if c.is_figure and _TOTALLED & set(c.words) and not c.foreign]
        yield from (f"How many {many} are there per {spoken(c)}?" for c in kinds[:1])
        yield from (f"What is the {_figure('total', c)} of {many}?" for c in amounts[:1] if not AVERAGED & set(c.words))
    for table in tables[:3]:
        yield f"How many {words.tables[table].plural} are there?"
        yield f"List all {words.tables[table].plural}"


def _about_column(q: LinkedQuestion, column: ColumnWord) -> Iterator[str]:
    entity = q.vocabulary.tables[column.table].plural
    marks = column.words[-1] in ("active", "flag", "indicator") or is_flag(q.values, column)
    if column.is_figure and not column.foreign and not marks:
        kind = "average" if AVERAGED & set(column.words) or not _TOTALLED & set(column.words) else "total"
        yield f"What is the {_figure(kind, column)} of {entity}?"
    elif column.role == "text" and _divides(q, column):
        yield f"How many {entity} are there per {spoken(column)}?"
    elif column.role == "date":
        yield f"How many {entity} are there per year?"


def _figure(kind: str, column: ColumnWord) -> str:
    """`average price`; the total of a `total amount` is not called a total twice."""
    return f"{kind} {spoken(column).removeprefix(f'{kind} ')}"


def _divides(q: LinkedQuestion, column: ColumnWord) -> bool:
    kinds, rows = len(q.values.values(*column.key)), q.vocabulary.tables[column.table].table.row_count or 0
    return 1 < kinds <= _KINDS and not column.foreign and kinds < rows and (2 * kinds <= rows or rows < 2 * _KINDS)


def _columns_named(q: LinkedQuestion, unread: Sequence[str]) -> list[ColumnWord]:
    """The columns that the question may refer to, by name or by a name similar to an unknown word."""
    columns: dict[tuple[str, str], ColumnWord] = {}
    by_name = {" ".join(c.words): c for c in q.vocabulary.columns.values() if c.role != "id"}
    for word in unread[:3]:
        for name in difflib.get_close_matches(word.lower(), by_name, n=1, cutoff=0.75):
            columns[by_name[name].key] = by_name[name]
    for item in q.items:
        for column, score in item.mention.columns[:1] if item.mention else ():
            if score >= 0.6:
                columns[column.key] = column
        for hit in item.mention.values[:1] if item.mention else ():
            known = q.vocabulary.columns.get((hit.table, hit.column))
            if known is not None:
                columns[known.key] = known
    return list(columns.values())[:4]


def spoken(column: ColumnWord) -> str:
    """The words of a column without those of its table, unless its last word is one of these (`new status`)."""
    own = [w for w in column.words if w not in column.owner]
    return " ".join(own if own[-1:] == [column.words[-1]] else column.words)
