"""What is wrong with a query, in one short text with which a small model can put it right.

In: a `Case`, and what is known of the database. Out: the text for the next prompt, empty where nothing speaks against
the query. A small model that reads "no such column" writes the column again, so it is told which table has it and how
to join that table; of a text that is stored nowhere, which stored texts resemble it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from sqlglot import exp

from agent.knowledge.linking import shortest_way, ties
from agent.knowledge.privacy import Privacy, scrubbed, words_known
from agent.knowledge.schema_context import one_line, quoted_if_needed
from agent.knowledge.values import ValueIndex
from eval.engines import ENGINES
from eval.language.words import singular_words
from eval.schema import Schema, Table
from eval.scoring import observed
from eval.scoring.correctness import coefficients, contradicting
from eval.scoring.evidence import pitfalls
from eval.scoring.evidence.question_reading import Reading
from eval.scoring.types import Case
from eval.sql.traversal import every
from eval.sql.types import Phantom

NAMED = 3
"""Phantoms, values, bare names: of each kind at most so many are told."""
TELLING = 0.5
"""Log-odds that evidence takes from a query before it is told."""
RESEMBLING = 4
"""Stored texts that are named for one that is not stored."""


def wrong_with(case: Case, values: ValueIndex, privacy: Privacy) -> str:
    """One reason, the first that applies: a name lacks its quotes, it does not parse, may not run, names what is not
    there, fails, compares with what is not stored, is contradicted by its own form, the question or the data."""
    # Columns with blanks, hyphens and the like in their names
    names = (c.name for t in case.schema.tables for c in t.columns if not c.name.replace("_", "a").isalnum())
    quoted, text = ENGINES[case.schema.dialect].quoted, case.parsed.text
    odd = [] if case.ran else [name for name in dict.fromkeys(names) if name in text and quoted(name) not in text]
    if odd:
        return f"Put these names in double quotes: {', '.join(odd[:NAMED])}."
    if case.parsed.tree is None:
        return f"This is not one valid statement: {one_line(case.parsed.error or 'it is empty', 200)}."
    if not case.verdict.allowed:
        return f"Only one SELECT may be written: {one_line(case.verdict.reason or 'this does more than read', 200)}."
    if phantoms := case.references.phantoms[:NAMED]:
        used = [t.name for t in case.tables_read]
        return " ".join(_phantom(one, case.schema, used) for one in phantoms)
    if case.result is not None and not case.result.ok:
        error = case.result.error or case.result.status
        if privacy != "full":
            error = scrubbed(error, words_known(case.schema, case.question, case.parsed.text))
        return f"The database refused it: {one_line(error, 200)}."
    missing = [c for c in case.stored if c.found in ("nowhere", "elsewhere", "otherwise")][:NAMED]
    lines = [_not_stored(c.value, c.table, c.column, case, values) for c in missing] if privacy == "full" else []
    return " ".join(filter(None, lines)) or _contradicted(case, privacy)


def _phantom(phantom: Phantom, schema: Schema, used: list[str]) -> str:
    """A name that is not there, with where it is."""
    if phantom.kind == "ambiguous":
        return f"{phantom.name} is in several tables ({', '.join(phantom.nearest)}): write the table before it."
    qualifier, _, name = phantom.name.rpartition(".")
    holders = [t for t in schema.tables if any(c.name.casefold() == name.casefold() for c in t.columns)]
    if phantom.kind == "column" and holders:
        told = [f"{quoted_if_needed(t.name, schema.dialect)}{_way_to(t, used, schema)}" for t in holders[:NAMED]]
        where = f" in {qualifier}" if qualifier else ""
        return f"There is no column {name}{where}; {name} is a column of {' or '.join(told)}."
    near = f"; there are {', '.join(phantom.nearest)}" if phantom.nearest else ""
    tables = f"; the tables are {', '.join(t.name for t in schema.tables[:30])}" if phantom.kind == "table" else ""
    return f"There is no {phantom.kind} {phantom.name}{near or tables}."


def _way_to(table: Table, used: list[str], schema: Schema) -> str:
    """` (join it by a.x = b.y, b.z = c.w)`: the shortest way from a table of the query; empty where there is none."""
    links = [
        " AND ".join(f"{own}.{a} = {key.ref_table}.{b}" for a, b in zip(key.columns, key.ref_columns, strict=False))
        for _, own, key in shortest_way(table.name, used, ties(schema))
    ]
    return f" (join it by {', '.join(links)})" if links else ""


def _contradicted(case: Case, privacy: Privacy) -> str:
    """What the evidence holds most against the query, with the keys where it is about joins; empty where it is little.
    To a model that may see no row, only what the query's form shows: those sentences hold names of the structure."""
    reading, weights = Reading(case), coefficients().weights
    of_form = chain(pitfalls.observe_joins(reading), pitfalls.observe(reading))
    seen = observed(case) if privacy == "full" else of_form
    against = {o.text: weights.get(o.name, -1.0) for o in contradicting(seen) if o.text}
    worst = min(against, key=lambda text: against[text], default="")
    if not worst or against[worst] > -TELLING:
        return _idle_table(case, pitfalls.only_joined(reading))
    tables = case.tables_read
    ways = [f"{t.name}{way}" for t in tables[1:] if (way := _way_to(t, [tables[0].name], case.schema))]
    return f"{worst} There are {'; '.join(ways)}." if ways and ("join" in worst or case.multiplied) else worst


def _idle_table(case: Case, idle: Sequence[str]) -> str:
    """Of a table that is joined for nothing and repeats the rows of the others."""
    assert case.parsed.tree is not None
    used, said = {t.name for t in case.tables_read}, set(singular_words(case.question))
    sources = {t.alias_or_name.casefold(): case.schema.table(t.name) for t in every(case.parsed.tree, exp.Table)}
    for table in map(sources.get, idle):
        repeats = table is not None and any(key.ref_table in used for key in table.foreign_keys)
        if table is not None and repeats and said.isdisjoint(singular_words(table.name)):
            return (
                f"{table.name} is joined and nothing of it is used, so each row counts once for each of its rows. "
                f"Leave {table.name} out, unless the question needs it."
            )
    return ""


def _not_stored(value: str, table: str, column: str, case: Case, values: ValueIndex) -> str:
    """A text that its column does not hold, with the stored ones that resemble it; empty where nothing is known."""
    plain = value.strip("%").strip()
    hits = values.find(plain, fuzzy=True) if plain else ()
    own = [h for h in hits if (h.table, h.column) == (table, column)]
    read = {t.name for t in case.tables_read}
    there = own or [h for h in hits if h.table in read] or list(hits)
    told = list(dict.fromkeys(f"{h.table}.{h.column} = '{one_line(h.value, 60)}'" for h in there))[:RESEMBLING]
    if told:
        return f"{column} holds no '{plain}'; stored are {', '.join(told)}."
    return ""
