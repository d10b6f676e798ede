"""`python -m experiments.judge.alarms --cache DIR`: on how many gold and on how many wrong queries each contradiction
fires.

In: the samples that `python -m experiments.judge` extracted. Out: a line for each contradiction: the share of all gold
queries and of all wrong answers that show it, its shipped weight, and the sources on more than `MOST` of whose gold
queries it fires, with both shares. What fires on right queries is no contradiction: repair it, or call it a habit.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from eval.scoring.correctness import coefficients
from eval.scoring.types import kind_of
from experiments.judge.__main__ import cached
from experiments.judge.samples import GOLD, Sample

MOST = 0.02
"""Share of a source's gold queries from which a contradiction is named with that source."""
_HEADER = "contradiction               gold   wrong  weight  sources with more false alarms (gold/wrong)"


def alarms(samples: Sequence[Sample]) -> Iterator[str]:
    """A line for each contradiction that any sample shows, the most false alarms first."""
    golds, wrong = defaultdict(list), defaultdict(list)
    for sample in samples:
        if sample.system == GOLD:
            golds[sample.source].append(sample)
        elif not sample.right:
            wrong[sample.source].append(sample)
    names = {name for sample in samples for name in sample.features if kind_of(name) == "contradiction"}
    weights = coefficients().weights
    lines = []
    for name in sorted(names):
        by_source = [(_share(name, golds[s]), _share(name, wrong[s]), s) for s in golds]
        often = " ".join(f"{s} {g:.3f}/{w:.3f}" for g, w, s in sorted(by_source, reverse=True) if g > MOST)
        right, false = (_share(name, [x for some in of.values() for x in some]) for of in (golds, wrong))
        lines.append((-right, f"{name:25} {right:6.3f}  {false:6.3f}  {weights.get(name, 0.0):6.2f}  {often}"))
    yield _HEADER
    yield from (line for _, line in sorted(lines))


def _share(name: str, samples: Sequence[Sample]) -> float:
    return sum(name in sample.features for sample in samples) / max(1, len(samples))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments.judge.alarms")
    parser.add_argument("--cache", type=Path, required=True, help="the cache of `experiments.judge`")
    chosen = parser.parse_args(arguments)
    sys.stdout.write("\n".join(alarms(cached(chosen.cache))) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
