"""Learn the weights of the ranking: `python -m experiments.grammar_parser.fit --bench DIR --set spider_train newcomer`.

A question's readings are told right by their rows. The weights raise the share of right readings in a softmax over the
readings of a question (AdaGrad, pulled towards no weight). Prints what they achieve on databases left out (four folds),
and writes `rank/weights.txt`: numbers about our own features only, no text, name or value of a set.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.grammar_parser.rank import weights as ranking
from experiments.grammar_parser.rank.features import features
from experiments.grammar_parser.reading import candidates, written
from experiments.grammar_parser.sources import questions

_READINGS = 30
_RARE = 8
"""A feature that fewer questions have is left out."""
_FOLDS = 4
_EPOCHS = 6
_RATE, _PULL = 0.25, 1e-3
_KEPT = 0.02
"""A smaller weight is not written."""

Features = dict[str, float]


@dataclass(frozen=True)
class Listed:
    """The readings of one question, and which of them are right."""

    source: str
    readings: tuple[Features, ...]
    right: tuple[bool, ...]


def listed(folder: Path, most: int | None) -> list[Listed]:
    """The readings of a set's questions."""
    found = []
    for question in questions(folder, most):
        read, context = candidates(question.text, question.opened.schema, question.opened.values, most=_READINGS)
        trees = [(candidate, written(candidate, context)) for candidate in read]
        kept = [(c, tree) for c, tree in trees if tree is not None]
        rows = tuple({**features(c.completed, context), "prior": c.completed.score} for c, _ in kept)
        right = tuple(question.right(tree) for _, tree in kept)
        if rows:
            found.append(Listed(f"{folder.name}/{question.db}", rows, right))
    return found


def learned(data: Sequence[Listed], seed: int = 0) -> dict[str, float]:
    """Weights from questions of which some reading is right and some is not."""
    weights: dict[str, float] = defaultdict(float, prior=1.0)
    squares: dict[str, float] = defaultdict(lambda: 1.0)
    useful = [x for x in data if any(x.right) and not all(x.right)]
    order = random.Random(seed)
    for _ in range(_EPOCHS):
        order.shuffle(useful)
        for x in useful:
            _learn(x, weights, squares)
    return weights


def _learn(x: Listed, weights: dict[str, float], squares: dict[str, float]) -> None:
    scores = [ranking.score(f, weights) for f in x.readings]
    highest = max(scores)
    odds = [math.exp(s - highest) for s in scores]
    whole, good = sum(odds), sum(o for o, right in zip(odds, x.right, strict=True) if right)
    gradient: dict[str, float] = defaultdict(float)
    for f, o, right in zip(x.readings, odds, x.right, strict=True):
        change = o / whole - (o / good if right else 0.0)
        if abs(change) > 1e-4:
            for name, value in f.items():
                gradient[name] += change * value
    for name, slope in gradient.items():
        pulled = slope + _PULL * (weights[name] - (name == "prior"))
        squares[name] += pulled * pulled
        weights[name] -= _RATE * pulled / math.sqrt(squares[name])


def first_right(data: Sequence[Listed], weights: dict[str, float]) -> int:
    """How many questions have a right reading in the first place."""
    return sum(x.right[max(range(len(x.right)), key=lambda k: ranking.score(x.readings[k], weights))] for x in data)


def left_out(data: Sequence[Listed]) -> dict[str, tuple[int, int, int]]:
    """For each set: questions right, with any right reading, and all, each with weights from other databases."""
    sources = sorted({x.source for x in data})
    random.Random(1).shuffle(sources)
    fold = {source: k % _FOLDS for k, source in enumerate(sources)}
    found: dict[str, tuple[int, int, int]] = {}
    for k in range(_FOLDS):
        weights = learned([x for x in data if fold[x.source] != k])
        for x in data:
            if fold[x.source] == k:
                right, some, every = found.get(x.source.split("/")[0], (0, 0, 0))
                found[x.source.split("/")[0]] = (right + first_right([x], weights), some + any(x.right), every + 1)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bench", type=Path, required=True, help="folder that holds the question sets")
    parser.add_argument("--set", nargs="+", required=True, help="sets to learn from")
    parser.add_argument("--limit", type=int, help="only so many questions of a set, spread over it")
    options = parser.parse_args(arguments)
    data = [x for name in options.set for x in listed(options.bench / name, options.limit)]
    common = Counter(name for x in data for name in {n for f in x.readings for n in f})
    known = {name for name, count in common.items() if count >= _RARE}
    data = [
        Listed(x.source, tuple({n: v for n, v in f.items() if n in known} for f in x.readings), x.right) for x in data
    ]
    for name, (right, some, every) in left_out(data).items():
        sys.stdout.write(f"{name}, databases left out: first {right / every:.3f}, any {some / every:.3f} of {every}\n")
    weights = {name: value for name, value in learned(data).items() if abs(value) > _KEPT}
    lines = [f"# Weights of the ranking, learned from {len(data)} questions of {', '.join(options.set)}."]
    lines += [f"{value:.3f} {name}" for name, value in sorted(weights.items())]
    ranking.FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(weights)} weights written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
