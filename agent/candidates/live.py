"""How likely each result of a cascade is right: learned from what small models really answered.

In: the answers that ran, each with its `Case`: the engine's, the model's, its samples. Out: one `Estimate` for each
distinct result, the likeliest first. What is seen of a result:

- `judged`: the log-odds by the evidence for its best query, the engine's opinion left out;
- `engine`, `engine_differs`: the log-odds of the engine's reading, where it gives this result, where it gives another;
- `no_engine`: the engine reads nothing;
- `first`: the model's own answer gives it, not only a sample; `share`: the part of the model's answers that do;
- `engine_within`, `share_within`: another result shows less of the same, and is the engine's, or that of so many of the
  model's answers: names beside names with their number. `engine_around`, `share_around`: the other shows more;
- `written`: the log-probability that the model gave to the whole of its likeliest query for it, from `TYPICAL` on and
  at least `UNLIKELY`; 0 where its server tells none;
- `mended`: only a query that rules made of one that did not run gives it;
- `empty`: there are no rows, or nothing but NULL in them;
- `unread`: words of the question that the engine finds nowhere in the database, at most three: of the question, not of
  the result.

The weights are in `live.txt`, written by `python -m experiments.live fit`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path

from agent.candidates.choice import Candidate, Ran, labelled, log_odds, probability, weights
from agent.candidates.evaluation import ran_or_problem
from agent.runtime.probability import STATED_DOUBT
from eval.metrics.comparison import columns_within
from eval.scoring.types import Case

FITTED = Path(__file__).with_name("live.txt")


@dataclass(frozen=True, slots=True)
class Answer:
    """A query that ran."""

    place: int
    """Among all answers, in the order in which they came."""
    ran: Ran
    """With its probability by its own evidence (`evidence_of`)."""
    by_engine: bool
    superseded: bool
    """It was sent back, and another was written in its place."""
    confidence: float | None = None
    """The engine's, of its own reading."""
    unread: int = 0
    """Words that the engine finds nowhere."""
    mended: bool = False
    """Rules made it of a query that did not run."""
    written: float | None = None
    """The sum of the log-probabilities of its tokens, where the model's server tells them."""


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


def evidence_of(case: Case) -> Ran | None:
    """What is needed of a query to be an `Answer`; None where it did not run."""
    alone = replace(case, own_confidence=None, second_opinion=None, prior=None)  # the weights know such writers
    outcome = ran_or_problem(Candidate("", case.parsed.text), alone)
    return outcome if isinstance(outcome, Ran) else None


def estimates(answers: Sequence[Answer]) -> list[Estimate]:
    """The distinct results, the likeliest first, those that something is proved against last; among equals the one that
    came first."""
    examined = labelled([one.ran for one in answers])
    groups: dict[int, list[int]] = {}
    for i, one in enumerate(examined):
        groups.setdefault(one.result, []).append(i)
    own = [i for i, one in enumerate(answers) if not one.by_engine and not one.superseded]
    # Readings that the engine itself doubts: where a model wrote the same, that one is told
    guessed = {i for i, one in enumerate(answers) if one.by_engine and (one.confidence or 0.0) < STATED_DOUBT}
    engine = next((one.confidence or 0.0 for one in answers if one.by_engine), None)
    unread = max((one.unread for one in answers), default=0)
    rows = [(label, answers[members[0]].ran.result) for label, members in groups.items()]
    within = {(a, b) for (a, part), (b, whole) in permutations(rows, 2) if columns_within(part, whole)}
    found = []
    for label, members in groups.items():
        best = max(members, key=lambda i: (not answers[i].superseded, i not in guessed, examined[i].log_odds, -i))
        voting = [i for i in members if i in own]
        features = {
            "judged": examined[best].log_odds,
            "no_engine": float(engine is None),
            "unread": float(min(unread, 3)),
            "first": float(bool(own) and own[0] in members),
            "share": len(voting) / len(own) if own else 0.0,
            "share_within": _part((examined[i].result, label) in within for i in own),
            "share_around": _part((label, examined[i].result) in within for i in own),
            "mended": float(all(answers[i].mended for i in members)),
            "empty": float(all(value is None for row in answers[best].ran.result.rows for value in row)),
        }
        told = [answers[i].written for i in members]
        if known := [one for one in told if one is not None]:
            features["written"] = max(UNLIKELY, max(known)) - TYPICAL
        if engine is not None:
            ours = any(answers[i].by_engine for i in members)
            features["engine" if ours else "engine_differs"] = log_odds(engine)
            features["engine_agrees"] = float(ours and bool(voting))
            reading = next(examined[i].result for i, one in enumerate(answers) if one.by_engine)
            features["engine_within"] = float((reading, label) in within)
            features["engine_around"] = float((label, reading) in within)
        chance = probability(features, weights(FITTED))
        forbidden = all(examined[i].contradicted for i in members)
        if forbidden:
            chance = min(chance, FORBIDDEN)
        if unread:
            chance = min(chance, UNREAD)
        several = (len(voting), len(own)) if len(own) > 1 and voting else None
        found.append((forbidden, Estimate(answers[best].place, chance, several, features)))
    return [one for _, one in sorted(found, key=lambda pair: (pair[0], -pair[1].probability, pair[1].place))]


TYPICAL, UNLIKELY = -2.5, -12.0
"""Log-probabilities of a whole query: of an ordinary one, and the least that is told apart."""
UNREAD = 0.67
"""The most, short of sure, of a result for a question with words that the engine finds nowhere: those who agree on it
may all have passed them over."""
FORBIDDEN = 0.2
"""The most that a result has against each of whose queries something is proved."""


def _part(those: Iterable[bool]) -> float:
    votes = list(those)
    return sum(votes) / len(votes) if votes else 0.0
