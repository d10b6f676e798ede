"""The glossary: a YAML file that defines business terms in terms of the schema.

In: a file with `terms`, `metrics` and `filters`. Out: a `Glossary`; for one schema, its problems; for one question, the
entries that the question names. Expressions are SQL with columns written as `table.column`. They are parsed, checked
and shown to a model unchanged, but never run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from sqlglot import exp

from agent.knowledge.memory.lines import BadMemory, Node, Problem, all_good, yaml_node
from eval.language.inflection import light_stem
from eval.schema import Dialect, Schema
from eval.sql import ParsedQuery, check, parse, parsed_from_tree, resolve

Kind = Literal["term", "metric", "filter", "date", "amount"]
_DEFAULTS = ("filter", "date", "amount")
"""Kinds that are about a table, whatever the question."""
_SECTIONS: dict[str, tuple[Kind, str, str]] = {
    "terms": ("term", "term", "means"),
    "metrics": ("metric", "metric", "sql"),
    "filters": ("filter", "table", "condition"),
}
"""Section → kind, the key that names an entry, the key of its expression."""
_WORD = re.compile(r"[^\W_]+")
_LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Entry:
    kind: Kind
    name: str
    """The term, the metric, or for a default its table."""
    expression: str
    synonyms: tuple[str, ...] = ()
    note: str = ""
    line: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.synonyms)


@dataclass(frozen=True, slots=True)
class Glossary:
    entries: tuple[Entry, ...] = ()

    def joined(self, other: Glossary) -> Glossary:
        """Both, without the other's entries for terms that this one has."""
        known = {(e.kind, e.name.casefold()) for e in self.entries if e.kind not in _DEFAULTS}
        return Glossary((*self.entries, *(e for e in other.entries if (e.kind, e.name.casefold()) not in known)))

    def named_in(self, question: str, schema: Schema) -> tuple[Entry, ...]:
        """The entries relevant to a question, among those that fit the schema: terms and metrics whose words occur
        consecutively in the question, and every default."""
        words = stem_phrase(question)
        return tuple(
            e
            for e in self.entries
            if (e.kind in _DEFAULTS or any(stem_phrase(name) in words for name in e.names)) and unfit(e, schema) is None
        )


def words_in(text: str) -> str:
    """The words of a text in small letters, with single spaces."""
    return " ".join(_WORD.findall(text.casefold()))


def stem_phrase(text: str) -> str:
    """The stems of the words between single spaces, with a space at each end: a part of another text's phrase where
    the other text holds these words in a row."""
    return f" {' '.join(map(light_stem, words_in(text).split()))} "


def read_glossary(path: Path) -> Glossary:
    """Read a file. Raises BadMemory with all its format problems."""
    root = yaml_node(path)
    if root.value is None:
        return Glossary()
    if not isinstance(root.value, dict):
        raise BadMemory(path, [Problem(root.line, "terms, metrics and filters are expected")])
    read: list[Entry | Problem] = []
    for section, node in root.value.items():
        if section not in _SECTIONS:
            read.append(Problem(node.line, f"{section!r} is none of {', '.join(_SECTIONS)}"))
        elif not isinstance(node.value, tuple):
            read.append(Problem(node.line, f"{section} must be a list"))
        else:
            read += [_entry(section, one) for one in node.value]
    return Glossary(tuple(all_good(path, read)))


def _entry(section: str, node: Node) -> Entry | Problem:
    kind, name, expression = _SECTIONS[section]
    if not isinstance(node.value, dict):
        return Problem(node.line, f"an entry with {name} and {expression} is expected")
    allowed = {name, expression, "note", "synonyms"} - ({"synonyms"} if kind == "filter" else set())
    for key, value in node.value.items():
        if key not in allowed:
            return Problem(value.line, f"{key!r} is none of {', '.join(sorted(allowed))}")
    fields = {key: value.plain() for key, value in node.value.items()}
    for key in (name, expression):
        if not isinstance(fields.get(key), str) or not fields[key].strip():
            return Problem(node.line, f"{key} is missing or no text")
    synonyms = fields.get("synonyms") or []
    if not isinstance(synonyms, list) or not all(isinstance(one, str) and _WORD.search(one) for one in synonyms):
        return Problem(node.line, "synonyms must be a list of words")
    if not _WORD.search(fields[name]) or any(
        isinstance(text, str) and len(text) > _LONGEST for text in fields.values()
    ):
        return Problem(node.line, f"{name} has no words, or an entry is longer than {_LONGEST:,} characters")
    note = fields.get("note") or ""
    if not isinstance(note, str):
        return Problem(node.line, "note is no text")
    return Entry(kind, fields[name].strip(), fields[expression].strip(), tuple(synonyms), note.strip(), node.line)


@lru_cache(maxsize=4_096)
def unfit(entry: Entry, schema: Schema) -> str | None:
    """Why the entry does not fit the schema; None where it does."""
    if entry.kind in _DEFAULTS and schema.table(entry.name) is None:
        return f"the schema has no table {entry.name}"
    parsed = as_query(entry.expression, schema.dialect)
    if isinstance(parsed, str):
        return parsed
    verdict = check(parsed, schema)
    if verdict.statement is None:
        return f"the guard refuses the expression: {verdict.reason}"
    phantoms = resolve(parsed, schema).phantoms
    return f"the schema has no {phantoms[0].text}" if phantoms else None


@lru_cache(maxsize=4_096)
def as_query(expression: str, dialect: Dialect) -> ParsedQuery | str:
    """The expression as the only output of a query over the tables that it names, so that it can be checked."""
    parsed = parse(f"SELECT {expression}", dialect)
    if parsed.tree is None:
        return f"the expression cannot be read: {parsed.error}"
    if not isinstance(parsed.tree, exp.Select) or len(parsed.tree.expressions) != 1 or parsed.tree.args.get("from_"):
        return "one expression is expected"
    columns = list(parsed.tree.find_all(exp.Column))
    if not columns:
        return "the expression names no column"
    if bare := next((c.name for c in columns if not c.table), None):
        return f"the column {bare} must be written table.{bare}"
    tree = parsed.tree.copy()
    for number, column in enumerate({c.table: c for c in columns}.values()):
        source = exp.Table(this=column.args["table"].copy())
        tree = tree.join(source, join_type="cross", copy=False) if number else tree.from_(source, copy=False)
    return parsed_from_tree(tree, dialect)
