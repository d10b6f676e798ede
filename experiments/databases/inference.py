"""How well foreign keys are inferred: forget the declared ones of real databases and see which come back.

In: a folder of SQLite files. Out: precision and recall on standard output, and with `--list` each wrong key.

    python -m experiments.databases.inference BENCH/spider_train/databases

`--bare` forgets primary and unique keys too, as ClickHouse and Spark keep none, and also measures the primary keys.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval.databases.inference import with_inferred_keys
from eval.databases.sqlite import read_schema
from eval.schema import ForeignKey, Schema


@dataclass
class Score:
    """Single-column declared keys against inferred ones, in databases that declare at least one key."""

    databases: int = 0
    declared: int = 0
    inferred: int = 0
    right: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    primary: int = 0
    """Declared primary keys of one column."""
    primary_found: int = 0
    primary_wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """The share of inferred keys that are right: declared, or linking two columns that declared keys link
        indirectly."""
        return self.right / self.inferred if self.inferred else 0.0

    @property
    def recall(self) -> float:
        """The share of declared keys that the inferred ones imply."""
        return 1 - len(self.missed) / self.declared if self.declared else 0.0


def measure(folder: Path, *, bare: bool = False) -> Score:
    """Read every `*.sqlite` below the folder. Raises FileNotFoundError when there is none."""
    paths = sorted(folder.rglob("*.sqlite"))
    if not paths:
        raise FileNotFoundError(f"no *.sqlite below {folder}")
    score = Score()
    for path in paths:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            connection.text_factory = lambda b: b.decode("utf-8", "replace")
            declared = read_schema(connection)
            if any(t.foreign_keys for t in declared.tables):
                asked = _bare(declared) if bare else _without_foreign_keys(declared)
                found = with_inferred_keys(asked, lambda sql, c=connection: c.execute(sql).fetchall())  # type: ignore[misc]
                _compare(path.stem, declared, found, score)
    return score


def _without_foreign_keys(schema: Schema) -> Schema:
    return replace(schema, tables=tuple(replace(t, foreign_keys=()) for t in schema.tables))


def _bare(schema: Schema) -> Schema:
    """The schema as an engine without keys shows it."""
    return replace(
        schema,
        tables=tuple(
            replace(
                t,
                primary_key=(),
                foreign_keys=(),
                indexes=(),
                columns=tuple(replace(c, primary_key=False, nullable=True) for c in t.columns),
            )
            for t in schema.tables
        ),
    )


def _compare(name: str, declared: Schema, found: Schema, score: Score) -> None:
    score.databases += 1
    wanted, groups = _links(declared)
    inferred, inferred_groups = _links(found)
    for table in declared.tables:
        own = found.table(table.name)
        assert own is not None
        score.primary += len(table.primary_key) == 1
        score.primary_found += len(table.primary_key) == 1 and own.primary_key == table.primary_key
        if own.primary_key and own.primary_key != table.primary_key:
            score.primary_wrong.append(f"{name}: {table.name} {own.primary_key} instead of {table.primary_key}")
    score.declared += len(wanted)
    score.inferred += len(inferred)
    for one, other in sorted(inferred):
        if groups.same(one, other):
            score.right += 1
        else:
            score.wrong.append(f"{name}: {one} -> {other}")
    score.missed += [
        f"{name}: {one} -> {other}" for one, other in sorted(wanted) if not inferred_groups.same(one, other)
    ]


class _Groups:
    """Columns linked with one another, directly or indirectly (union-find)."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def root(self, item: str) -> str:
        while (parent := self._parent.get(item, item)) != item:
            item = parent
        return item

    def join(self, one: str, other: str) -> None:
        self._parent[self.root(one)] = self.root(other)

    def same(self, one: str, other: str) -> bool:
        return self.root(one) == self.root(other)


def _links(schema: Schema) -> tuple[set[tuple[str, str]], _Groups]:
    links: set[tuple[str, str]] = set()
    groups = _Groups()
    for table in schema.tables:
        for key in table.foreign_keys:
            if len(key.columns) == 1:
                links.add(_ends(table.name, key))
    for one, other in links:
        groups.join(one, other)
    return links, groups


def _ends(table: str, key: ForeignKey) -> tuple[str, str]:
    return f"{table}.{key.columns[0]}".casefold(), f"{key.ref_table}.{key.ref_columns[0]}".casefold()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="show each wrong and each missed key")
    parser.add_argument("--bare", action="store_true", help="forget primary and unique keys too")
    options = parser.parse_args()
    score = measure(options.folder, bare=options.bare)
    if options.list:
        sys.stdout.writelines(f"wrong   {line}\n" for line in score.wrong)
        sys.stdout.writelines(f"missed  {line}\n" for line in score.missed)
        sys.stdout.writelines(f"primary {line}\n" for line in score.primary_wrong)
    sys.stdout.write(
        f"{score.databases} databases, {score.declared} declared keys, {score.inferred} inferred: "
        f"precision {score.precision:.3f}, recall {score.recall:.3f}\n"
        f"primary keys of one column: {score.primary_found} of {score.primary} found, "
        f"{len(score.primary_wrong)} others\n"
    )


if __name__ == "__main__":
    main()
