"""How well questions are read: `python -m experiments.grammar_parser.measure --bench DIR --set spider_test_third`.

Prints how often the first reading returns the accepted rows, how often one of the first twenty does, and the processor
time of a reading. `--wrong N` shows N questions that were read wrong, with the first reading and its derivation.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from experiments.grammar_parser.reading import Candidate, candidates, written
from experiments.grammar_parser.sources import questions


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bench", type=Path, required=True, help="folder that holds the question sets")
    parser.add_argument("--set", nargs="+", required=True, help="spider_dev, newcomer, real_data …")
    parser.add_argument("--limit", type=int, help="only so many questions of a set, spread over it")
    parser.add_argument("--wrong", type=int, default=0, help="show so many questions that were read wrong")
    options = parser.parse_args(arguments)
    for name in options.set:
        _measure(options.bench / name, options.limit, options.wrong)
    return 0


def _measure(folder: Path, most: int | None, wrong: int) -> None:
    first = among = count = 0
    times: list[float] = []
    for question in questions(folder, most):
        started = time.process_time()
        found, context = candidates(question.text, question.opened.schema, question.opened.values)
        times.append((time.process_time() - started) * 1000)
        places = []
        for place, candidate in enumerate(found):
            tree = written(candidate, context)
            if tree is not None and question.right(tree):
                places.append(place)
                break
        count += 1
        first += places == [0]
        among += bool(places)
        if places != [0] and wrong > 0:
            wrong -= 1
            tree = written(found[0], context) if found else None
            sql = tree.sql(question.opened.schema.dialect) if tree is not None else "nothing"
            sys.stdout.write(f"[{question.db}] {question.text}\n  {sql}\n  {_derivation(found[:1])}\n")
    if count:
        times.sort()
        sys.stdout.write(
            f"{folder.name}: {count} questions, first right {first / count:.3f}, among twenty {among / count:.3f}, "
            f"reading {statistics.median(times):.1f} ms median, {times[int(count * 0.99)]:.1f} ms at 99 %\n"
        )


def _derivation(found: Sequence[Candidate]) -> str:
    steps = (s for c in found for s in c.completed.state.productions() if s.production != "function word")
    return " | ".join(f"{s.production} [{s.start}:{s.end}]" for s in steps)


if __name__ == "__main__":
    sys.exit(main())
