"""What people teach of their databases, for the doors: what is wrong with a term, what it gives on the data, what a
word may mean, and all that was taught as a file.

In: terms, an open database. Out: sentences, statements, a semantic model as YAML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.effort import MOST_STEPS, limited
from agent.knowledge.semantics.expansion import ViewBuilder, query_of
from agent.knowledge.semantics.files import written
from agent.knowledge.semantics.hidden_rows import plain_column
from agent.knowledge.semantics.terms import in_ansi, model_of, problem, told
from agent.knowledge.values import complete_value_index
from agent.knowledge.vocabulary import ColumnWord, Vocabulary
from agent.parser.schema_linking import link
from agent.parser.sql_builder import readable
from agent.state import Term
from agent.statements.resolved import words_of
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.language.tokens import tokenize
from eval.schema import Dialect, Schema
from eval.sql import check, parsed_from_tree, render
from eval.sql.sources import quoted_column, table_source

LIMITS = Limits(seconds=4.0, rows=5, cell_bytes=200)
LIKELY = 6
"""Maximum number of meanings that are offered for a word."""
_LEAST = 0.3
"""The chance, 0..1, from which on a table or column of the question is offered beside those that are like the word."""

__all__ = ["Likely", "Tried", "exported", "likely_meanings", "term_problem", "told", "tried"]


@dataclass(frozen=True, slots=True)
class Tried:
    told: str
    tried: str
    """What the term gives on the data, in one sentence."""
    sql: str


@dataclass(frozen=True, slots=True)
class Likely:
    means: str
    label: str
    """What a button says."""


def term_problem(term: Term, database: Database) -> str | None:
    """Why a term cannot be taught for a database; None where it can. Raises DatabaseError."""
    schema = database.schema()
    return problem(term, words_of(database, schema))


def exported(terms: Iterable[Term], database: Database) -> str:
    """The terms that fit as a semantic model in YAML. Raises DatabaseError."""
    schema = database.schema()
    words = words_of(database, schema)
    fitting = [term for term in terms if problem(term, words) is None]
    return written(in_ansi(model_of(fitting, schema), schema.dialect))


def tried(term: Term, database: Database) -> Tried:
    """What a term that fits gives on the data; it is run within a few seconds. Raises DatabaseError."""
    schema, says = database.schema(), told(term, database.dialect)
    try:
        query, text = _trial(term, schema)
    except ValueError as problem:
        return Tried(says, f"It cannot be tried: {problem}.", "")
    verdict = check(parsed_from_tree(query, schema.dialect), schema)
    sql = readable(query, schema.dialect)
    if verdict.statement is None:
        return Tried(says, f"It cannot be tried: {verdict.reason}.", sql)
    done = database.execute(verdict.statement, limits=LIMITS)
    if not done.ok:
        late = f"Trying it takes longer than {LIMITS.seconds:g} seconds."
        text = late if done.status == "timeout" else "The database could not run it."
    elif "{" in text:
        text = text.format(*map(_number, done.rows[0]))
    else:
        text = f"{text} {', '.join(str(row[0]) for row in done.rows) or 'nothing'}."
    return Tried(says, text, sql)


def _trial(term: Term, schema: Schema) -> tuple[exp.Select, str]:
    """The query that tries a term, and the sentence for its first row."""
    model = model_of([term], schema)
    builder = ViewBuilder(model, schema)
    builder.view()
    if term.kind == "measure":
        meaning = builder.metric(model.metrics[0])
        return query_of(meaning.tree, meaning.host, meaning.steps), "Over all rows it is {0}."
    every = exp.Count(this=exp.Star())
    name, _, column = term.means.rpartition(".")
    table = schema.table(term.means) or schema.table(name)
    if term.kind in ("date", "amount") or (term.kind == "word" and table is not None and table.column(column)):
        assert table is not None
        of = quoted_column(column)
        from_table = table_source(table)
        without = exp.Sub(this=every, expression=exp.Count(this=of.copy()))
        if term.kind == "date":
            query = exp.select(exp.Min(this=of), exp.Max(this=of.copy()), without)
            return query.from_(from_table), "From {0} to {1}; {2} rows have none."
        if term.kind == "amount":
            return exp.select(exp.Sum(this=of), without).from_(from_table), "In sum {0}; {1} rows have none."
        known = exp.Not(this=exp.Is(this=of.copy(), expression=exp.Null()))
        return exp.select(of).distinct().from_(from_table).where(known).limit(LIMITS.rows), "Its values are such as"
    if term.kind == "word" and schema.table(term.means) is not None:
        assert table is not None
        return exp.select(every).from_(table_source(table)), "{0} rows."
    host, tree, steps = builder.condition(term.means)
    passing = exp.Count(this=exp.Case(ifs=[exp.If(this=tree, true=exp.Literal.number(1))]))
    query = query_of(passing, host, steps)
    query.append("expressions", every)
    return query, "It holds for {0} of {1} rows."


def _number(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else "nothing" if value is None else str(value)


def likely_meanings(word: str, question: str, database: Database) -> list[Likely]:
    """What a word that was not understood may mean: by spelling, likeness, descriptions and the values of the data,
    then what the rest of the question is about. Raises DatabaseError."""
    from agent.knowledge.linking import link as linked

    schema = database.schema()
    words = words_of(database, schema)
    index = complete_value_index(database, schema)
    offered: dict[str, Likely] = {}

    def offer(found: Iterator[Likely]) -> None:
        for one in found:
            offered.setdefault(one.means, one)

    with limited(MOST_STEPS):
        items = link(tokenize(word), words, index)
    for item in items:
        if item.mention is not None:
            offer(Likely(table.name, table.name) for table, _ in item.mention.tables)
            offer(_of_column(column) for column, _ in item.mention.columns if column.role != "id")
            offer(_of_value(h.table, h.column, h.value, words, schema.dialect) for h in item.mention.values)
    offer(_of_value(h.table, h.column, h.value, words, schema.dialect) for h in index.find(word, fuzzy=True))
    for text, least in ((word, 0.5), (question, _LEAST)):
        chances = linked(text, schema, index).chances if text else {}
        for (table, column), chance in sorted(chances.items(), key=lambda pair: -pair[1]):
            if chance >= least and (not column or words.columns[table, column].role != "id"):
                offer(iter([_of_column(words.columns[table, column]) if column else Likely(table, table)]))
    return list(offered.values())[:LIKELY]


def _of_column(column: ColumnWord) -> Likely:
    return Likely(f"{column.table}.{column.name}", f"{column.name} of {column.table}")


def _of_value(table: str, column: str, value: str, words: Vocabulary, dialect: Dialect) -> Likely:
    number = words.columns[table, column].numeric
    literal = exp.Literal.number(value) if number else exp.Literal.string(value)
    test = exp.EQ(this=plain_column(column, table), expression=literal)
    return Likely(render(test, dialect), f"{table} where {column} is “{value}”")
