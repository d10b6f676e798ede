"""Evidence that a question needs a table or column of the schema: its words, and the stored values that it names.

In: a question, a schema, a `ValueIndex`. Out: `Match`es, each a phrase with the stored values that it may mean; for
every table and column a sparse row of named evidence, 0..1 each, and a probability computed with learned weights. The
evidence is lexical: words and their forms, synonyms and abbreviations, comments, stored values, and the evidence of
other columns in the same table.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from pathlib import Path

from agent.knowledge.grouping import grouped
from agent.knowledge.values import ValueHit, ValueIndex
from agent.knowledge.vocabulary import ColumnWord, Vocabulary, split_name, vocabulary
from eval.language.inflection import lemma, stem
from eval.language.lexicon import FUNCTION_WORDS, open_lexicon, word_set
from eval.language.tokens import quotations, tokenize
from eval.schema import Schema

HITS = 5
"""Maximum distinct values kept per phrase."""
COLUMNS_OF_A_VALUE = 6
_PHRASE_WORDS = 4
"""Maximum words of a phrase that is looked up fuzzily."""
_PART = 0.6
"""Minimum score at which a phrase that is part of a stored value covers its words."""
_LOOKED_UP = 40
"""Maximum fuzzy look-ups per question."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase of the question and the stored values that it may mean."""

    text: str
    hits: tuple[ValueHit, ...]
    quoted: bool = False


def matches(question: str, values: ValueIndex) -> tuple[Match, ...]:
    """The phrases of a question that may be stored values: quoted ones first, then in the question's order."""
    if not len(values):
        return ()
    results: list[Match] = []
    quoted: list[tuple[int, int]] = []
    for quotation in quotations(question):
        hits = values.find(quotation.text, fuzzy=True)
        if hits:
            quoted.append((quotation.start, quotation.end))
            results.append(Match(quotation.text, _best(hits), quoted=True))
    words = [w for w in _WORD.finditer(question) if not any(a < w.end() and w.start() < b for a, b in quoted)]
    covered: set[int] = set()
    for span in values.spans([w.group() for w in words]):
        text = question[words[span.start].start() : words[span.end - 1].end()]
        is_ordinary = all(word.lower() in FUNCTION_WORDS for word in _WORD.findall(text))
        if is_ordinary and not any(h.value == text for h in span.hits):
            continue
        results.append(Match(text, _best(span.hits)))
        if span.hits[0].score >= 0.9:
            covered.update(range(span.start, span.end))
    for start, end in _uncovered(words, covered):
        text = question[words[start].start() : words[end - 1].end()]
        hits = values.find(text, fuzzy=True)
        if hits:
            results.append(Match(text, _best(hits)))
            if end - start > 1 and hits[0].score >= _PART:
                covered.update(range(start, end))
    return tuple(results)


def _best(hits: Iterable[ValueHit]) -> tuple[ValueHit, ...]:
    """The hits of the first `HITS` distinct values, each in at most `COLUMNS_OF_A_VALUE` columns."""
    kept: list[ValueHit] = []
    columns: dict[str, int] = {}
    for hit in hits:
        if hit.value not in columns and len(columns) == HITS:
            continue
        columns[hit.value] = columns.get(hit.value, 0) + 1
        if columns[hit.value] <= COLUMNS_OF_A_VALUE:
            kept.append(hit)
    return tuple(kept)


def _uncovered(words: Sequence[re.Match[str]], covered: set[int]) -> Iterator[tuple[int, int]]:
    """Phrases (first word, end) of words that no stored value covers, longest first. A phrase neither begins nor ends
    with a function word. `covered` may grow during the iteration."""
    left = _LOOKED_UP
    plain = [w.group().lower() in FUNCTION_WORDS for w in words]
    for length in range(_PHRASE_WORDS, 0, -1):
        for start in range(len(words) - length + 1):
            end = start + length
            if plain[start] or plain[end - 1] or any(i in covered for i in range(start, end)):
                continue
            if length == 1 and len(words[start].group()) < 3:
                continue
            if left == 0:
                return
            left -= 1
            yield start, end


WEIGHTS = Path(__file__).with_name("weights.txt")
Row = Mapping[str, float]
Key = tuple[str, str]
"""(table, column)."""
_SURE = 30.0
"""Log-odds beyond which a probability is 0 or 1."""

_CODE = re.compile(r"(?:[A-Z]{2,}|[A-Z]+\d[A-Z\d]*|\d+[A-Z]+)\Z")
"""A word that looks like a code: `EECS`, `B12`."""
_WHEN = word_set("when date year month day before after since until time old age latest earliest recent")
_MUCH = word_set("average mean total sum maximum minimum max min highest lowest most least more less than top")
_WHO = word_set("who whose name names which title titles called")
_NUMBERED = word_set("number code no num")
"""Last words of columns that hold numbers or codes by which people name a row."""


@dataclass(frozen=True, slots=True)
class Evidence:
    tables: Mapping[str, Row]
    columns: Mapping[Key, Row]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question says; of each schema word the best score that one of its words gives it."""

    affinity: dict[str, float]
    lemmas: frozenset[str]
    lower: frozenset[str]
    unknown: float
    """Names and quoted texts that match no stored value: 0, 0.5, 1 for none, one, more."""
    code: float
    number: float
    """1 if the question contains a code or a number other than a year."""
    year: float


@lru_cache(maxsize=32)
def words_of(schema: Schema) -> Vocabulary:
    """The schema's vocabulary, with views treated as tables."""
    tables = tuple(t if t.kind == "table" else replace(t, kind="table") for t in schema.tables)
    return vocabulary(Schema(schema.dialect, tables))


def gather(question: str, schema: Schema, values: Sequence[Match]) -> Evidence:
    """The evidence for every table and column."""
    known = words_of(schema)
    asked = _asked(question, known, values)
    # By column, the strength of the question's best value match in it: lower where many columns hold the same
    # value
    hits: dict[Key, float] = {}
    for match in values:
        best = match.hits[0].score
        near = {(h.table, h.column): h.score for h in reversed(match.hits) if h.score >= best - 0.15}
        spread = 1 / (1 + 0.3 * (len(near) - 1))
        plain = match.text.islower() and not match.quoted and " " not in match.text
        for key, score in near.items():
            hits[key] = max(hits.get(key, 0.0), score * spread * (0.6 if plain else 1.0))
    # Columns that are the only one to hold a phrase as a whole value
    whole = ({(h.table, h.column) for h in match.hits if h.score >= 0.9} for match in values)
    alone = frozenset(key for keys in whole if len(keys) == 1 for key in keys)
    comments = _comment_words(schema)
    referenced = Counter(k.ref_table for t in schema.tables for k in t.foreign_keys)
    owners = Counter(c.name.casefold() for t in schema.tables for c in t.columns)
    columns: dict[Key, dict[str, float]] = {}
    tables: dict[str, dict[str, float]] = {}
    for name, table in known.tables.items():
        cover, full, rare = _coverage(table.words, asked, known)
        own: dict[str, float] = {"bias": 1.0, "name": cover, "full": full, "rare": rare}
        tables[name] = own
        own["referenced"] = min(1.0, referenced.get(name, 0) / 4)
        own["unknown"] = asked.unknown * float(bool(known.name_columns(name)))
        for place, column in enumerate(known.by_table[name]):
            shared = min(1.0, (owners[column.name.casefold()] - 1) / 2)
            columns[column.key] = _of_column(column, asked, known, hits, comments.get(column.key, frozenset())) | {
                "table_name": cover,
                "table_full": full,
                "early": 1 / (1 + place),
                "referenced": own["referenced"],
                "shared": shared,
                "value_alone": float(column.key in alone),
                "shared_id": shared if column.role == "id" else 0.0,
            }
        own["comment"] = _share(comments.get((name, ""), frozenset()), asked)
        rows = (columns[c.key] for c in known.by_table[name])
        own["best_column"], own["second_column"] = _two_best(
            max(r["name"] * (0.6 if r.get("is_id") else 1.0), r.get("value", 0.0), r.get("comment", 0.0)) for r in rows
        )
        own["value"] = max((hits.get(c.key, 0.0) for c in known.by_table[name]), default=0.0)
        own["value_alone"] = float(any(c.key in alone for c in known.by_table[name]))
        own["bridge"] = float(table.bridge)
    _neighbours(schema, tables)
    for column_key, row in columns.items():
        around = tables[column_key[0]]
        row["table_best"] = around["best_column"]
        row["table_value"] = around["value"]
        row["table_near"] = around["near"]
    return Evidence(tables, columns)


def probability(row: Row, weights: Row) -> float:
    """0..1: how likely the table or column is needed."""
    total = 0.0
    for name, value in row.items():  # a loop: this runs for each column of the schema
        if name in weights:
            total += weights[name] * value
    return 1 / (1 + math.exp(-total)) if -_SURE < total < _SURE else float(total > 0)


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each piece of evidence, by name."""

    table: Row
    column: Row


def chances(evidence: Evidence, weights: Weights) -> tuple[dict[str, float], dict[Key, float]]:
    """The probability that each table and each column is needed, 0..1."""
    tables = {name: probability(row, weights.table) for name, row in evidence.tables.items()}
    columns = {
        key: probability({**row, "table": tables[key[0]]}, weights.column) for key, row in evidence.columns.items()
    }
    return tables, columns


@cache
def learned() -> Weights:
    """The weights that `python -m experiments.linking.fit` wrote."""
    weights: dict[str, dict[str, float]] = {"table": {}, "column": {}}
    for line in WEIGHTS.read_text(encoding="utf-8").splitlines():
        parts = line.split()
        if len(parts) == 3 and parts[0] in weights:
            weights[parts[0]][parts[1]] = float(parts[2])
    return Weights(weights["table"], weights["column"])


def _asked(question: str, known: Vocabulary, values: Sequence[Match]) -> _Asked:
    tokens = tokenize(question)
    lower = [t.lower for t in tokens if t.is_word or t.kind == "quoted"]
    words = [w for text in lower for w in text.split()]
    affinity: dict[str, float] = {}
    for word in dict.fromkeys(words):
        ordinary = word in FUNCTION_WORDS
        for schema_word, score in known.affinities(word).items():
            score *= 0.6 if ordinary else 1.0
            affinity[schema_word] = max(affinity.get(schema_word, 0.0), score)
        if ordinary:
            continue
        for other, near in open_lexicon(lemma(word)).items():
            if other in known.holders:
                affinity[other] = max(affinity.get(other, 0.0), 0.7 * near)
        form = stem(word)
        for schema_word in _by_beginning(known.schema).get(form[:3], ()) if len(form) > 3 else ():
            if len(schema_word) >= 3 and (schema_word in form or form in schema_word):  # short forms such as `dept`
                affinity[schema_word] = max(affinity.get(schema_word, 0.0), 0.6)
    pairs = {a + b for a, b in pairwise(words)}
    for joined in pairs & known.joined.keys():
        for item in known.joined[joined]:
            affinity.update(dict.fromkeys(item.words, 1.0))
    for kind, instances in _kinds():
        if instances & set(words):
            for schema_word in kind & known.holders.keys():
                affinity[schema_word] = max(affinity.get(schema_word, 0.0), 0.65)
    explained = " ".join(m.text.lower() for m in values if m.hits[0].score >= 0.9)
    unknown = [
        t for t in tokens if (t.kind == "quoted" or (t.is_word and t.capital)) and t.lower not in explained
        and not (t.is_word and known.affinities(t.lower))
    ]  # fmt: skip
    numbers = re.findall(r"(?<![\w.])\d+(?![\w])", question)
    return _Asked(
        affinity,
        frozenset(lemma(w) for w in words),
        frozenset(words),
        min(1.0, len(unknown) / 2),
        float(any(_CODE.match(w) for w in question.split())),
        float(any(not _is_year(n) for n in numbers)),
        float(any(_is_year(n) for n in numbers)),
    )


def _is_year(number: str) -> bool:
    return len(number) == 4 and number[:2] in ("17", "18", "19", "20")


@cache
def _kinds() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Words of column names, with the question words that are instances of them."""
    kinds = []
    for line in resources.files(__package__).joinpath("kinds.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, _, instances = line.partition(":")
            kinds.append((frozenset(kind.split()), frozenset(instances.split())))
    return tuple(kinds)


@lru_cache(maxsize=32)
def _by_beginning(schema: Schema) -> dict[str, list[str]]:
    return grouped((word[:3], word) for word in words_of(schema).holders)


def _coverage(words: Sequence[str], asked: _Asked, known: Vocabulary) -> tuple[float, float, float]:
    """The share of a name that the question mentions (rare words count more), whether it mentions all of it, and the
    share of the rarest word."""
    total = mentioned = rare = 0.0
    least = 1.0
    for word in words:
        weight = 1 / (1 + math.log(max(len(known.holders.get(word, ())), 1)))
        score = asked.affinity.get(word, 0.0)
        total += weight
        mentioned += weight * score
        rare = max(rare, weight * score)
        least = min(least, score)
    return (mentioned / total if total else 0.0), float(least >= 0.75), rare


def _of_column(
    column: ColumnWord, asked: _Asked, known: Vocabulary, hit: Mapping[Key, float], comment: frozenset[str]
) -> dict[str, float]:
    own = tuple(w for w in column.words if w not in column.owner) or column.words
    cover, full, rare = _coverage(own, asked, known)
    row = {"bias": 1.0, "name": cover, "full": full, "rare": rare, f"is_{column.role}": 1.0}
    if own != column.words:
        row["of_table"] = 1.0
    if column.key in hit:
        row["value"] = hit[column.key]
    if column.primary:
        row["primary"] = 1.0
    if column.foreign:
        row["foreign"] = 1.0
    if column.role in ("date", "year") and asked.lower & _WHEN:
        row["asked_when"] = 1.0
    if column.role == "number" and asked.lower & _MUCH:
        row["asked_how_much"] = 1.0
    if column.role == "name" and asked.lower & _WHO:
        row["asked_who"] = 1.0
    if column.role in ("name", "text"):
        row["unknown"] = asked.unknown
        row["code"] = asked.code * (0.0 if column.foreign else 1.0)
        row["short"] = float(len(own) == 1)
    numbered = column.words[-1] in _NUMBERED
    if numbered or column.role in ("id", "number"):
        row["number"] = asked.number * (1.0 if numbered else 0.5)
        row["code_number"] = asked.code * float(numbered)
    if column.role in ("year", "date"):
        row["year"] = asked.year
    if comment:
        row["comment"] = _share(comment, asked)
    return row


def _share(words: frozenset[str], asked: _Asked) -> float:
    """The share of a comment that the question mentions; two content words count as all of it."""
    return min(1.0, len(words & asked.lemmas) / 2) if words else 0.0


@lru_cache(maxsize=32)
def _comment_words(schema: Schema) -> dict[Key, frozenset[str]]:
    """The content words of comments, by column; a table's under an empty column name."""
    by_column: dict[Key, frozenset[str]] = {}
    for table in schema.tables:
        for name, comment in (("", table.comment), *((c.name, c.comment) for c in table.columns)):
            if comment:
                by_column[(table.name, name)] = frozenset(
                    w for w in split_name(comment[:400]) if w not in FUNCTION_WORDS
                )
    return by_column


def _neighbours(schema: Schema, tables: dict[str, dict[str, float]]) -> None:
    """Add to each table's evidence how strongly the question mentions the tables that foreign keys connect it to."""
    strength = {name: max(row["name"], row["best_column"], row["value"]) for name, row in tables.items()}
    near: dict[str, list[float]] = {name: [] for name in tables}
    for table in schema.tables:
        for key in table.foreign_keys:
            if key.ref_table in near and table.name in near and key.ref_table != table.name:
                near[table.name].append(strength[key.ref_table])
                near[key.ref_table].append(strength[table.name])
    for name, row in tables.items():
        row["near"], row["between"] = _two_best(near[name])


def _two_best(values: Iterable[float]) -> tuple[float, float]:
    """The two greatest of values that are not negative; 0 for those that are not there."""
    best, second, *_ = (*sorted(values, reverse=True), 0.0, 0.0)
    return best, second
