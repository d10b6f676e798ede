"""Learn the linker's weights: `python -m agent.knowledge.linking.fit FOLDER… [--every N]`.

In: folders of questions with gold queries. Out: `weights.txt`. All that gold needs is positive; the likeliest others of
the same question and some at random are negative. The same input gives the same weights. What weights are worth on
databases that they were not learned from, `python -m agent.knowledge.linking.measure --folds` says.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.knowledge.linking.evidence import Row, Weights, gather, probability
from agent.knowledge.linking.gold import Case, cases
from agent.knowledge.linking.matching import matches
from agent.knowledge.values import value_index
from eval.scoring.regression import fit

_NEGATIVES = 6
"""Columns that gold does not need, of one question: half the likeliest, half at random."""
_BLIND = 0.5
"""Part of the questions that is learned from without stored values, as where a database's values may not be read."""
_PENALTY = 2.0


@dataclass(frozen=True, slots=True)
class Sample:
    """A table or column of one question."""

    db: str
    evidence: Row
    table: Row
    """Of a column: its table's evidence; of a table: nothing."""
    needed: bool


def samples(found: Iterable[Case]) -> tuple[list[Sample], list[Sample]]:
    """Observations of tables and of columns."""
    tables: list[Sample] = []
    columns: list[Sample] = []
    for case in found:
        dice = random.Random(case.id)  # noqa: S311 (a reproducible draw)
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
    """The weights that these observations teach; a column's evidence includes the chance of its table."""
    of_tables = _fitted([s.evidence for s in tables], tables)
    with_table = [{**s.evidence, "table": probability(s.table, of_tables)} for s in columns]
    return Weights(of_tables, _fitted(with_table, columns))


def _fitted(evidence: Sequence[Row], observed: Sequence[Sample]) -> dict[str, float]:
    rows = [{n: v for n, v in row.items() if n != "bias"} for row in evidence]
    found = fit(rows, [s.needed for s in observed], penalty=_PENALTY)
    return {"bias": found.intercept, **found.weights}


def main(arguments: list[str] | None = None) -> int:
    """Fit on all questions and write the weights."""
    parser = argparse.ArgumentParser(prog="python -m agent.knowledge.linking.fit", description=main.__doc__)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--every", type=int, default=1, help="take each n-th question alone")
    chosen = parser.parse_args(arguments)
    learned = weights(*samples(cases(chosen.folder, every=chosen.every)))
    lines = ["# What each piece of evidence is worth, learned by `python -m agent.knowledge.linking.fit`."]
    lines += [f"table {n} {w:.4f}" for n, w in sorted(learned.table.items())]
    lines += [f"column {n} {w:.4f}" for n, w in sorted(learned.column.items())]
    Path(__file__).with_name("weights.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
