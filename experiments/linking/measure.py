"""Measure linking and value look-up: `python -m experiments.linking.measure FOLDER… [--folds N] [--every N]`.

In: folders of questions with gold queries. Out: the recall of gold's tables and columns (per name, and per whole
question), the tokens compared with the whole schema, the share of gold's literals found in the question, and the times.
With `--folds`, each question is linked with weights learned from the other folds' databases.
"""

from __future__ import annotations

import argparse
import sys
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path

from agent.knowledge.linking import SMALL_SCHEMA, link
from agent.knowledge.linking.evidence import Weights, learned, matches
from agent.knowledge.value_words import fold
from agent.knowledge.values import ValueIndex, complete_value_index
from experiments.linking.fit import samples, weights
from experiments.linking.gold import Case, cases


@dataclass(slots=True)
class Tally:
    """Counts over questions."""

    questions: int = 0
    tables: int = 0
    tables_found: int = 0
    columns: int = 0
    columns_found: int = 0
    columns_detailed: int = 0
    """The number of found columns that are listed with their types."""
    complete: int = 0
    """Questions with all their tables and columns found."""
    tokens: int = 0
    tokens_full: int = 0
    worst: float = 0.0
    """The largest share of a schema's tokens that was taken."""
    seconds: list[float] = field(default_factory=list)
    missed: Counter[str] = field(default_factory=Counter)

    def line(self) -> str:
        if not self.questions:
            return "no questions"
        slow = sorted(self.seconds)[int(len(self.seconds) * 0.95)]
        return (
            f"{self.questions:,} questions: tables {self.tables_found / max(self.tables, 1):.4f}, "
            f"columns {self.columns_found / max(self.columns, 1):.4f} "
            f"(in detail {self.columns_detailed / max(self.columns, 1):.4f}), "
            f"all of both {self.complete / self.questions:.4f}; tokens {self.tokens / self.tokens_full:.3f} "
            f"(largest share {self.worst:.3f}); p95 {slow * 1000:.0f} ms"
        )


def linked(case: Case, share: float | None, tally: Tally, known: Weights, *, evidence: bool) -> None:
    """Link one question and count. `share`: the budget as a share of the whole schema's tokens; None: the standard
    budget."""
    values = complete_value_index(case.database, case.schema)
    question = f"{case.question}\n{case.evidence}" if evidence and case.evidence else case.question
    budget = None if share is None else int(share * link("", case.schema).tokens_full)
    start = time.perf_counter()
    result = link(question, case.schema, values, budget, known)
    tally.seconds.append(time.perf_counter() - start)
    columns = {(t.name, c.name) for t in result.schema.tables for c in t.columns}
    lost = [t for t in case.tables if t not in result.tables]
    lost += [f"{t}.{c}" for t, c in case.columns if (t, c) not in columns]
    tally.questions += 1
    tally.tables += len(case.tables)
    tally.tables_found += len(case.tables & set(result.tables))
    tally.columns += len(case.columns)
    tally.columns_found += len(case.columns & columns)
    tally.columns_detailed += len(case.columns & result.detailed)
    tally.complete += not lost
    tally.tokens += result.tokens
    tally.tokens_full += result.tokens_full
    tally.worst = max(tally.worst, result.tokens / max(result.tokens_full, 1))
    for name in lost:
        tally.missed[f"{case.db}: {name}"] += 1


def literals(case: Case) -> list[tuple[str, bool]]:
    """The literals of gold that are stored (as texts of at most `VALUE_LENGTH` characters) and occur in the question in
    some form, and whether the literal is one of the first 5 values found for a phrase."""
    wanted = [v for v in case.literals if v and occurs(v, case.question)]
    if not wanted:
        return []
    values = complete_value_index(case.database, case.schema)
    wanted = [v for v in wanted if _is_stored(v, values)]
    matched = {h.value for m in matches(case.question, values) for h in m.hits} if wanted else set()
    folded = {fold(v) for v in matched}
    return [(v, v in matched or fold(v) in folded) for v in wanted]


def occurs(value: str, question: str) -> bool:
    """Whether a value occurs in the question: its folded text, or a span of the same number of words that is 85 %
    similar."""
    folded, text = fold(value), fold(question)
    if not folded:
        return False
    if f" {folded} " in f" {text} ":
        return True
    words, size = text.split(), folded.count(" ") + 1
    stretches = (" ".join(words[i : i + size]) for i in range(len(words) - size + 1))
    return len(folded) > 3 and any(SequenceMatcher(None, folded, s).ratio() >= 0.85 for s in stretches)


def _is_stored(value: str, values: ValueIndex) -> bool:
    return any(h.value == value or fold(h.value) == fold(value) for h in values.find(value))


def fold_of(db: str, folds: int) -> int:
    """The fold that a database belongs to, the same in every run."""
    return zlib.crc32(db.encode()) % folds


def held_out_weights(folders: Sequence[Path], folds: int, every: int) -> list[Weights]:
    """For each fold, the weights learned from the databases of the other folds; without folds, the stored weights."""
    if folds < 2:
        return [learned()]
    tables, columns = samples(cases(folders, every=every))
    return [
        weights(*([s for s in observed if fold_of(s.db, folds) != fold] for observed in (tables, columns)))
        for fold in range(folds)
    ]


def main(arguments: list[str] | None = None) -> int:
    """Print the figures for each folder, small and large schemas apart."""
    parser = argparse.ArgumentParser(prog="python -m experiments.linking.measure", description=main.__doc__)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--every", type=int, default=1, help="take each n-th question alone")
    parser.add_argument("--folds", type=int, default=1, help="cross-validate by database in so many folds")
    parser.add_argument("--share", type=float, help="budget as a share of every schema; default: the standard budget")
    parser.add_argument("--columns", type=int, default=0, help="only databases with at least so many columns")
    parser.add_argument("--evidence", action="store_true", help="give the question's evidence, where it has one")
    parser.add_argument("--missed", type=int, default=0, help="print so many of the names missed most often")
    chosen = parser.parse_args(arguments)
    known = held_out_weights(chosen.folder, chosen.folds, chosen.every)
    for folder in chosen.folder:
        small, large = Tally(), Tally()
        outcomes: list[tuple[str, bool]] = []
        for case in cases([folder], every=chosen.every, least_columns=chosen.columns):
            tally = large if case.schema.column_count > SMALL_SCHEMA else small
            linked(case, chosen.share, tally, known[fold_of(case.db, len(known))], evidence=chosen.evidence)
            hits = literals(case)
            outcomes.extend(hits)
            for value, hit in hits:
                if not hit:
                    large.missed[f"{case.db}: value {value!r} in {case.question!r}"] += 1
        sys.stdout.write(f"{folder.name}\n  up to 60 columns: {small.line()}\n  over 60 columns: {large.line()}\n")
        if outcomes:
            rate = sum(hit for _, hit in outcomes) / len(outcomes)
            sys.stdout.write(f"  {len(outcomes):,} stored literals in questions: found {rate:.4f}\n")
        for name, count in (small.missed + large.missed).most_common(chosen.missed):
            sys.stdout.write(f"    missed {count}: {name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
