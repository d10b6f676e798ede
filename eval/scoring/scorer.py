"""The score of one query: seven dimensions, evidence and vetoes in, one `Score` out; and its blend with relevance.

A veto forbids the gate whatever the sum. Only the contract's are; everything else weighs.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.scoring.contradictions import contradictions
from eval.scoring.correctness import (
    EVEN_ODDS,
    SHOWN,
    coefficients,
    contradicting,
    correctness,
    evidence,
    logit,
    opinion_of,
    opinion_weight,
)
from eval.scoring.dimensions import (
    RELEVANCE_WEIGHT,
    THRESHOLD,
    best_practices,
    completeness,
    efficiency,
    plan_quality,
    safety,
    semantic_accuracy,
    weights,
)
from eval.scoring.evidence.features import observations, unscaled
from eval.scoring.evidence.question_reading import Observation, Reading
from eval.scoring.types import DIMENSIONS, HABITS, PROVED, Case, Evidence, Score, kind_of
from eval.sql.traversal import unchanging
from eval.sql.types import Phantom

_JUST_BELOW = 0.01
_FAIRLY = 0.68
SURE_RELEVANCE = 0.9
"""Relevance from which the judge's opinion outweighs habits."""


def observed(case: Case) -> tuple[Observation, ...]:
    """What is seen of a query; what is proved against it (`PROVED`) takes the place of the same seen with less
    certainty. It does not depend on the case's relevance."""
    reading = Reading(case)
    with unchanging(case.parsed.tree):
        plain = unscaled(reading)
        seen = observations(reading, plain)
        if case.parsed.tree is None or not case.ran:
            return seen
        proved = contradictions(reading, plain)
        weaker = (o for o in seen if o.name not in proved)
        return (*weaker, *(Observation(PROVED + check, 1, sentence) for check, sentence in proved.items()))


def score(case: Case, preset: str = "default", seen: tuple[Observation, ...] | None = None) -> Score:
    """Score a query from what the case already knows: no parsing, no connection, no model, about a millisecond.

    `seen`: what `observed` has returned for this case with any relevance; None: not asked yet. Raises ValueError for an
    unknown preset.
    """
    by_name = weights(preset)
    seen = observed(case) if seen is None else seen
    forbidden = vetoes(case)
    confirmed = _confirmed(case, seen)
    if confirmed:
        seen = tuple(o for o in seen if kind_of(o.name) not in HABITS)
    right, probability, sentence = correctness(case, seen, vetoed=bool(forbidden), confirmed=confirmed)
    judged = {
        "correctness": (right, sentence),
        "safety": safety(case),
        "efficiency": efficiency(case),
        "completeness": completeness(case, seen),
        "semantic_accuracy": semantic_accuracy(case, seen),
        "best_practices": best_practices(case),
        "plan_quality": plan_quality(case),
    }
    total = sum(by_name[name] * judged[name][0] for name in DIMENSIONS)
    return Score(
        dimensions={name: judged[name][0] for name in DIMENSIONS},
        weighted=min(total, THRESHOLD - _JUST_BELOW) if forbidden else total,
        evidence=weighed(case, seen),
        vetoes=forbidden,
        preset=preset,
        notes={name: judged[name][1] for name in DIMENSIONS if judged[name][1]},
        probability=probability,
    )


def weighed(case: Case, seen: Sequence[Observation]) -> tuple[Evidence, ...]:
    """Everything that the probability rests on and a reader can follow, the weightiest first."""
    pieces = list(evidence(seen if case.own_confidence is None else contradicting(seen), coefficients().weights))
    if case.own_confidence is not None:
        own, weight = case.own_confidence, logit(case.own_confidence)
        sure = "is sure" if own >= SURE_RELEVANCE else "is fairly sure" if own >= _FAIRLY else "is not sure"
        text, supports = f"The engine {sure} of how it reads the question.", None if abs(weight) < SHOWN else weight > 0
        pieces.append(Evidence("own_reading", supports, round(weight, 3), text, "agreement"))
    weight = opinion_weight(opinion_of(case, seen))
    if abs(weight) >= SHOWN:
        finds = "finds" if weight > 0 else "doubts"
        text = f"The judge {finds} that the result answers the question."
        pieces.append(Evidence("opinion", weight > 0, round(weight, 3), text, "agreement"))
    return tuple(sorted(pieces, key=lambda e: -abs(e.weight)))


def _confirmed(case: Case, seen: Sequence[Observation]) -> bool:
    """Whether the judge is sure of the result and nothing but habits objects: neither a contradiction that can be
    checked, nor another query for the same question. Habits are then left out, so that an unusual query passes."""
    if case.gold is not None or (case.relevance or 0.0) < SURE_RELEVANCE:
        return False
    return not any(e.supports is False and e.kind not in HABITS for e in evidence(seen, coefficients().weights))


def final_score(scored: Score, relevance: float) -> float:
    """`0.85 × weighted + 0.15 × relevance` (0..1); below the gate's default threshold when something vetoes."""
    blended = (1 - RELEVANCE_WEIGHT) * scored.weighted + RELEVANCE_WEIGHT * min(1.0, max(0.0, relevance))
    return min(blended, THRESHOLD - _JUST_BELOW) if scored.vetoes else blended


def passes(scored: Score, relevance: float, threshold: float = THRESHOLD) -> bool:
    """Whether the gate lets a query through, for a judge's relevance (0..1)."""
    return lets_through(round(final_score(scored, relevance), 4), scored.vetoes, threshold, scored.probability)


def lets_through(
    final: float, vetoes: Sequence[str], threshold: float = THRESHOLD, probability: float | None = None
) -> bool:
    """The gate, for the agent, batch and measurements alike: the final score meets the threshold (0..1), nothing
    vetoes, and the probability of being right, where it is known, is at least even."""
    return final >= threshold and not vetoes and (probability is None or probability >= EVEN_ODDS)


def vetoes(case: Case) -> tuple[str, ...]:
    if not case.parsed.text.strip():
        return ("There is no SQL.",)
    if case.parsed.tree is None:
        return (f"The SQL does not parse: {case.parsed.error or 'not one statement'}.",)
    reasons = []
    if not case.verdict.allowed:
        reasons.append(f"The statement may not run: {case.verdict.reason or 'it does more than read'}.")
    reasons.extend(_phantom(p) for p in case.references.phantoms)
    if case.result is not None and not case.result.ok:
        reasons.append(f"The database could not run it: {case.result.error or case.result.status}.")
    elif case.result is None and case.verdict.allowed and not case.references.phantoms:
        reasons.append("The statement was not executed.")
    if case.facts.from_tables == 0 and not case.references.tables:
        reasons.append("The query reads no table, though the question asks about data.")
    if case.multiplied:
        reasons.append("Two sources are combined without a condition between them (a cartesian join).")
    return (*reasons, *case.departures)


def _phantom(phantom: Phantom) -> str:
    if phantom.kind == "ambiguous":
        tables = ", ".join(phantom.nearest)
        return f"The name {phantom.name} is ambiguous" + (f": {tables} have it." if tables else ".")
    nearest = f"; nearest: {', '.join(phantom.nearest)}" if phantom.nearest else ""
    return f"There is no {phantom.kind} {phantom.name}{nearest}."
