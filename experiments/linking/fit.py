"""Learn the linker's weights: `python -m experiments.linking.fit FOLDER… [--every N]`.

In: folders of questions with gold queries. Out: `weights.txt`. Everything that gold needs is positive; the most likely
others of the same question and some random ones are negative. The same input gives the same weights. `python -m
experiments.linking.measure --folds` measures the weights on databases that they were not learned from.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.knowledge.linking.evidence import WEIGHTS, Row, Weights, gather, matches, probability
from agent.knowledge.values import value_index
from experiments.linking.gold import Case, cases
from experiments.logistic_regression import fit

_NEGATIVES = 6
"""Columns of one question that gold does not need: half the most likely ones, half random."""
_BLIND = 0.5
"""The share of questions that is learned without stored values, as when a database's values may not be read."""
_PENALTY = 2.0


@dataclass(frozen=True, slots=True)
class Sample:
    """A table or column of one question."""

    db: str
    evidence: Row
    table: Row
    """For a column: its table's evidence. For a table: nothing."""
    needed: bool


def samples(cases: Iterable[Case]) -> tuple[list[Sample], list[Sample]]:
    """Observations of tables and of columns."""
    tables: list[Sample] = []
    columns: list[Sample] = []
    for case in cases:
        dice = random.Random(case.id)
        known = () if dice.random() < _BLIND else matches(case.question, value_index(case.database, case.schema))
        evidence = gather(case.question, case.schema, known)
        for table, row in evidence.tables.items():
            tables.append(Sample(case.db, row, {}, table in case.tables))
        others: list[Sample] = []
        for key, own in evidence.columns.items():
            sample = Sample(case.db, own, evidence.tables[key[0]], key in case.columns)
            (columns if sample.needed else others).append(sample)
        others.sort(key=lambda s: -(s.evidence["name"] + s.evidence.get("value", 0.0) + s.evidence["table_best"]))
        half = _NEGATIVES // 2
        columns += others[:half] + dice.sample(others[half:], min(half, len(others[half:])))
    return tables, columns


def weights(tables: Sequence[Sample], columns: Sequence[Sample]) -> Weights:
    """The weights learned from these observations; a column's evidence includes the probability of its table."""
    of_tables = _fitted([s.evidence for s in tables], tables)
    with_table = [{**s.evidence, "table": probability(s.table, of_tables)} for s in columns]
    return Weights(of_tables, _fitted(with_table, columns))


def _fitted(evidence: Sequence[Row], observed: Sequence[Sample]) -> dict[str, float]:
    rows = [{n: v for n, v in row.items() if n != "bias"} for row in evidence]
    model = fit(rows, [s.needed for s in observed], penalty=_PENALTY)
    return {"bias": model.intercept, **model.weights}


def main(arguments: list[str] | None = None) -> int:
    """Fit on all questions and write the weights."""
    parser = argparse.ArgumentParser(prog="python -m experiments.linking.fit", description=main.__doc__)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--every", type=int, default=1, help="take each n-th question alone")
    chosen = parser.parse_args(arguments)
    learned = weights(*samples(cases(chosen.folder, every=chosen.every)))
    lines = ["# What each piece of evidence is worth, learned by `python -m experiments.linking.fit`."]
    lines += [f"table {n} {w:.4f}" for n, w in sorted(learned.table.items())]
    lines += [f"column {n} {w:.4f}" for n, w in sorted(learned.column.items())]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
