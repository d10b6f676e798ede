"""`python -m experiments.mutations --bench DIR [--source NAME ...] [--limit N]`: what the gate refuses of gold changed
in one place.

In: folders of benchmarks. Out: a table of the share refused at relevance .5, .8, .9 and .95 by kind of change, and one
by source with gold passing beside it; no offline reading takes part. An order that the question does not ask for, and a
column that it does not name, are told apart: nothing contradicts their change. `--out FILE` keeps each query with its
scores.
"""

from __future__ import annotations

import argparse
import functools
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sqlglot import exp

from eval.databases import open_database
from eval.databases.base import Database
from eval.databases.types import Limits
from eval.examination import Query, examine
from eval.language.words import meets, question_words
from eval.metrics.comparison import same_result
from eval.scoring import observed, passes, score
from eval.scoring.evidence.question_reading import SAID
from eval.scoring.intent import read_intent
from eval.scoring.types import Case
from eval.sql import check, orders_rows, parse
from eval.sql.sources import quoted_column, table_source
from experiments.json_lines import write_lines
from experiments.judge.sources import SEED, Question, benchmark
from experiments.mutations.one_place import CHANGES, one_place_mutants

RELEVANCES = (0.5, 0.8, 0.9, 0.95)
GOLD = "gold"
LIMITS = Limits(seconds=4.0, rows=5_000)
VALUES = 40
"""Stored texts of one column to choose another value from."""
BEYOND = 500_000
"""Gold that returns or reads more is left to other measurements: rows of the largest table read."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One query and whether the gate refuses it, by relevance in the order of `RELEVANCES`."""

    source: str
    id: str
    kind: str
    question: str
    sql: str
    refused: tuple[bool, ...]
    probability: float
    vetoes: tuple[str, ...]
    spoken: bool = True
    """The question speaks of what was changed."""


@functools.lru_cache(maxsize=8)
def _opened(path: Path) -> Database:
    return open_database(path)


@functools.lru_cache(maxsize=2_000)
def _stored(path: Path, table: str, column: str) -> tuple[str, ...]:
    """Some texts of a column, read once a process."""
    database = _opened(path)
    known = database.schema().table(table)
    if known is None:
        return ()
    tree = exp.select(quoted_column(column)).distinct().from_(table_source(known)).limit(VALUES)
    statement = check(parse(tree.sql(database.dialect), database.dialect)).statement
    result = database.execute(statement, limits=LIMITS) if statement is not None else None
    rows = result.rows if result is not None and result.ok else ()
    return tuple(r[0] for r in rows if isinstance(r[0], str) and 0 < len(r[0].strip()) <= 60)


def judged_with_mutants(source: str, question: Question) -> list[Judged]:
    """Gold and its mutants whose rows differ; empty where gold does not run."""
    database = _opened(question.database)
    schema = database.schema()
    gold = examine(Query(question.text, question.golds[0]), database, schema=schema, limits=LIMITS)
    if gold.result is None or not gold.result.ok or gold.parsed.tree is None:
        return []
    if any((t.row_count or 0) > BEYOND for t in gold.tables_read):
        return []
    found = [_judged(source, question, GOLD, gold)]
    dice = random.Random(f"{SEED} {question.id}")
    stored = functools.partial(_stored, question.database)
    for kind, tree in one_place_mutants(gold.parsed.tree, schema, stored, dice):
        case = examine(Query(question.text, tree.sql(database.dialect)), database, schema=schema, limits=LIMITS)
        if case.result is None or not case.result.ok:
            continue
        if not same_result(gold.result, case.result, ordered=orders_rows(gold.parsed)):
            judged = _judged(source, question, kind, case)
            found.append(replace(judged, spoken=_spoken_of(kind, question.text, gold.parsed.tree, tree)))
    return found


def _spoken_of(kind: str, question: str, gold: exp.Expr, changed: exp.Expr) -> bool:
    """Whether the question asks for the order that was flipped, or names the column that was dropped."""
    intent = read_intent(question)
    if kind == "order flipped":
        return bool(intent.order or intent.superlative or gold.find(exp.Limit, exp.Window))
    if kind == "listed column dropped" and isinstance(gold, exp.Select) and isinstance(changed, exp.Select):
        words = frozenset(question_words(question))
        return all(_named(e, words) for e in gold.expressions if e not in changed.expressions)
    return True


def _named(expression: exp.Expr, words: frozenset[str]) -> bool:
    calls = (SAID.get(type(call), ()) for call in expression.find_all(exp.AggFunc))
    return any(set(said) & words for said in calls) or any(
        meets(column.name, words) for column in expression.find_all(exp.Column)
    )


def _judged(source: str, question: Question, kind: str, case: Case) -> Judged:
    seen = observed(case)
    scores = [(score(replace(case, relevance=r), seen=seen), r) for r in RELEVANCES]
    refused = tuple(not passes(scored, r) for scored, r in scores)
    first = scores[0][0]
    return Judged(
        source, question.id, kind, question.text, case.parsed.text, refused, first.probability or 0.0, first.conflicts
    )


def sampled(folder: Path, most: int | None) -> list[Question]:
    """The folder's questions, or as many of them at random."""
    questions = list(benchmark(folder).values())
    return questions if most is None else random.Random(SEED).sample(questions, min(most, len(questions)))


def table(found: Iterable[Judged], by: Callable[[Judged], str], order: Sequence[str] = ()) -> list[str]:
    """Lines with the share refused at each relevance, by `by`, and of all."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    for one in found:
        groups[by(one)].append(one)
    every = [one for group in groups.values() for one in group]
    names = [n for n in order if n in groups] or sorted(groups)
    return [_line(name, group) for name, group in [*((n, groups[n]) for n in names), ("all", every)]]


def _line(name: str, group: Sequence[Judged]) -> str:
    shares = (sum(one.refused[i] for one in group) / max(1, len(group)) for i in range(len(RELEVANCES)))
    return f"{name:24}{len(group):6}" + "".join(f"{share:8.3f}" for share in shares) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments.mutations", description=__doc__.splitlines()[0])
    parser.add_argument("--bench", type=Path, required=True, help="folder of benchmarks")
    parser.add_argument("--source", action="extend", nargs="+", required=True, help="folders of it to take gold from")
    parser.add_argument("--limit", type=int, help="questions of each source")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, help="keep each query with its scores, one JSON object a line")
    chosen = parser.parse_args(arguments)
    asked = [(s, q) for s in chosen.source for q in sampled(chosen.bench / s, chosen.limit)]
    asked.sort(key=lambda one: str(one[1].database))
    with ProcessPoolExecutor(chosen.jobs) as pool:
        lists = pool.map(judged_with_mutants, *zip(*asked, strict=True), chunksize=16) if asked else ()
        found = [one for some in lists for one in some]
    if chosen.out is not None:
        write_lines(chosen.out, map(asdict, found))
    head = f"{'':24}{'n':>6}" + "".join(f"{f'at {r:g}':>8}" for r in RELEVANCES) + "\n"
    changed = [one for one in found if one.kind != GOLD]
    golds = [replace(one, refused=tuple(not r for r in one.refused)) for one in found if one.kind == GOLD]
    sys.stdout.writelines(["mutants refused by kind\n", head, *table(changed, lambda one: one.kind, tuple(CHANGES))])
    spoken = [one for one in changed if one.spoken]
    sys.stdout.writelines(
        ["of them, those that the question speaks of\n", head, *table(spoken, lambda one: one.kind, tuple(CHANGES))]
    )
    sys.stdout.writelines(["mutants refused by source\n", head, *table(changed, lambda one: one.source)])
    sys.stdout.writelines(["those spoken of, by source\n", head, *table(spoken, lambda one: one.source)])
    sys.stdout.writelines(["gold passing by source\n", head, *table(golds, lambda one: one.source)])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
