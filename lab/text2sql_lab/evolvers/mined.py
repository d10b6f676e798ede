"""Mines a glossary from failures, without a model.

Words of questions are associated with the columns and constants of their verified queries, where the agent's own query
lacks them. A term is kept only if it wins on the questions to learn from that it touches. So it learns a database's
words, not forms of questions; on questions of other forms it may win nothing, and the second split shows that.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import yaml

from eval.language.inflection import light_stem
from eval.language.lexicon import FUNCTION_WORDS
from eval.language.tokens import tokenize
from eval.schema import Schema
from eval.sql import facts, parse, resolve
from text2sql_lab.evolvers.protocol import Proposal, View
from text2sql_lab.journal import BASE
from text2sql_lab.measurement import Measurer, Outcome
from text2sql_lab.questions import Question

LONGEST = 5
"""Words of a term."""
LEAST_SEEN = 3
"""Questions to learn from that must hold a term's words."""
LEAST_SHARE = 0.5
"""Share of those whose verified query must have the term's meaning."""
TRIED = 250
"""Terms that are tried, the most promising first."""
LEAST_WON = 2
"""Questions that a term must win on balance."""


@dataclass(frozen=True, slots=True, order=True)
class Meaning:
    table: str
    column: str
    value: str | None = None
    """None: the column itself is meant. Meanings are compared only where all or none have a value."""

    def __str__(self) -> str:
        column = f"{self.table}.{self.column}"
        return column if self.value is None else column + " = '" + self.value.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Term:
    key: str
    """The stems of its words."""
    words: str
    meanings: tuple[Meaning, ...]
    """Several: columns of one name, between which the rest of a question decides."""


class Mined:
    name = "mined"
    chooses = False

    async def propose(self, view: View) -> Proposal:
        questions, measurer = view.questions, view.measurer
        now = dict(zip(questions, await measurer.outcomes(BASE, questions), strict=True))
        phrases = {q: phrases_of(q.text) for q in questions}
        kept: list[Term] = []
        for term in candidates(now, phrases, {q.db: measurer.schema(q.db) for q in questions}):
            if any(one.key == term.key for one in kept):
                continue
            touched = [q for q in questions if term.key in phrases[q]]
            trial = view.kits.add({"glossary.yaml": glossary([*kept, term])})
            after = await _trial(measurer, trial, touched, now)
            view.kits.drop(trial)
            if after:
                kept.append(term)
                now |= after
        return Proposal({"glossary.yaml": glossary(kept)} if kept else {}, self.name, note=f"{len(kept)} terms")


async def _trial(
    measurer: Measurer, kit: str, touched: Sequence[Question], now: Mapping[Question, Outcome]
) -> dict[Question, Outcome]:
    """The outcomes with a term on the questions that it touches; empty if it does not win. Those that fail without it
    come first, because most terms win none of them."""
    failed = [q for q in touched if not now[q].right]
    after = dict(zip(failed, await measurer.outcomes(kit, failed), strict=True))
    won = sum(one.right for one in after.values())
    if won < LEAST_WON:
        return {}
    others = [q for q in touched if now[q].right]
    after |= zip(others, await measurer.outcomes(kit, others), strict=True)
    lost = sum(not after[q].right for q in others)
    return after if won - lost >= LEAST_WON and won >= 3 * lost else {}


def glossary(terms: Sequence[Term]) -> str:
    listed = [{"term": term.words, "means": str(meaning)} for term in terms for meaning in term.meanings]
    return str(yaml.safe_dump({"terms": listed}, sort_keys=False, allow_unicode=True))


def phrases_of(text: str) -> dict[str, str]:
    """The sequences of at most LONGEST words in which not all are function words: their stems, by which the glossary
    finds them, and the words."""
    words = [t.lower if t.kind == "word" else None for t in tokenize(text)]
    phrases = {}
    for start, end in combinations(range(len(words) + 1), 2):
        part = [word for word in words[start:end] if word]
        if len(part) == end - start <= LONGEST and not all(word in FUNCTION_WORDS for word in part):
            phrases[" ".join(map(light_stem, part))] = " ".join(part)
    return phrases


def meanings_of(sql: str, schema: Schema) -> frozenset[Meaning]:
    """The columns that a query uses, and those that it compares with a text by `=`."""
    parsed = parse(sql, schema.dialect)
    meanings = {Meaning(table, column) for table, column in resolve(parsed, schema).columns}
    for constant in facts(parsed, schema).literals:
        if constant.is_string and constant.operator == "=" and constant.table and constant.column:
            meanings.add(Meaning(constant.table, constant.column, constant.value))
    return frozenset(meanings)


def candidates(
    outcomes: Mapping[Question, Outcome], phrases: Mapping[Question, Mapping[str, str]], schemas: Mapping[str, Schema]
) -> list[Term]:
    """The terms worth a trial. A term's promise is the number of failed questions whose verified query has its meaning
    and the agent's has not, times the share of all questions with its words that have its meaning."""
    seen: Counter[str] = Counter()
    with_meaning: Counter[tuple[str, str, str | None]] = Counter()
    lacking: Counter[tuple[str, str, str | None]] = Counter()
    words: dict[str, str] = {}
    tables: defaultdict[tuple[str, str, str | None], Counter[Meaning]] = defaultdict(Counter)
    for question, outcome in outcomes.items():
        of_gold = meanings_of(question.golds[0], schemas[question.db])
        gold = {m for m in of_gold if m.value is None or m.value.casefold() not in question.text.casefold()}
        missing = set() if outcome.right else gold - meanings_of(outcome.sql, schemas[question.db])
        seen.update(phrases[question].keys())
        for phrase, text in phrases[question].items():
            words.setdefault(phrase, text)
            with_meaning.update({(phrase, m.column, m.value) for m in gold})
            lacking.update({(phrase, m.column, m.value) for m in missing})
            for meaning in gold:
                tables[phrase, meaning.column, meaning.value][meaning] += 1
    promising: dict[Term, float] = {}
    for key, lacks in lacking.items():
        if lacks < LEAST_WON or seen[key[0]] < LEAST_SEEN or with_meaning[key] < LEAST_SHARE * seen[key[0]]:
            continue
        counts = tables[key]
        likely = sorted((m for m, n in counts.items() if n >= LEAST_WON), key=lambda m: (-counts[m], m))
        if key[2] is not None:
            likely = likely[:1]
        if likely:
            promising[Term(key[0], words[key[0]], tuple(likely))] = lacks * with_meaning[key] / seen[key[0]]
    order = sorted(promising, key=lambda t: (-promising[t], -len(t.key), t.key, str(t.meanings)))
    return order[:TRIED]
