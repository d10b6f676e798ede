"""How likely each result of a cascade is right: learned from what small models really answered.

In: the answers that ran, each with its `Case`: the engine's, the model's, its samples. Out: one `Estimate` for each
distinct result, the likeliest first. What is seen of a result:

- `judged`: the log-odds by the evidence for its best query, the engine's opinion left out;
- `engine`, `engine_differs`: the log-odds of the engine's reading, where it gives this result, where it gives another;
- `no_engine`: the engine reads nothing;
- `first`: the model's own answer gives it, not only a sample; `share`: the part of the model's answers that do;
- `mended`: only a query that rules made of one that did not run gives it;
- `superseded`: only a query that was sent back to be repaired gives it;
- `empty`: there are no rows, or nothing but NULL in them;
- `unread`: words of the question that the engine finds nowhere in the database, at most three: of the question, not of
  the result.

The weights are in `live.txt`, written by `python -m experiments.live fit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from agent.candidates.result_groups import Candidate, Ran, labelled, log_odds
from agent.runtime.probability import STATED_DOUBT
from eval.scoring import score
from eval.scoring.correctness import logistic
from eval.scoring.regression import Fit, read_weights
from eval.scoring.types import Case

FITTED = Path(__file__).with_name("live.txt")
INTERCEPT = "intercept"


@dataclass(frozen=True, slots=True)
class Answer:
    """A query that ran."""

    place: int
    """Among all answers, in the order in which they came."""
    case: Case
    by_engine: bool
    superseded: bool
    """It was sent back, and another was written in its place."""
    confidence: float | None = None
    """The engine's, of its own reading."""
    unread: int = 0
    """Words that the engine finds nowhere."""
    mended: bool = False
    """Rules made it of a query that did not run."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A distinct result."""

    place: int
    """Of the query to take."""
    probability: float
    """0..1: that the result is right."""
    agreeing: tuple[int, int] | None
    """(the model's queries with this result, its queries that ran), where it wrote several."""
    features: Mapping[str, float]


def estimates(answers: Sequence[Answer]) -> list[Estimate]:
    """The distinct results, the likeliest first; among equals the one that came first."""
    judged: list[tuple[float, bool]] = []
    for one in answers:
        scored = score(replace(one.case, own_confidence=None, second_opinion=None))
        judged.append((log_odds(scored.probability or 0.0), bool(scored.vetoes)))
    ran = [
        Ran(Candidate(str(i), one.case.parsed.text), one.case.parsed.text, 0.5, one.case.result, _ordered(one.case))
        for i, one in enumerate(answers)
        if one.case.result is not None
    ]
    groups: dict[int, list[int]] = {}
    for place, label in enumerate(labelled(ran)):
        groups.setdefault(label.result, []).append(place)
    own = [i for i, one in enumerate(answers) if not one.by_engine and not one.superseded]
    engine = next((one.confidence or 0.0 for one in answers if one.by_engine), None)
    unread = max((one.unread for one in answers), default=0)
    found = []
    for members in groups.values():
        best = max(members, key=lambda i: (not answers[i].superseded, not _guessed(answers[i]), judged[i][0], -i))
        result = answers[best].case.result
        rows = result.rows if result is not None else ()
        voting = [i for i in members if i in own]
        features = {
            "judged": judged[best][0],
            "no_engine": float(engine is None),
            "unread": float(min(unread, 3)),
            "first": float(bool(own) and own[0] in members),
            "share": len(voting) / len(own) if own else 0.0,
            "superseded": float(all(answers[i].superseded for i in members)),
            "mended": float(all(answers[i].mended for i in members)),
            "empty": float(all(value is None for row in rows for value in row)),
        }
        if engine is not None:
            ours = any(answers[i].by_engine for i in members)
            features["engine" if ours else "engine_differs"] = log_odds(engine)
            features["engine_agrees"] = float(ours and bool(voting))
        chance = probability(features)
        if all(judged[i][1] for i in members):
            chance = min(chance, FORBIDDEN)
        if unread and not any(answers[i].by_engine for i in members):
            chance = min(chance, UNREAD)
        several = (len(voting), len(own)) if len(own) > 1 and voting else None
        found.append(Estimate(answers[best].place, chance, several, features))
    return sorted(found, key=lambda e: (-e.probability, e.place))


UNREAD = 0.67
"""The most, short of sure, of a model's own result for a question with words that the engine finds nowhere: the model
may know them, or may have passed them over."""
FORBIDDEN = 0.2
"""The most that a result has against each of whose queries something is proved."""


def _guessed(one: Answer) -> bool:
    """A reading that the engine itself doubts: where a model wrote the same, that one is told."""
    return one.by_engine and (one.confidence or 0.0) < STATED_DOUBT


def _ordered(case: Case) -> bool:
    return bool(case.facts.order_by)


@cache
def weights(path: Path = FITTED) -> Fit:
    """Read the file once. Raises ValueError naming a bad line."""
    read = read_weights(path)
    return Fit(read.pop(INTERCEPT), read)


def probability(features: Mapping[str, float], fitted: Fit | None = None) -> float:
    """That the result is right, 0..1."""
    return logistic((fitted or weights()).log_odds(features))
