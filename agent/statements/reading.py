"""How an answer was read: made from the query that ran, whoever wrote it.

In: the query of an answer, its database and the words of its schema. Out: its clauses in words, each with the queries
that another date or another figure would make of it, the words that it passes over, and what it leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from sqlglot import exp

from agent.knowledge.semantics.expansion import model_view_of
from agent.knowledge.semantics.hidden_rows import HiddenRows, counted_again
from agent.knowledge.semantics.model import SemanticModel
from agent.knowledge.vocabulary import ColumnWord, Vocabulary, vocabulary
from agent.parser.coverage import RELATIONAL
from agent.state import Choice, LeftOut, ReadingPart, Term
from agent.statements.left_out import ENTERS, LIMITS, Count, counting, left_out, marks_deleted, ties
from agent.statements.resolved import Resolved, tables_of, words_of
from eval.databases.base import Database
from eval.language.lexicon import word_set
from eval.schema import ForeignKey, Schema, Table
from eval.scoring import Case
from eval.scoring.contradictions.said import passed_over
from eval.scoring.evidence.question_reading import Reading as Evidence
from eval.sql import ParsedQuery, parsed_from_tree, render
from eval.sql.bounds import with_headroom
from eval.sql.in_words import pieces
from eval.sql.sources import quoted_name, table_source
from eval.sql.traversal import group_keys
from eval.statement import ReadStatement
from eval.threads import in_turn

SLOW_MS = 1_000
"""A query that took longer is not followed by counts of what it leaves out."""
CHOICES = 4
"""Other columns that are offered for one."""


@with_headroom
def reading(
    parsed: ParsedQuery, schema: Schema, words: Vocabulary, hidden: Sequence[HiddenRows] = ()
) -> list[ReadingPart]:
    """The clauses of a query in words. A date or figure of the outermost SELECT has the columns beside it to choose
    from, each with the query that it makes; so has what it leaves out of the rows that are `hidden`."""
    names = Resolved(parsed, schema)
    others = _others(parsed, names, schema, words)
    shown, without = parsed, list[ReadingPart]()
    for rows in hidden:
        if parsed.tree is not None and shown.tree is not None and (whole := counted_again(parsed.tree, rows)):
            choice = Choice(label="Include them", sql=render(whole, parsed.dialect))
            without.append(ReadingPart(kind="rows", text=f"without {rows.called}", others=[choice]))
            shown = parsed_from_tree(counted_again(shown.tree, rows) or whole, parsed.dialect)
    if shown is not parsed:
        names = Resolved(shown, schema)
    said = [
        ReadingPart(kind=kind, text=text, others=others.pop(kind, []))
        for kind, text in pieces(shown, _by_key(names, schema), names.is_text)
    ]
    end = next((i for i, part in enumerate(said) if part.kind in ("groups", "set", "order", "limit")), len(said))
    return [*said[:end], *without, *said[end:]]


def not_used(case: Case) -> list[ReadingPart]:
    """The words of the question that a model's query passes over, as far as the engine's own reading tells: those that
    it found nowhere, either."""
    words = [word for word in passed_over(Evidence(case)) if word.lower() not in _LIGHT]
    named = " and ".join(f"“{word}”" for word in words)
    return [ReadingPart(kind="unused", text=f"not used: {named}")] if words else []


_LIGHT = RELATIONAL | word_set(
    "through owned own once times time considered gone instead down indicate same exact exactly anything anyone type "
    "kind sort word doing manage"
)
"""Words that say nothing of which data is meant."""


def _by_key(names: Resolved, schema: Schema) -> Callable[[exp.Expr], bool]:
    """Tells joins that need no words: they follow the only key between a table and those before it."""

    def by_key(on: exp.Expr) -> bool:
        join = on.parent
        if not isinstance(on, exp.EQ) or not isinstance(join, exp.Join) or not isinstance(join.parent, exp.Select):
            return False
        before = [join.parent.args["from_"], *join.parent.args["joins"][: join.index]]
        own, *others = (
            (
                one.this.alias_or_name.casefold(),
                schema.table(one.this.name) if isinstance(one.this, exp.Table) else None,
            )
            for one in (join, *before)
        )
        ways = [way for other in others for ends in ((own, other), (other, own)) for way in _keys(*ends)]
        ends = {(names.source(end), (names.column(end) or ("", ""))[1]) for end in (on.this, on.expression)}
        return len(ways) == 1 and ways[0] == ends

    return by_key


def _keys(child: tuple[str, Table | None], parent: tuple[str, Table | None]) -> list[set[tuple[str, str]]]:
    """The ends of each key by which one source refers to another: their names with their columns."""
    (name, table), (other_name, other) = child, parent
    return [
        {*((name, column) for column in key.columns), *((other_name, column) for column in key.ref_columns)}
        for key in (table.foreign_keys if table and other else ())
        if other and key.ref_table == other.name
    ]


async def as_read(
    question: str, case: Case, database: Database, *, seconds: float, semantics: SemanticModel | None = None
) -> tuple[list[ReadingPart], list[LeftOut]]:
    """What the query of a case that ran says, and what it leaves out. Raises DatabaseError; cancelling stops it."""
    slow = case.result is None or case.result.execution_time_ms >= SLOW_MS or seconds <= 0

    def looked_at() -> tuple[list[ReadingPart], tuple[ReadStatement, list[Count]] | None, Vocabulary]:
        words = words_of(database, case.schema) if case.result else vocabulary(case.schema)
        hidden = model_view_of(semantics, case.schema).hidden if semantics else ()
        said = reading(case.parsed, case.schema, words, hidden)
        return said, None if slow else counting(case.parsed, case.schema, words, hidden), words

    said, asked, words = await in_turn(looked_at)
    missing = await left_out(asked, question, words, database, seconds=seconds) if asked else []
    if not slow and case.result is not None:
        limit = min(LIMITS.seconds, seconds)
        missing += await ties(case.parsed, case.schema, len(case.result.rows), database, seconds=limit)
    return said, missing


def _others(parsed: ParsedQuery, names: Resolved, schema: Schema, words: Vocabulary) -> dict[str, list[Choice]]:
    """By kind of clause: the same query with another date, or with another figure in place of its own."""
    select = parsed.tree
    if not isinstance(select, exp.Select) or not (sources := tables_of(select, schema)):
        return {}
    named = {table.name for table in sources.values()}
    offered: dict[str, list[Choice]] = {}
    for clause, kind, wanted in (
        (select.args.get("where"), "rows", "date"),
        *((key, "groups", "date") for key in group_keys(select)),
        *((shown, "shown", "number") for shown in select.expressions),
    ):
        for node in clause.find_all(exp.Column) if clause is not None else ():
            key = names.column(node)
            word = words.columns.get(key) if key else None
            figure = wanted == "number"
            if word is None or word.role != wanted or (figure and not node.find_ancestor(*ENTERS)):
                continue
            if kind not in offered and not (kind == "groups" and "rows" in offered):
                beside = [(other, None) for other in words.by_table[word.table] if _stands_for(other, word)]
                ways = [*beside, *([] if figure else _above(word, named, schema, words))]
                offered[kind] = [
                    Choice(
                        label=f"{other.table}.{other.name}" if key else other.name,
                        sql=_with_column(parsed, word, other, names, key, words.tables[other.table].table),
                        teaches=Term(
                            kind="amount" if figure else "date", term=word.table, means=f"{other.table}.{other.name}"
                        ),
                    )
                    for other, key in ways[:CHOICES]
                ]
    return offered


def _above(
    word: ColumnWord, named: Collection[str], schema: Schema, words: Vocabulary
) -> list[tuple[ColumnWord, ForeignKey]]:
    """Those of the tables that its rows refer to, beside the named ones, each with the key that leads there."""
    table = schema.table(word.table)
    return [
        (other, key)
        for key in (table.foreign_keys if table else ())
        if len(key.columns) == 1 and key.ref_table not in named
        for other in words.by_table[key.ref_table]
        if _stands_for(other, word)
    ]


def _stands_for(other: ColumnWord, word: ColumnWord) -> bool:
    alike = other.role == word.role and other.form == word.form and other.numeric == word.numeric
    marks = other.role == "date" and marks_deleted(other.name)
    return alike and other.key != word.key and other.column.type == word.column.type and not other.foreign and not marks


def _with_column(
    parsed: ParsedQuery, word: ColumnWord, other: ColumnWord, names: Resolved, key: ForeignKey | None, above: Table
) -> str:
    """The query with one column in place of another, which a key leads to where it is in a table `above`."""
    select = parsed.tree
    assert isinstance(select, exp.Select)
    changed = names.qualified(select) if key else select.copy()  # a name may stand in both tables
    source: exp.Expr | None = None
    for before, node in zip(select.find_all(exp.Column), changed.find_all(exp.Column), strict=True):
        own = node.args.get("table") or names.qualifier(before)
        if own is not None and names.column(before) == word.key:
            source = own
            table = quoted_name(key.ref_table) if key else own
            node.replace(exp.Column(this=quoted_name(other.name), table=table.copy()))
    if key and source is not None:
        child = exp.Column(this=quoted_name(key.columns[0]), table=source.copy())
        parent = exp.Column(this=quoted_name(key.ref_columns[0]), table=quoted_name(key.ref_table))
        changed = changed.join(table_source(above), on=exp.EQ(this=child, expression=parent))
    return render(changed, parsed.dialect)
