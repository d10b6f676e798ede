"""The engine at work: one question to its readings, the best first."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from sqlglot import exp

from agent.knowledge.values import ValueIndex
from agent.knowledge.vocabulary import Vocabulary, vocabulary
from agent.parser.joins import join_graph
from eval.language.tokens import tokenize
from eval.schema import Schema
from experiments.grammar_parser.grammar.completion import completions
from experiments.grammar_parser.grammar.context import Context
from experiments.grammar_parser.grammar.draft import Completed
from experiments.grammar_parser.grammar.search import derivations
from experiments.grammar_parser.link.lattice import lattice
from experiments.grammar_parser.plan.algebra import Select
from experiments.grammar_parser.rank.features import features
from experiments.grammar_parser.rank.weights import score
from experiments.grammar_parser.rank.weights import weights as known_weights
from experiments.grammar_parser.sql.builder import Builder, Unreachable


@dataclass
class Candidate:
    completed: Completed
    score: float
    tree: exp.Expression | None = None

    @property
    def plan(self) -> Select:
        return self.completed.plan


def candidates(
    question: str,
    schema: Schema,
    values: ValueIndex,
    today: dt.date | None = None,
    weights: dict[str, float] | None = None,
    most: int = 20,
) -> tuple[list[Candidate], Context]:
    words: Vocabulary = vocabulary(schema, values.date_forms)
    tokens = tokenize(question)
    context = Context(
        lattice(tokens, words, values, today or dt.date.today()),
        words,
        join_graph(words),
        values,
        today or dt.date.today(),
        known_weights() if weights is None else weights,
    )
    best: dict[Select, Candidate] = {}
    for state in derivations(context):
        for completed in completions(context, state):
            total = completed.score
            if context.weights:
                observed = features(completed, context)
                total = total * context.weights.get("prior", 1.0) + score(observed, context.weights)
            known = best.get(completed.plan)
            if known is None or known.score < total:
                best[completed.plan] = Candidate(completed, total)
    ordered = sorted(best.values(), key=lambda x: -x.score)[:most]
    return ordered, context


def written(candidate: Candidate, context: Context) -> exp.Expression | None:
    hints = frozenset(t.lower for t in context.lattice.tokens if t.kind == "word")
    try:
        return Builder(context.vocabulary, context.graph, hints).build(candidate.plan)
    except Unreachable:
        return None
