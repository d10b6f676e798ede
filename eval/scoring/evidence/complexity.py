"""Complexity: how much there was to get wrong, in the question and in the query. Informs the estimate, says nothing."""

from __future__ import annotations

from eval.scoring.evidence.question_reading import Observation, Observations, Reading


def observe(reading: Reading) -> Observations:
    facts, intent = reading.case.facts, reading.intent
    sizes = (
        ("joins", min(facts.joins, 4)),
        ("subqueries", min(facts.subqueries, 3)),
        ("set_operations", min(len(facts.set_operations), 2)),
        ("text_conditions", min(sum(c.is_string for c in reading.constants), 3)),
        ("having", int(facts.having)),
        ("superlative_question", int(intent.superlative)),
        ("negation_question", int(intent.negation > 0)),
        ("superlative_of_count", int(intent.superlative and "count" in facts.aggregates)),
    )
    for name, size in sizes:
        if size:
            yield Observation(name, float(size))
