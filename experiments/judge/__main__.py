"""`python -m experiments.judge --bench DIR --recorded DIR --cache DIR [--write]`: the judge, every source left out.

Prints one line for each source, judged by a fit on the sources of other families: gold queries that pass the gate,
wrong and right answers refused, AUC, calibration. `--write` fits on all sources and writes `correctness.txt`. The first
run extracts each source's observations into the cache (minutes); delete it when an evidence file changes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.scoring.correctness import FITTED
from experiments.judge.fit import Measured, fitted, measured, written
from experiments.judge.fit_measures import calibration_error_by_chance
from experiments.judge.reliability import plot
from experiments.judge.samples import Sample, extracted, read_cache, write_cache
from experiments.judge.sources import MOST_ANSWERS, SOURCES

RECORDED = frozenset(source.name for source in SOURCES if not source.gold_as_answer)
_HEADER = (
    "source            answers right   gold  pass.5  pass.95  right refused  wrong refused    AUC    ECE"
    "  ECE known writer (by chance)"
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments.judge", description=__doc__.splitlines()[0])
    parser.add_argument("--bench", type=Path, required=True, help="folder of benchmarks")
    parser.add_argument("--recorded", type=Path, required=True, help="folder of recorded answers")
    parser.add_argument("--cache", type=Path, required=True, help="folder that keeps the observations")
    parser.add_argument("--most", type=int, default=MOST_ANSWERS, help="answers taken of one source")
    parser.add_argument("--plot", type=Path, help="write reliability plots of all sources to this PNG file")
    parser.add_argument("--write", action="store_true", help="fit on all sources and write correctness.txt")
    chosen = parser.parse_args(arguments)
    samples = _samples(chosen)
    sys.stdout.write(_HEADER + "\n")
    plots: dict[str, tuple[Sequence[float], Sequence[bool]]] = {}
    for family in dict.fromkeys(source.family for source in SOURCES):
        inside = [source for source in SOURCES if source.family == family]
        names = {source.name for source in inside}
        model = fitted([s for s in samples if s.source not in names], RECORDED)
        for source in inside:
            some = [s for s in samples if s.source == source.name]
            if some:
                line = measured(source.name, some, model, recorded=source.name in RECORDED)
                sys.stdout.write(_line(line) + "\n")
                sys.stdout.flush()
                plots[source.name] = line.known_writer, line.labels
    if chosen.plot:
        plot(plots, chosen.plot)
    if chosen.write:
        FITTED.write_text(written(fitted(samples, RECORDED), samples), encoding="utf-8")
    return 0


def _line(m: Measured) -> str:
    return (
        f"{m.source:17} {m.answers:7} {m.right:5.2f} {m.gold:6} {m.gold_neutral:7.3f} {m.gold_high:8.3f} "
        f"{m.right_refused:14.3f} {m.wrong_refused:14.3f} {m.auc:6.3f} {m.ece:6.3f} {m.ece_known_writer:17.3f} "
        f"({calibration_error_by_chance(m.known_writer):.3f})"
    )


def cached(folder: Path) -> list[Sample]:
    """The samples of every source that the cache holds."""
    paths = [folder / f"{source.name}.jsonl" for source in SOURCES]
    return [sample for path in paths if path.exists() for sample in read_cache(path)]


def _samples(chosen: argparse.Namespace) -> list[Sample]:
    chosen.cache.mkdir(parents=True, exist_ok=True)
    samples: list[Sample] = []
    for source in SOURCES:
        path = chosen.cache / f"{source.name}.jsonl"
        if not path.exists():
            write_cache(path, extracted(source, chosen.bench, chosen.recorded, chosen.most))
        samples += read_cache(path)
    return samples


if __name__ == "__main__":
    raise SystemExit(main())
