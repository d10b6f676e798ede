"""Choose the replicas to keep: the few on which the most mutated queries differ from gold.

In: a database file, its gold queries, a seed. Out: the replicas as files and their statistics (`Chosen`). A mutant that
no candidate distinguishes from gold may mean the same; it is counted separately.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.databases import Database, Limits, open_database
from eval.databases.types import DatabaseError, ExecutionResult
from eval.metrics.comparison import same_result
from eval.metrics.items import executed
from eval.schema import Schema
from eval.sql import facts, parse
from experiments.random_mutations import mutants
from experiments.replicas.files import Original, read_original, write_replica
from experiments.replicas.rows import Constants, invented

LIMITS = Limits(seconds=5.0, rows=100_000)
ROUNDS = 3
"""Number of times that each mutation is tried on a gold query, with different random choices."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The result for one database."""

    files: tuple[Path, ...]
    golds: int
    """Gold queries that run."""
    failing_golds: tuple[str, ...]
    """Gold queries that do not run on the original; they are left out."""
    mutants: int
    """Different mutated queries that run."""
    told_by_original: int
    """Mutants whose rows already differ from gold's on the original."""
    told: int
    """Mutants that the original or a kept replica distinguishes from gold."""
    never_told: int
    """Mutants that no candidate distinguished from gold: they may mean the same."""
    alive: tuple[tuple[str, str], ...] = ()
    """(gold, mutant) of those."""


@dataclass(frozen=True, slots=True)
class _Gold:
    sql: str
    ordered: bool
    mutants: tuple[str, ...]


def make_suite(
    path: Path,
    golds: Iterable[str],
    folder: Path,
    *,
    replicas: int = 8,
    candidates: int = 40,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> Chosen:
    """Write at most `replicas` replicas of the SQLite file into `folder`, chosen among `candidates`.

    Raises DatabaseError when the original cannot be read or the folder holds SQLite files already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.glob("*.sqlite")):
        raise DatabaseError(f"{folder.name} holds databases already; name an empty folder")
    original = read_original(path)
    with open_database(path) as database, tempfile.TemporaryDirectory(dir=folder) as workplace:
        schema = database.schema()
        wanted, failing = _golds(golds, database, schema, seed)
        told_by_original = _distinguished(wanted, database)[0]
        constants = _constants(wanted, schema)
        distinguished: list[set[tuple[int, int]]] = []
        nonempty: list[int] = []
        files: list[Path] = []
        for number in range(candidates):
            file = Path(workplace) / f"{number}.sqlite"
            _write(original, schema, constants, seed * 100_003 + number, file)
            with open_database(file, infer_keys=False) as candidate:
                pairs, rows = _distinguished(wanted, candidate)
            files.append(file)
            distinguished.append(pairs)
            nonempty.append(rows)
            if on_progress:
                on_progress(number + 1, candidates)
        kept = _cover(distinguished, nonempty, told_by_original, replicas)
        final = [folder / f"{path.stem}-{place:02}.sqlite" for place in range(1, len(kept) + 1)]
        for number, target in zip(kept, final, strict=True):
            shutil.move(files[number], target)
    all_mutants = {(g, m) for g, gold in enumerate(wanted) for m in range(len(gold.mutants))}
    told_at_all = set.union(told_by_original, *distinguished)
    alive = sorted(all_mutants - told_at_all)
    return Chosen(
        tuple(final),
        len(wanted),
        failing,
        len(all_mutants),
        len(told_by_original),
        len(set.union(told_by_original, *(distinguished[number] for number in kept))),
        len(alive),
        tuple((wanted[g].sql, wanted[g].mutants[m]) for g, m in alive),
    )


def _write(original: Original, schema: Schema, constants: Constants, seed: int, file: Path) -> None:
    write_replica(original, invented(original, schema, constants, seed), file)


def _golds(golds: Iterable[str], database: Database, schema: Schema, seed: int) -> tuple[list[_Gold], tuple[str, ...]]:
    """The queries that run, with their mutants, and those that don't."""
    wanted: list[_Gold] = []
    failing: list[str] = []
    for sql in dict.fromkeys(golds):
        parsed = parse(sql, database.dialect)
        if parsed.tree is None or not _rows(sql, database).ok:
            failing.append(sql)
            continue
        made: dict[str, None] = {}
        for number in range(ROUNDS):
            dice = random.Random(f"{seed}:{number}:{sql}")
            for _, tree in mutants(parsed.tree, schema, dice):
                made[tree.sql(schema.dialect)] = None
        runs = tuple(text for text in made if _rows(text, database).ok)
        wanted.append(_Gold(sql, bool(facts(parsed).order_by), runs))
    return wanted, tuple(failing)


def _rows(sql: str, database: Database) -> ExecutionResult:
    return executed(parse(sql, database.dialect), database, LIMITS)


def _distinguished(golds: Sequence[_Gold], database: Database) -> tuple[set[tuple[int, int]], int]:
    """The mutants that differ from their gold on this database, and the number of golds that return rows here."""
    pairs: set[tuple[int, int]] = set()
    with_rows = 0
    for g, gold in enumerate(golds):
        right = _rows(gold.sql, database)
        if not right.ok:
            continue
        with_rows += bool(right.rows)
        for m, mutant in enumerate(gold.mutants):
            if not same_result(right, _rows(mutant, database), ordered=gold.ordered, columns_count=True):
                pairs.add((g, m))
    return pairs, with_rows


def _constants(golds: Sequence[_Gold], schema: Schema) -> Constants:
    """The constants that the gold queries compare each column with."""
    by_column: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for gold in golds:
        for constant in facts(parse(gold.sql, schema.dialect), schema).literals:
            if constant.table and constant.column:
                text = constant.value.strip("%") if constant.operator == "like" else constant.value
                by_column[constant.table.casefold(), constant.column.casefold()].append(text)
    return by_column


def _cover(
    distinguished: Sequence[set[tuple[int, int]]], nonempty: Sequence[int], already: set[tuple[int, int]], most: int
) -> list[int]:
    """Greedy cover: repeatedly take the candidate that distinguishes the most remaining mutants; then, while there is
    room, those on which the most gold queries return rows."""
    kept: list[int] = []
    covered = set(already)
    left = set(range(len(distinguished)))
    while left and len(kept) < most:
        best = max(left, key=lambda n: (len(distinguished[n] - covered), nonempty[n], -n))
        if not distinguished[best] - covered and kept:
            break
        kept.append(best)
        covered |= distinguished[best]
        left.discard(best)
    return kept
